import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { beforeEach, expect, test } from "vitest";
import { NOTEBOOK_FORMATS } from "../../../../src/emulator/notebook/notebook.ts";
import { notebookAt, objectsOf } from "../../../../src/emulator/routes/workspace/objects.ts";
import { ROOT } from "../../../../src/emulator/world/entry-tree.ts";
import { base64, postForm, refusal, refused, text } from "../../contents.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

const MB = 1024 * 1024;
const SOURCE =
  "# Databricks notebook source\n# MAGIC %md\n# MAGIC # Hi\n\n# COMMAND ----------\n\nprint(1)\n";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const put = (fields: object) =>
  w.post("workspace/import", { path: "/n", language: "PYTHON", content: base64(SOURCE), ...fields });
const source = async (path = "/n") => text((await w.get("workspace/export", { path })).body.content);
const status = async (path = "/n") => (await w.get("workspace/get-status", { path })).body;
const paths = async (path: string): Promise<string[]> =>
  ((await w.get("workspace/list", { path })).body.objects ?? []).map(
    (object: { path: string }) => object.path,
  );
const take = async (path: string, format: string): Promise<string> =>
  (await w.get("workspace/export", { path, format })).body.content;

test("A4.4 import: the format is SOURCE unless said otherwise, and the answer an empty object", async () => {
  expect(await put({})).toMatchObject({ status: 200, body: {} });
  expect(await status()).toMatchObject({ object_type: "NOTEBOOK", path: "/n", language: "PYTHON" });
});

test.each([
  "",
  "print(1)",
  "a\r\nb\r\n\r\n",
  "# Databricks notebook source\n\n\nx\n# COMMAND ----------\ny",
  "\u{1f600}\n",
])("A4.4 import: SOURCE comes back byte for byte: %j", async (content) => {
  await put({ content: base64(content) });
  expect(await source()).toBe(content);
});

test("A4.4 import: SOURCE without a language is refused", async () => {
  const answer = await w.post("workspace/import", { path: "/n", content: base64("x") });
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  expect(answer.body.message).toBe("Missing required field: language");
});

test.each(["python", "JAVA", ""])("A2.6 language: the language %j is unknown", async (language) => {
  expect(refusal(await put({ language }))).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
});

test.each(["source", "TXT"])(
  "A2.6 ExportFormat: the import format %j is unknown: formats are case sensitive",
  async (format) => {
    expect(refusal(await put({ format }))).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  },
);

test.each(["HTML", "JUPYTER", "DBC"])(
  "A4.4 import: the language is ignored when the format is %s",
  async (format) => {
    await put({ path: "/from" });
    const content = await take("/from", format);
    for (const language of ["SCALA", "none at all"]) {
      expect((await put({ path: "/n", format, content, language })).status).toBe(200);
      expect((await status()).language).toBe("PYTHON");
      await w.post("workspace/delete", { path: "/n" });
    }
  },
);

test.each(NOTEBOOK_FORMATS.flatMap((from) => NOTEBOOK_FORMATS.map((to) => [from, to] as const)))(
  "A4.4 conversion, A2.6 ExportFormat: in every format: a notebook imported as %s can be exported as %s, and back to the same cells",
  async (from, to) => {
    await put({ path: "/first" });
    await put({ path: "/second", format: from, content: await take("/first", from) });
    await put({ path: "/third", format: to, content: await take("/second", to) });
    expect(await source("/third")).toBe(SOURCE);
  },
);

test("A4.4 import: JUPYTER comes back as JUPYTER with its cells and outputs", async () => {
  const file = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { language: "R", name: "ir", display_name: "R" } },
    cells: [
      { cell_type: "markdown", id: "a", metadata: {}, source: ["# Hi"] },
      { cell_type: "code", id: "b", metadata: {}, source: "1 + 1", outputs: [{ output_type: "stream" }] },
    ],
  };
  await put({ format: "JUPYTER", content: base64(JSON.stringify(file)) });
  expect(JSON.parse(text(await take("/n", "JUPYTER")))).toEqual(file);
  expect((await status()).language).toBe("R");
  expect(await source()).toBe(
    "# Databricks notebook source\n# MAGIC %md\n# MAGIC # Hi\n\n# COMMAND ----------\n\n1 + 1\n",
  );
});

test.each(["HTML", "JUPYTER", "DBC"])("A4.4 import: content that is not %s is refused", async (format) => {
  const answer = await put({ format, content: base64("print(1)") });
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  expect(answer.body.message).toContain(format);
  expect(refusal(await w.get("workspace/get-status", { path: "/n" })).status).toBe(404);
});

test("A4.4 import: neither content nor a posted file is refused", async () => {
  const answer = await w.post("workspace/import", { path: "/n", language: "R" });
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  expect(answer.body.message).toBe("Missing required field: content");
});

test.each(["%%%", "a"])("A4.4 import: content %j that is not base64 is refused", async (content) => {
  expect(refusal(await put({ content }))).toEqual(refused(400, "MALFORMED_REQUEST"));
});

test.each([undefined, false])(
  "A4.4 rule 3, import: with overwrite %s, what exists stays",
  async (overwrite) => {
    await put({});
    const again = await put({ content: base64("other"), ...(overwrite === undefined ? {} : { overwrite }) });
    expect(refusal(again)).toEqual(refused(400, "RESOURCE_ALREADY_EXISTS"));
    expect(again.body.message).toBe("Path (/n) already exists.");
    expect(await source()).toBe(SOURCE);
  },
);

test("A4.4 rule 3: overwrite replaces content and language and keeps the id", async () => {
  await put({});
  const before = await status();
  expect((await put({ language: "SQL", content: base64("select 1"), overwrite: true })).status).toBe(200);
  expect(await status()).toEqual({ ...before, language: "SQL" });
  expect(await source()).toBe("select 1");
  expect(Object.keys(w.store.dump().$blobs ?? {})).toHaveLength(1);
});

test("A4.4 rule 3: overwrite of a path that is free creates the notebook", async () => {
  expect((await put({ overwrite: true })).status).toBe(200);
});

test("A4.4 rule 3: only as DBC: a folder is never overwritten by a notebook", async () => {
  const kept = await put({ path: "/Shared" });
  expect(refusal(kept)).toEqual(refused(400, "RESOURCE_ALREADY_EXISTS"));
  const forced = await put({ path: "/Shared", overwrite: true });
  expect(refusal(forced)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  expect((await status("/Shared")).object_type).toBe("DIRECTORY");
});

test("A4.4 rule 3: a library is never overwritten by a notebook", async () => {
  w.store.transact(w.clock.now(), (world) =>
    objectsOf(world).add({ parent: ROOT, name: "lib", folder: false, object_type: "LIBRARY" }),
  );
  expect(refusal(await put({ path: "/lib", overwrite: true }))).toEqual(
    refused(400, "INVALID_PARAMETER_VALUE"),
  );
});

test.each(["/none/n", "/Shared/a/b"])("A4.4 parent: the folder above %s is missing", async (path) => {
  const answer = await put({ path });
  expect(refusal(answer)).toEqual(refused(404, "RESOURCE_DOES_NOT_EXIST"));
  expect(answer.body.message).toBe(
    `The parent folder (${path.slice(0, path.lastIndexOf("/"))}) does not exist.`,
  );
});

test("A4.4 import: a notebook cannot contain another one", async () => {
  await put({});
  expect(refusal(await put({ path: "/n/m" }))).toEqual(refused(404, "RESOURCE_DOES_NOT_EXIST"));
});

// Folders

test("A4.4 rule 3: a folder imported as DBC is what was exported", async () => {
  await w.post("workspace/mkdirs", { path: "/Shared/a/b/empty" });
  await put({ path: "/Shared/a/n" });
  await put({ path: "/Shared/a/b/m", language: "SCALA", content: base64("val x = 1") });
  expect((await put({ path: "/copy", format: "DBC", content: await take("/Shared/a", "DBC") })).status).toBe(
    200,
  );
  expect(await paths("/copy")).toEqual(["/copy/b", "/copy/n"]);
  expect(await paths("/copy/b")).toEqual(["/copy/b/empty", "/copy/b/m"]);
  expect(await source("/copy/n")).toBe(SOURCE);
  expect(await source("/copy/b/m")).toBe("val x = 1");
  expect((await status("/copy/b/m")).language).toBe("SCALA");
});

test("A4.4 rule 3: an empty folder can be imported as DBC", async () => {
  await put({ path: "/copy", format: "DBC", content: await take("/Shared", "DBC") });
  expect((await status("/copy")).object_type).toBe("DIRECTORY");
});

test("A4.4 rule 3: DBC is refused over what exists", async () => {
  const content = await take("/Shared", "DBC");
  expect(refusal(await put({ path: "/Shared", format: "DBC", content }))).toEqual(
    refused(400, "RESOURCE_ALREADY_EXISTS"),
  );
});

test.each(["/Shared", "/free"])("A4.4 rule 3: overwrite is not supported for DBC (%s)", async (path) => {
  const content = await take("/Shared", "DBC");
  expect(refusal(await put({ path, format: "DBC", content, overwrite: true }))).toEqual(
    refused(400, "INVALID_PARAMETER_VALUE"),
  );
});

test("A4.4 parent: the folder above a DBC import must exist", async () => {
  const content = await take("/Shared", "DBC");
  expect(refusal(await put({ path: "/none/copy", format: "DBC", content }))).toEqual(
    refused(404, "RESOURCE_DOES_NOT_EXIST"),
  );
});

const model = (command: string) =>
  strToU8(JSON.stringify({ language: "python", commands: [{ position: 1, command }] }));
const archive = (files: Readonly<Record<string, Uint8Array>>) => base64(zipSync(files));

test("A4.4 rule 3: an archive of several notebooks becomes a folder of them", async () => {
  const content = archive({
    "a.python": model("a"),
    "sub/b.python": model("b"),
    "manifest.mf": strToU8("x"),
  });
  expect((await put({ path: "/all", format: "DBC", content })).status).toBe(200);
  expect(await paths("/all")).toEqual(["/all/a", "/all/sub"]);
  expect(await source("/all/sub/b")).toBe("# Databricks notebook source\nb\n");
});

test.each([
  ["with an entry outside its folder", { "../../evil.python": model("x") }],
  ["with an absolute path", { "/evil.python": model("x") }],
  ["with an entry that is not a notebook", { "a/evil.exe": model("x") }],
  ["with an entry that is not JSON", { "a.python": strToU8("{") }],
  ["with an entry without commands", { "a.python": strToU8("{}") }],
  ["with a duplicate name", { "d/a.python": model("x"), "d/a.scala": model("y") }],
  ["without entries", {}],
])(
  "A4.4 archives: an archive %s is refused and creates no object",
  async (_what, files: Record<string, Uint8Array>) => {
    const before = w.store.dump();
    const answer = await put({ path: "/bad", format: "DBC", content: archive(files) });
    expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
    expect(w.store.dump()).toEqual(before);
  },
);

/** An archive of one notebook that says of it to have another size. */
function lying(size: number): string {
  const zip = zipSync({ "a.python": model("x".repeat(1000)) });
  const directory = Buffer.from(zip).lastIndexOf(Buffer.from("PK\x01\x02"));
  new DataView(zip.buffer, zip.byteOffset).setUint32(directory + 24, size, true);
  return base64(zip);
}

test("A4.4 archives: an archive that expands to far more than its size is refused before it is expanded", async () => {
  const answer = await put({ path: "/bad", format: "DBC", content: lying(2 ** 31) });
  expect(refusal(answer)).toEqual(refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"));
});

test("A4.4 archives: an archive that expands to more than its header says is refused", async () => {
  const answer = await put({ path: "/bad", format: "DBC", content: lying(10) });
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
});

test("A4.4 archives: an archive with a notebook above 10 MB is refused", async () => {
  const content = archive({ "a.python": model("x".repeat(10 * MB)) });
  expect(refusal(await put({ path: "/bad", format: "DBC", content }))).toEqual(
    refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"),
  );
});

// Forms and sizes

test("A4.4 rule 3: import takes a multipart form with a file", async () => {
  const fields = { path: "/n", format: "SOURCE", language: "PYTHON", overwrite: "false" };
  const answer = await postForm(w, "workspace/import", fields, {
    content: { name: "n.py", content: SOURCE },
  });
  expect(answer).toMatchObject({ status: 200, body: {} });
  expect(await source()).toBe(SOURCE);
  const again = await postForm(
    w,
    "workspace/import",
    { ...fields, overwrite: "true" },
    { content: { name: "n.py", content: "new" } },
  );
  expect(again.status).toBe(200);
  expect(await source()).toBe("new");
});

test("A4.4 rule 3: a form's fields are checked as those of a JSON body", async () => {
  const file = { content: { name: "n.py", content: SOURCE } };
  const wrong = await postForm(w, "workspace/import", { path: "/n", language: "JAVA" }, file);
  expect(refusal(wrong)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  const nameless = await postForm(w, "workspace/import", { language: "PYTHON" }, file);
  expect(nameless.body.message).toBe("Missing required field: path");
});

test("A4.4 rule 3, A8 limit: content of exactly 10 MB is imported, one byte more is refused", async () => {
  const form = (size: number, path: string) =>
    postForm(
      w,
      "workspace/import",
      { path, language: "R" },
      { content: { name: "n.r", content: new Uint8Array(size).fill(97) } },
    );
  expect((await form(10 * MB, "/fits")).status).toBe(200);
  expect(refusal(await form(10 * MB + 1, "/over"))).toEqual(refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"));
});

test("A8 units: base64 content in a JSON body is at most 10 MB before decoding", async () => {
  expect((await put({ path: "/fits", content: "A".repeat(10 * MB) })).status).toBe(200);
  expect(refusal(await put({ path: "/over", content: "A".repeat(10 * MB + 4) }))).toEqual(
    refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"),
  );
});

// For other areas, and for later

test("a notebook is found by other areas by its path", async () => {
  await put({});
  expect(notebookAt(w.store.world, "/n")?.language).toBe("PYTHON");
  expect(notebookAt(w.store.world, "/Shared")).toBeUndefined();
  expect(notebookAt(w.store.world, "no path")).toBeUndefined();
});

test("imported notebooks are there after a restart", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "workspace-objects-"));
  try {
    w = await startWorld({ dataDir });
    await w.post("workspace/mkdirs", { path: "/x/y" });
    await put({ path: "/x/n" });
    const before = await status("/x/n");
    w.close();
    w = await startWorld({ dataDir });
    expect(await status("/x/n")).toEqual(before);
    expect(await source("/x/n")).toBe(SOURCE);
    expect(await paths("/x")).toEqual(["/x/n", "/x/y"]);
    w.close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test("a workspace put back from a snapshot has its notebooks", async () => {
  await put({});
  const { body } = await w.control("GET", "snapshot");
  await w.post("workspace/delete", { path: "/n" });
  await w.control("PUT", "snapshot", body);
  expect(await source()).toBe(SOURCE);
});
