import { randomBytes } from "node:crypto";
import { unzipSync } from "fflate";
import { beforeEach, expect, test } from "vitest";
import { objectsOf } from "../../../../src/emulator/routes/workspace/objects.ts";
import { ROOT } from "../../../../src/emulator/world/entry-tree.ts";
import { base64, bytes, postForm, refusal, refused, text } from "../../contents.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

const MB = 1024 * 1024;
const SOURCE =
  "-- Databricks notebook source\n-- MAGIC %md\n-- MAGIC # Hi\n\n-- COMMAND ----------\n\nselect 1\n";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
  await w.post("workspace/import", { path: "/Shared/n", language: "SQL", content: base64(SOURCE) });
});

const take = async (path: string, format?: string): Promise<string> => {
  const { status, body } = await w.get("workspace/export", {
    path,
    ...(format === undefined ? {} : { format }),
  });
  expect(status).toBe(200);
  return body.content;
};
const download = (format: string, path = "/Shared/n") =>
  w.get("workspace/export", { path, format, direct_download: true });

test("A4.4 export: the format is SOURCE unless said otherwise", async () => {
  expect(text(await take("/Shared/n"))).toBe(SOURCE);
});

test("A4.4 export: HTML shows the cells", async () => {
  const page = text(await take("/Shared/n", "HTML"));
  expect(page).toContain("<code>select 1</code>");
  expect(page).toContain("# Hi");
});

test("A4.4 export: JUPYTER is a notebook of nbformat 4", async () => {
  const file = JSON.parse(text(await take("/Shared/n", "JUPYTER")));
  expect(file.nbformat).toBe(4);
  expect(file.metadata.language_info.name).toBe("sql");
  expect(
    file.cells.map((cell: { cell_type: string; source: string[] }) => [cell.cell_type, cell.source]),
  ).toEqual([
    ["markdown", ["# Hi"]],
    ["code", ["select 1"]],
  ]);
});

test("A4.4 export: DBC of a notebook is an archive with its JSON form", async () => {
  const files = unzipSync(bytes(await take("/Shared/n", "DBC")));
  expect(Object.keys(files)).toEqual(["n.sql"]);
  const model = JSON.parse(new TextDecoder().decode(files["n.sql"]));
  expect(model).toMatchObject({ name: "n", language: "sql" });
  expect(model.commands.map((command: { command: string }) => command.command)).toEqual([
    "%md\n# Hi",
    "select 1",
  ]);
});

test("A4.4 rule 2, A2.6 ExportFormat: directories: a folder is exported as DBC with all that is in it", async () => {
  await w.post("workspace/mkdirs", { path: "/Shared/sub/empty" });
  await w.post("workspace/import", { path: "/Shared/sub/m", language: "R", content: base64("y") });
  const files = unzipSync(bytes(await take("/Shared", "DBC")));
  expect(Object.keys(files).sort()).toEqual([
    "Shared/",
    "Shared/n.sql",
    "Shared/sub/",
    "Shared/sub/empty/",
    "Shared/sub/m.r",
  ]);
});

test.each([undefined, "SOURCE", "HTML", "JUPYTER"])(
  "A4.4 rule 2: a folder cannot be exported as %s",
  async (format) => {
    const answer = await w.get("workspace/export", {
      path: "/Shared",
      ...(format === undefined ? {} : { format }),
    });
    expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  },
);

test("A4.4 rule 2: a missing path is refused", async () => {
  const answer = await w.get("workspace/export", { path: "/Shared/none" });
  expect(refusal(answer)).toEqual(refused(404, "RESOURCE_DOES_NOT_EXIST"));
});

test.each(["SOURCE", "DBC"])("A4.4 rule 2: a library cannot be exported as %s", async (format) => {
  w.store.transact(w.clock.now(), (world) =>
    objectsOf(world).add({ parent: ROOT, name: "lib", folder: false, object_type: "LIBRARY" }),
  );
  const answer = await w.get("workspace/export", { path: "/lib", format });
  expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
});

test("A4.4 rule 2: a folder is exported without the libraries in it", async () => {
  w.store.transact(w.clock.now(), (world) =>
    objectsOf(world).add({ parent: ROOT, name: "lib", folder: false, object_type: "LIBRARY" }),
  );
  const files = unzipSync(bytes(await take("/", "DBC")));
  expect(Object.keys(files)).toContain("workspace/Shared/n.sql");
  expect(Object.keys(files).join()).not.toContain("lib");
});

test.each(["source", "PDF", ""])(
  "A2.6 ExportFormat: the export format %j is unknown: formats are case sensitive",
  async (format) => {
    const answer = await w.get("workspace/export", { path: "/Shared/n", format });
    expect(refusal(answer)).toEqual(refused(400, "INVALID_PARAMETER_VALUE"));
  },
);

test.each([
  ["SOURCE", "n.sql", "text/plain"],
  ["HTML", "n.html", "text/html"],
  ["JUPYTER", "n.ipynb", "application/octet-stream"],
  ["DBC", "n.dbc", "application/zip"],
])("A4.4 export: direct_download of %s answers the file %s itself", async (format, name, type) => {
  const { status, body, headers } = await download(format);
  expect(status).toBe(200);
  expect(headers["content-type"]).toContain(type);
  expect(headers["content-disposition"]).toBe(`attachment; filename*=UTF-8''${name}`);
  expect(base64(body)).toBe(await take("/Shared/n", format));
});

test("A4.4 export: the name of a downloaded file is encoded", async () => {
  await w.post("workspace/import", { path: "/a b\"é'", language: "PYTHON", content: base64("x") });
  const { headers } = await download("SOURCE", "/a b\"é'");
  expect(headers["content-disposition"]).toBe("attachment; filename*=UTF-8''a%20b%22%C3%A9%27.py");
});

test("A4.4 export: direct_download false answers JSON", async () => {
  const { body } = await w.get("workspace/export", { path: "/Shared/n", direct_download: false });
  expect(text(body.content)).toBe(SOURCE);
});

test("A4.4 export: a direct_download that is not a BOOL is refused", async () => {
  const answer = await w.get("workspace/export", { path: "/Shared/n", direct_download: "yes" });
  expect(refusal(answer)).toEqual(refused(400, "MALFORMED_REQUEST"));
});

test("A8 limit: an export of exactly 10 MB is answered", async () => {
  const content = new Uint8Array(10 * MB).fill(97);
  await postForm(
    w,
    "workspace/import",
    { path: "/big", language: "R" },
    { content: { name: "big.r", content } },
  );
  expect(bytes(await take("/big"))).toHaveLength(10 * MB);
});

test.each(["false", "true"])(
  "A4.4 rule 2: content that a format makes larger than 10 MB is refused (direct_download %s)",
  async (direct) => {
    const content = new Uint8Array(10 * MB).fill(97);
    await postForm(
      w,
      "workspace/import",
      { path: "/big", language: "R" },
      { content: { name: "big.r", content } },
    );
    const answer = await w.get("workspace/export", { path: "/big", format: "HTML", direct_download: direct });
    expect(refusal(answer)).toEqual(refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"));
  },
);

test("A4.4 rule 2: a folder whose archive is larger than 10 MB is refused", async () => {
  await w.post("workspace/mkdirs", { path: "/big" });
  const content = `# Databricks notebook source\n${randomBytes(6 * MB).toString("base64")}\n`;
  for (const path of ["/big/a", "/big/b"])
    await postForm(w, "workspace/import", { path, language: "R" }, { content: { name: "n.r", content } });
  expect(refusal(await w.get("workspace/export", { path: "/big", format: "DBC" }))).toEqual(
    refused(400, "MAX_NOTEBOOK_SIZE_EXCEEDED"),
  );
});
