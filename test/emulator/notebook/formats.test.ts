import fc from "fast-check";
import { expect, test } from "vitest";
import { packArchive, unpackArchive } from "../../../src/emulator/notebook/archive.ts";
import {
  documentOf,
  exportBytes,
  notebookOf,
  readHtml,
  readJupyter,
  readSource,
  write,
  writeHtml,
  writeJupyter,
  writeSource,
} from "../../../src/emulator/notebook/formats.ts";
import {
  type Cell,
  LANGUAGES,
  type Notebook,
  notebookText,
  toBytes,
} from "../../../src/emulator/notebook/notebook.ts";

const python = (source: string) => readSource(toBytes(source), "PYTHON");

test("SOURCE: the header is not a cell and the separators divide the cells", () => {
  const source = "# Databricks notebook source\na = 1\nb = 2\n\n# COMMAND ----------\n\nprint(a)\n";
  expect(python(source).cells).toEqual([
    { kind: "code", text: "a = 1\nb = 2" },
    { kind: "code", text: "print(a)" },
  ]);
});

test("SOURCE: a program without a header is one cell", () => {
  expect(python("print(1)\n").cells).toEqual([{ kind: "code", text: "print(1)" }]);
});

test("SOURCE: an empty file and a header alone have no cell", () => {
  expect(python("").cells).toEqual([]);
  expect(python("# Databricks notebook source\n").cells).toEqual([]);
});

test("SOURCE: magic comments hold markdown and code of other languages", () => {
  const source = [
    "# Databricks notebook source",
    "# MAGIC %md # Title",
    "# MAGIC",
    "# MAGIC text",
    "",
    "# COMMAND ----------",
    "",
    "# MAGIC %sql",
    "# MAGIC select 1",
  ].join("\r\n");
  expect(python(source).cells).toEqual([
    { kind: "markdown", text: "# Title\n\ntext" },
    { kind: "code", text: "%sql\nselect 1" },
  ]);
});

test("SOURCE: a cell's title is a comment before it", () => {
  const source = "# Databricks notebook source\n# DBTITLE 1,Load it\nload()\n";
  expect(python(source).cells).toEqual([{ kind: "code", title: "Load it", text: "load()" }]);
  expect(notebookText(writeSource(python(source)))).toBe(source);
});

test.each([
  ["PYTHON", "#"],
  ["R", "#"],
  ["SQL", "--"],
  ["SCALA", "//"],
] as const)("SOURCE: %s uses its own comment sign %s", (language, sign) => {
  const source = `${sign} Databricks notebook source\n${sign} MAGIC %md\n${sign} MAGIC hello\n\n${sign} COMMAND ----------\n\nx\n`;
  const notebook = readSource(toBytes(source), language);
  expect(notebook.cells).toEqual([
    { kind: "markdown", text: "hello" },
    { kind: "code", text: "x" },
  ]);
  expect(notebookText(writeSource(notebook))).toBe(source);
});

const jupyter = (file: unknown) => readJupyter(toBytes(JSON.stringify(file)));
const code = (source: unknown) => ({ cell_type: "code", source });

test("JUPYTER: a source is a string or a list of lines", () => {
  expect(jupyter({ nbformat: 4, cells: [code("a\nb"), code(["a\n", "b"])] }).cells).toEqual([
    { kind: "code", text: "a\nb" },
    { kind: "code", text: "a\nb" },
  ]);
});

test.each([
  [{}, "PYTHON"],
  [{ kernelspec: { language: "R" } }, "R"],
  [{ language_info: { name: "scala" } }, "SCALA"],
  [{ kernelspec: { language: "sql", name: "x" } }, "SQL"],
])("JUPYTER: the metadata %j mean the language %s", (metadata, language) => {
  expect(jupyter({ nbformat: 4, cells: [], metadata }).language).toBe(language);
});

test.each([
  ["not JSON", "{"],
  ["an older format", JSON.stringify({ nbformat: 3, worksheets: [] })],
  ["no cells", JSON.stringify({ nbformat: 4 })],
  ["a cell without a source", JSON.stringify({ nbformat: 4, cells: [{ cell_type: "code" }] })],
  ["an unknown type of cell", JSON.stringify({ nbformat: 4, cells: [{ cell_type: "video", source: "" }] })],
  [
    "an unknown language",
    JSON.stringify({ nbformat: 4, cells: [], metadata: { language_info: { name: "cobol" } } }),
  ],
])("JUPYTER: %s is refused", (_what, file) => {
  expect(() => readJupyter(toBytes(file))).toThrow(/not a notebook in the format JUPYTER/);
});

test("HTML: a cell's text is shown escaped and cannot end the script that holds the notebook", () => {
  const notebook: Notebook = { language: "PYTHON", cells: [{ kind: "code", text: "x = '</script><b>&'" }] };
  const page = notebookText(writeHtml(notebook, "<n>"));
  expect(page).toContain("x = '&lt;/script&gt;&lt;b&gt;&amp;'");
  expect(page.match(/<\/script>/g)).toHaveLength(1);
  expect(readHtml(toBytes(page))).toEqual(notebook);
});

test("HTML: the service's own pages, which hold the notebook as base64, are read", () => {
  const model = {
    language: "sql",
    commands: [
      { position: 2, command: "select 2" },
      { position: 1, command: "%md é" },
    ],
  };
  const encoded = btoa(encodeURIComponent(JSON.stringify(model)));
  const page = `<script>var __PLATFORM_NOTEBOOK_MODEL = '${encoded}';</script>`;
  expect(readHtml(toBytes(page))).toEqual({
    language: "SQL",
    cells: [
      { kind: "markdown", text: "é" },
      { kind: "code", text: "select 2" },
    ],
  });
});

test.each([
  ["a page without a notebook", "<html></html>", "does not contain a notebook"],
  ["a damaged notebook", '<script id="notebook-model" type="application/json">{</script>', "damaged"],
  [
    "no commands",
    '<script id="notebook-model" type="application/json">{"language":"sql"}</script>',
    "commands",
  ],
  ["no language", '<script id="notebook-model" type="application/json">{"commands":[]}</script>', "language"],
])("HTML: %s is refused", (_what, page, why) => {
  expect(() => readHtml(toBytes(page))).toThrow(why);
});

const line = fc
  .stringMatching(/^[a-z#%<&é][ -~é]{0,20}$/)
  .filter((s) => !/^(#|--|\/\/) |^%/.test(s) && s.trim() !== "");
const lines = fc
  .array(line, { minLength: 1, maxLength: 4 })
  .map((all) => all.map((l) => l.trimEnd()).join("\n"));
const cell: fc.Arbitrary<Cell> = fc.oneof(
  lines.map((t): Cell => ({ kind: "code", text: t })),
  lines.map((t): Cell => ({ kind: "code", text: `%sql\n${t}` })),
  lines.map((t): Cell => ({ kind: "markdown", text: t })),
  fc.tuple(lines, line).map(([t, title]): Cell => ({ kind: "code", text: t, title: title.trimEnd() })),
);
const notebook: fc.Arbitrary<Notebook> = fc.record({
  language: fc.constantFrom(...LANGUAGES),
  cells: fc.array(cell, { maxLength: 6 }),
});

test.each(["SOURCE", "HTML", "JUPYTER"] as const)(
  "any notebook written as %s is read as the same cells",
  (format) => {
    fc.assert(
      fc.property(notebook, (given) => {
        const written = documentOf(format, write(given, format, "n"), given.language);
        expect(notebookOf(written)).toEqual(given);
      }),
    );
  },
);

test("a document in its own format is exported byte for byte", () => {
  const odd = new Uint8Array([0xef, 0xbb, 0xbf, 0x78, 0x0d, 0x0a, 0xff, 0x0a, 0x0a]);
  const document = documentOf("SOURCE", odd, "PYTHON");
  expect(exportBytes(document, "SOURCE", "n")).toEqual(odd);
});

test("DBC: any document comes back from an archive with its bytes", () => {
  const sources = fc.oneof(
    notebook.map((given) => documentOf("SOURCE", writeSource(given), given.language)),
    fc.uint8Array({ maxLength: 40 }).map((raw) => documentOf("SOURCE", raw, "SCALA")),
    notebook.map((given) => documentOf("JUPYTER", writeJupyter(given, "n"), given.language)),
  );
  fc.assert(
    fc.property(sources, (document) => {
      const [entry] = unpackArchive(packArchive([{ segments: ["n.v1"], document }]));
      expect(entry).toEqual({ segments: ["n.v1"], document });
    }),
  );
});

test("DBC: the same notebooks make the same archive", () => {
  const document = documentOf("SOURCE", toBytes("x"), "R");
  const pack = () => packArchive([{ segments: ["a"] }, { segments: ["a", "n"], document }]);
  expect(pack()).toEqual(pack());
});
