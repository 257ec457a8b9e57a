import { beforeEach, expect, test } from "vitest";
import { base64, postForm } from "../../contents.ts";
import { type Answered, startWorld, type TestWorld } from "../../harness.ts";

const MB = 1024 * 1024;
const big = (size: number) => ({ name: "big", content: new Uint8Array(size).fill(97) });

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
  await w.post("workspace/import", { path: "/Shared/n", language: "R", content: base64("x") });
  await w.post("fs/put", { path: "/d/f", contents: base64("x") });
});

type Row = readonly [code: string, when: string, status: number, call: () => Promise<Answered>];
const rows: readonly Row[] = [
  [
    "RESOURCE_ALREADY_EXISTS",
    "import without overwrite",
    400,
    () => w.post("workspace/import", { path: "/Shared/n", language: "R", content: "" }),
  ],
  [
    "RESOURCE_ALREADY_EXISTS",
    "fs/create without overwrite",
    400,
    () => w.post("fs/create", { path: "/d/f" }),
  ],
  [
    "RESOURCE_ALREADY_EXISTS",
    "a move target that exists",
    400,
    () => w.post("fs/move", { source_path: "/d", destination_path: "/d/f" }),
  ],
  [
    "RESOURCE_ALREADY_EXISTS",
    "workspace/mkdirs blocked by a notebook",
    400,
    () => w.post("workspace/mkdirs", { path: "/Shared/n/x" }),
  ],
  [
    "RESOURCE_ALREADY_EXISTS",
    "fs/mkdirs blocked by a file",
    400,
    () => w.post("fs/mkdirs", { path: "/d/f/x" }),
  ],
  [
    "INVALID_PARAMETER_VALUE",
    "bad file read arguments",
    400,
    () => w.get("fs/read", { path: "/d/f", offset: -1 }),
  ],
  [
    "RESOURCE_DOES_NOT_EXIST",
    "a missing workspace path",
    404,
    () => w.get("workspace/list", { path: "/none" }),
  ],
  ["RESOURCE_DOES_NOT_EXIST", "a missing file path", 404, () => w.get("fs/list", { path: "/none" })],
  ["RESOURCE_DOES_NOT_EXIST", "a missing handle", 404, () => w.post("fs/close", { handle: 12345 })],
  [
    "DIRECTORY_NOT_EMPTY",
    "workspace/delete of a folder that holds something",
    400,
    async () => {
      await w.post("workspace/mkdirs", { path: "/a/b" });
      return w.post("workspace/delete", { path: "/a" });
    },
  ],
  [
    "MAX_NOTEBOOK_SIZE_EXCEEDED",
    "an import above 10 MB",
    400,
    () => postForm(w, "workspace/import", { path: "/big", language: "R" }, { content: big(10 * MB + 1) }),
  ],
  [
    "MAX_NOTEBOOK_SIZE_EXCEEDED",
    "an import far above 10 MB",
    400,
    () => w.post("workspace/import", { path: "/big", language: "R", content: "A".repeat(24 * MB) }),
  ],
  [
    "MAX_NOTEBOOK_SIZE_EXCEEDED",
    "an export above 10 MB",
    400,
    async () => {
      await postForm(w, "workspace/import", { path: "/big", language: "R" }, { content: big(10 * MB) });
      return w.get("workspace/export", { path: "/big", format: "JUPYTER" });
    },
  ],
  [
    "MAX_BLOCK_SIZE_EXCEEDED",
    "fs/add-block above 1 MB",
    400,
    async () => {
      const { handle } = (await w.post("fs/create", { path: "/big" })).body;
      return w.post("fs/add-block", { handle, data: "A".repeat(4 * MB) });
    },
  ],
  [
    "MAX_BLOCK_SIZE_EXCEEDED",
    "fs/put above 1 MB",
    400,
    () => w.post("fs/put", { path: "/big", contents: "A".repeat(4 * MB) }),
  ],
  [
    "MAX_BLOCK_SIZE_EXCEEDED",
    "fs/put far above 1 MB",
    400,
    () => w.post("fs/put", { path: "/big", contents: "A".repeat(24 * MB) }),
  ],
  [
    "MAX_READ_SIZE_EXCEEDED",
    "a file read length above 1 MB",
    400,
    () => w.get("fs/read", { path: "/d/f", length: MB + 1 }),
  ],
  [
    "IO_ERROR",
    "fs/delete of a directory that holds something",
    400,
    () => w.post("fs/delete", { path: "/d" }),
  ],
];

test.each(rows)("A7 %s, form: %s", async (code, _when, status, call) => {
  const answer = await call();
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({ error_code: code, message: expect.stringMatching(/./) });
});

test("A3 upload handle: create opens it where the path is free", async () => {
  expect((await w.post("fs/create", { path: "/new" })).body).toEqual({ handle: expect.any(Number) });
});

test("A3 upload handle: create opens it over a file when overwrite is true", async () => {
  expect((await w.post("fs/create", { path: "/d/f", overwrite: true })).body).toEqual({
    handle: expect.any(Number),
  });
});

test("A3 upload handle: add-block keeps it open and appends", async () => {
  const { handle } = (await w.post("fs/create", { path: "/new" })).body;
  for (const data of ["a", "b"])
    expect((await w.post("fs/add-block", { handle, data: base64(data) })).body).toEqual({});
  await w.post("fs/close", { handle });
  expect((await w.get("fs/read", { path: "/new" })).body.data).toBe(base64("ab"));
});

test("A3 upload handle: close closes it and finishes the upload", async () => {
  const { handle } = (await w.post("fs/create", { path: "/new" })).body;
  await w.post("fs/close", { handle });
  expect((await w.post("fs/close", { handle })).status).toBe(404);
  expect((await w.get("fs/get-status", { path: "/new" })).body.file_size).toBe(0);
});

test("A3 upload handle, expired handle: 10 minutes without a call expire it", async () => {
  const { handle } = (await w.post("fs/create", { path: "/new" })).body;
  await w.advance(10 * 60_000);
  expect((await w.post("fs/close", { handle })).status).toBe(404);
});

const calls = {
  GET: ["workspace/export", "workspace/get-status", "workspace/list", "fs/get-status", "fs/list", "fs/read"],
  POST: [
    ...["workspace/delete", "workspace/import", "workspace/mkdirs"],
    ...["fs/add-block", "fs/close", "fs/create", "fs/delete", "fs/mkdirs", "fs/move", "fs/put"],
  ],
};

test.each(Object.entries(calls).flatMap(([method, names]) => names.map((name) => [method, name] as const)))(
  "A5 rule 1: %s %s needs a token",
  async (method, name) => {
    const before = w.store.dump();
    const { status, body } = await w.request({ method, path: `/api/2.0/${name}`, body: "{}" });
    expect([status, body.error_code]).toEqual([401, 401]);
    expect(w.store.dump()).toEqual(before);
  },
);

test.each(Object.entries(calls).flatMap(([method, names]) => names.map((name) => [method, name] as const)))(
  "%s %s is not served under the other method",
  async (method, name) => {
    const other = method === "GET" ? await w.post(name, {}) : await w.get(name);
    expect(other.status).toBe(404);
    expect(other.body.error_code).toBe("ENDPOINT_NOT_FOUND");
  },
);
