// Files, workspace objects and secrets in the dialect.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const textOf = (data: string): string => Buffer.from(data, "base64").toString();

describe("dbfs", () => {
  test("paths may have the scheme, answers have none", async () => {
    await w.post("dbfs/mkdirs", { path: "dbfs:/a" });
    await w.post("dbfs/put", { path: "/a/x", contents: base64("1") });
    await w.post("dbfs/move", { source_path: "dbfs:/a/x", destination_path: "dbfs:/a/y" });
    const { files } = (await w.get("dbfs/list", { path: "dbfs:/a" })).body;
    expect(files).toEqual([
      { path: "/a/y", is_dir: false, file_size: 1, modification_time: expect.any(Number) },
    ]);
    expect((await w.get("dbfs/get-status", { path: "dbfs:/a/y" })).body.path).toBe("/a/y");
  });

  test("a block upload takes its handle as text", async () => {
    const { handle } = (await w.post("dbfs/create", { path: "dbfs:/big", overwrite: true })).body;
    await w.post("dbfs/add-block", { handle: String(handle), data: base64("hello") });
    await w.post("dbfs/close", { handle });
    expect(textOf((await w.get("dbfs/read", { path: "/big" })).body.data)).toBe("hello");
  });

  test("a form has its file in the part `file`, and says True as Python does", async () => {
    const put = (overwrite: string, content: string) => {
      const part = (name: string, value: string, more = "") =>
        `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
      const body = `${part("path", "dbfs:/f")}${part("overwrite", overwrite)}${part("file", content, '; filename="f"')}--B--\r\n`;
      const headers = {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        "content-type": "multipart/form-data; boundary=B",
      };
      return w.request({ method: "POST", path: "/api/2.0/dbfs/put", headers, body });
    };
    expect((await put("False", "one")).status).toBe(200);
    expect(await put("False", "two")).toMatchObject({
      status: 400,
      body: { error_code: "RESOURCE_ALREADY_EXISTS" },
    });
    expect((await put("True", "three")).status).toBe(200);
    const large = "x".repeat(2 * 1024 * 1024);
    expect(
      (await w.post("dbfs/put", { path: "/f", overwrite: true, contents: base64(large) })).body.error_code,
    ).toBe("MAX_BLOCK_SIZE_EXCEEDED");
    expect(textOf((await w.get("dbfs/read", { path: "/f" })).body.data)).toBe("three");
    expect((await put("True", large)).status).toBe(200);
    expect((await w.get("dbfs/get-status", { path: "/f" })).body.file_size).toBe(large.length);
  });

  test("messages name files as the vendor does, and the contract's scheme is refused", async () => {
    await w.post("dbfs/put", { path: "/x", contents: "" });
    expect((await w.post("dbfs/put", { path: "/x", contents: "" })).body.message).toBe(
      "A file or directory already exists at the input path dbfs:/x",
    );
    expect(await w.get("dbfs/get-status", { path: "fs:/x" })).toMatchObject({
      status: 400,
      body: { message: "Unsupported scheme in 'fs:/x': use dbfs:/" },
    });
  });
});

describe("workspace", () => {
  const auto = (path: string, text: string, more: object = {}) =>
    w.post("workspace/import", { path, format: "AUTO", content: base64(text), ...more });
  const status = async (path: string) => (await w.get("workspace/get-status", { path })).body;

  test("AUTO makes a FILE of content other than a notebook", async () => {
    expect((await auto("/Shared/data.csv", "a,b\n")).status).toBe(200);
    expect((await auto("/Shared/lib.py", "print(1)\n")).status).toBe(200);
    expect(await status("/Shared/data.csv")).toMatchObject({
      object_type: "FILE",
      path: "/Shared/data.csv",
      size: 4,
    });
    expect((await status("/Shared/lib.py")).object_type).toBe("FILE");
    const exported = (await w.get("workspace/export", { path: "/Shared/data.csv", format: "AUTO" })).body;
    expect([textOf(exported.content), exported.file_type]).toEqual(["a,b\n", "csv"]);
  });

  test("AUTO makes a notebook, without the extension in its name, of a notebook's source", async () => {
    expect((await auto("/Shared/nb.py", "# Databricks notebook source\nprint(1)\n")).status).toBe(200);
    expect(await status("/Shared/nb")).toMatchObject({ object_type: "NOTEBOOK", language: "PYTHON" });
    const exported = (await w.get("workspace/export", { path: "/Shared/nb", format: "SOURCE" })).body;
    expect(exported.file_type).toBe("py");
  });

  test("RAW makes a FILE of a notebook's source too", async () => {
    expect((await auto("/Shared/nb.py", "# Databricks notebook source\n", { format: "RAW" })).status).toBe(
      200,
    );
    expect(await status("/Shared/nb.py")).toMatchObject({ object_type: "FILE", size: 29 });
  });

  test("a file is overwritten only on request, with its bytes", async () => {
    await auto("/Shared/a.txt", "one");
    expect(await auto("/Shared/a.txt", "two")).toMatchObject({
      status: 400,
      body: { error_code: "RESOURCE_ALREADY_EXISTS" },
    });
    const { object_id } = await status("/Shared/a.txt");
    expect((await auto("/Shared/a.txt", "two", { overwrite: true })).status).toBe(200);
    expect(await status("/Shared/a.txt")).toMatchObject({ object_id, size: 3 });
    await w.post("workspace/delete", { path: "/Shared/a.txt" });
    expect(w.store.dump().$blobs ?? {}).toEqual({});
  });

  test("a missing parent is not made", async () => {
    expect(await auto("/none/a.txt", "x")).toMatchObject({
      status: 404,
      body: { error_code: "RESOURCE_DOES_NOT_EXIST", message: "The parent folder (/none) does not exist." },
    });
  });

  test.each(["REPO", "DASHBOARD", "LIBRARY"])(
    "a %s that a test puts there is listed, and never overwritten by a notebook",
    async (object_type) => {
      await w.control("POST", "workspace-objects", { path: "/Repos/ada/x", object_type });
      expect((await w.get("workspace/list", { path: "/Repos/ada" })).body.objects).toMatchObject([
        { object_type, path: "/Repos/ada/x" },
      ]);
      const nb = { path: "/Repos/ada/x", language: "PYTHON", overwrite: true, content: base64("1") };
      expect((await w.post("workspace/import", nb)).status).toBe(400);
      expect((await auto("/Repos/ada/x", "text", { overwrite: true })).status).toBe(400);
      expect((await status("/Repos/ada/x")).object_type).toBe(object_type);
    },
  );
});

describe("secrets", () => {
  test("backends have the vendor's names, and a vault tells where it is", async () => {
    const vault = { resource_id: "/subscriptions/s", dns_name: "https://v.vault.azure.net/" };
    await w.post("secrets/scopes/create", { scope: "plain", scope_backend_type: "DATABRICKS" });
    await w.post("secrets/scopes/create", {
      scope: "kv",
      scope_backend_type: "AZURE_KEYVAULT",
      backend_azure_keyvault: vault,
    });
    expect((await w.get("secrets/scopes/list")).body.scopes).toEqual([
      { name: "plain", backend_type: "DATABRICKS" },
      { name: "kv", backend_type: "AZURE_KEYVAULT", keyvault_metadata: vault, is_databricks_managed: false },
    ]);
  });

  test("the contract's names of backends are refused, and so are vaults on other clouds", async () => {
    const create = (scope_backend_type: string) =>
      w.post("secrets/scopes/create", {
        scope: "s",
        scope_backend_type,
        backend_azure_keyvault: { resource_id: "r", dns_name: "d" },
      });
    expect((await create("PLATFORM")).status).toBe(400);
    w = await startWorld({ databricks: "gcp" });
    expect((await create("AZURE_KEYVAULT")).body.message).toBe(
      "Scopes with the backend AZURE_KEYVAULT exist on Azure only.",
    );
  });

  test("names of scopes may have @ and slashes, names of secrets may not", async () => {
    expect((await w.post("secrets/scopes/create", { scope: "a@b/c" })).status).toBe(200);
    expect((await w.post("secrets/put", { scope: "a@b/c", key: "k", string_value: "v" })).status).toBe(200);
    expect((await w.post("secrets/put", { scope: "a@b/c", key: "k/l", string_value: "v" })).status).toBe(400);
    expect((await w.get("secrets/acls/list", { scope: "a@b/c" })).body.items).toHaveLength(1);
  });

  test("the value of a secret is shown in base64 to those who may read it", async () => {
    await w.post("secrets/scopes/create", { scope: "s" });
    await w.post("secrets/put", { scope: "s", key: "text", string_value: "v\u00e9" });
    await w.post("secrets/put", { scope: "s", key: "bytes", bytes_value: base64("b") });
    const read = (key: string, as?: string) =>
      w.get("secrets/get", { scope: "s", key }, as === undefined ? {} : { as });
    expect((await read("text")).body).toEqual({ key: "text", value: base64("v\u00e9") });
    expect((await read("bytes")).body).toEqual({ key: "bytes", value: base64("b") });
    expect((await read("none")).body.error_code).toBe("RESOURCE_DOES_NOT_EXIST");
    const ada = await w.user("ada@example.com");
    expect((await read("text", ada)).body.error_code).toBe("PERMISSION_DENIED");
  });
});
