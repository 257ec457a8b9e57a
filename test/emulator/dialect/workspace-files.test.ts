// Files of the workspace tree in the dialect: `/Workspace` before a path, imports of bytes, exports, and times.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, START, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const textOf = (data: string): string => Buffer.from(data, "base64").toString();
const status = async (path: string, more = {}) =>
  (await w.get("workspace/get-status", { path, ...more })).body;

/** As the vendor's CLI sends a file. */
const importFile = (path: string, body: string | Uint8Array, query = "") =>
  w.request({
    method: "POST",
    path: `/api/2.0/workspace-files/import-file/${encodeURIComponent(path)}${query}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body,
  });

describe("/Workspace before a path", () => {
  test("names the same object, and answers repeat the prefix of the request", async () => {
    await w.post("workspace/mkdirs", { path: "/Workspace/Shared/a" });
    const { object_id } = await status("/Shared/a");
    expect(await status("/Workspace/Shared/a")).toMatchObject({ object_id, path: "/Workspace/Shared/a" });
    expect((await w.get("workspace/list", { path: "/Workspace/Shared" })).body.objects).toMatchObject([
      { object_id, path: "/Workspace/Shared/a" },
    ]);
    expect((await w.get("workspace/list", { path: "/Shared" })).body.objects).toMatchObject([
      { object_id, path: "/Shared/a" },
    ]);
    expect(await status("/Workspace")).toMatchObject({ object_type: "DIRECTORY", path: "/Workspace" });
    await w.post("workspace/delete", { path: "/Workspace/Shared/a" });
    expect((await status("")).error_code).toBe("INVALID_PARAMETER_VALUE");
    expect((await status("/Workspace/Shared/a")).message).toBe("Path (/Workspace/Shared/a) doesn't exist.");
  });

  test("names a notebook for imports, exports, and runs", async () => {
    const source = "# Databricks notebook source\nprint(1)\n";
    const path = "/Workspace/Shared/nb";
    await w.post("workspace/import", { path, language: "PYTHON", content: base64(source) });
    expect((await status("/Shared/nb")).object_type).toBe("NOTEBOOK");
    const exported = (await w.get("workspace/export", { path, format: "RAW" })).body;
    expect([textOf(exported.content), exported.file_type]).toEqual([source, "py"]);
    const task = { task_key: "t", notebook_task: { notebook_path: path } };
    const { run_id } = (
      await w.post("/api/2.1/jobs/runs/submit", { tasks: [{ ...task, new_cluster: CLUSTER }] })
    ).body;
    const { views } = (await w.get("/api/2.1/jobs/runs/export", { run_id })).body;
    expect(views[0].content).toContain("print(1)");
  });

  test("names the same Git folder", async () => {
    await w.post("workspace/mkdirs", { path: "/Repos/ada" });
    const repo = { url: "https://example.com/r.git", provider: "gitHub", path: "/Workspace/Repos/ada/r" };
    expect((await w.post("repos", repo)).body.path).toBe("/Repos/ada/r");
  });
});

const CLUSTER = { spark_version: "15.4.x-scala2.12", node_type_id: "Standard_DS3_v2", num_workers: 1 };

describe("import-file", () => {
  test("makes a file of the bytes of the request, and a notebook of a notebook's source", async () => {
    const bytes = Uint8Array.from([0, 255, 10, 128]);
    expect((await importFile("Workspace/Shared/x.bin", bytes)).status).toBe(200);
    expect(await status("/Shared/x.bin")).toMatchObject({ object_type: "FILE", size: 4 });
    const download = await w.get("workspace/export", { path: "/Shared/x.bin", direct_download: true });
    expect(new Uint8Array(download.body)).toEqual(bytes);
    expect(download.headers["content-type"]).toBe("application/octet-stream");
    expect(download.headers["content-disposition"]).toBe("attachment; filename*=UTF-8''x.bin");
    await importFile("Shared/nb.py", "# Databricks notebook source\n");
    expect(await status("/Shared/nb", { return_export_info: true })).toMatchObject({
      object_type: "NOTEBOOK",
      repos_export_format: "SOURCE",
    });
    expect((await importFile("Shared/empty", "")).status).toBe(200);
    expect((await status("/Shared/empty")).size).toBe(0);
  });

  test("overwrites only on request, and makes no folder", async () => {
    await importFile("Shared/a", "one");
    expect(await importFile("Workspace/Shared/a", "two")).toMatchObject({
      status: 409,
      body: { message: "File already exists at (/Workspace/Shared/a)." },
    });
    const { object_id } = await status("/Shared/a");
    expect((await importFile("Shared/a", "two", "?overwrite=true")).status).toBe(200);
    expect(await status("/Shared/a")).toMatchObject({ object_id, size: 3 });
    await importFile("Shared/nb.py", "# Databricks notebook source\n");
    expect(await importFile("Shared/nb.py", "# Databricks notebook source\n")).toMatchObject({
      status: 400,
      body: { message: "Path (/Shared/nb) already exists." },
    });
    expect(await importFile("Workspace/none/a", "x")).toMatchObject({
      status: 404,
      body: { message: "The parent folder (/Workspace/none) does not exist." },
    });
  });

  test("takes files above the limit of notebooks, and a download returns them", async () => {
    const large = new Uint8Array(11 * 1024 * 1024);
    expect((await importFile("Shared/large", large)).status).toBe(200);
    const download = await w.get("workspace/export", { path: "/Shared/large", direct_download: true });
    expect(download.body.length).toBe(large.length);
    expect((await w.get("workspace/export", { path: "/Shared/large" })).body).toMatchObject({
      error_code: "BAD_REQUEST",
      message: "File size imported is (11534336 bytes), exceeded max size (10485760 bytes)",
    });
  });
});

test("the export of a folder is an archive in every format that names no other one", async () => {
  const { body } = await w.get("workspace/export", { path: "/Shared", direct_download: true });
  expect(Buffer.from(body).subarray(0, 2).toString()).toBe("PK");
  expect((await w.get("workspace/export", { path: "/Shared", format: "HTML" })).status).toBe(400);
});

test("objects have the times of their creation and of their last change", async () => {
  await importFile("Shared/a", "one");
  await w.advance(5000);
  await importFile("Shared/a", "two", "?overwrite=true");
  const times = { created_at: START, modified_at: START + 5000 };
  const { object_id } = await status("/Shared/a");
  expect(await status("/Shared/a")).toMatchObject({ ...times, resource_id: String(object_id) });
  expect((await w.get("workspace/list", { path: "/Shared" })).body.objects).toMatchObject([times]);
});

test("a new workspace has /FileStore", async () => {
  expect((await w.get("dbfs/list", { path: "/" })).body.files).toMatchObject([
    { path: "/FileStore", is_dir: true },
  ]);
});
