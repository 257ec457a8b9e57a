import { expect, test } from "vitest";
import { multipartForm } from "../../../src/api/http/request-body.ts";

const read = (form: ReturnType<typeof multipartForm>) =>
  new Response(Uint8Array.from(form.body), { headers: { "content-type": form.contentType } }).formData();

test("fields and file come out as they went in", async () => {
  const content = Uint8Array.from({ length: 256 }, (_, n) => n);
  const form = await read(
    multipartForm({ path: "/Shared/ä", overwrite: "true" }, { field: "content", content }),
  );
  expect(form.get("path")).toBe("/Shared/ä");
  expect(form.get("overwrite")).toBe("true");
  const file = form.get("content") as File;
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(content);
});

test("content that holds the boundary gets another one", async () => {
  const content = new TextEncoder().encode("\r\n--workspace-form-0--\r\n--workspace-form-1\r\n");
  const made = multipartForm({}, { field: "content", content });
  expect(made.contentType).toContain("boundary=workspace-form-2");
  const file = (await read(made)).get("content") as File;
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(content);
});
