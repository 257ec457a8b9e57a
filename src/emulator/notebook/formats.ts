// A stored notebook and its three formats: SOURCE (program text, comments separate the cells), JUPYTER (nbformat 4), and HTML
// (a page that contains the notebook). The imported bytes are stored, so that an export in their format returns the same bytes.

import { assertShallow } from "../../core/exact-json.ts";
import { defined, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import {
  type Cell,
  cellOf,
  commandOf,
  fromModel,
  type Language,
  languageNamed,
  type Notebook,
  notebookText,
  parseObject,
  toBytes,
  toModel,
  unreadable,
} from "./notebook.ts";

/** The formats of one notebook; an archive is unpacked into them. */
export type DocumentFormat = "SOURCE" | "HTML" | "JUPYTER";

export interface Document {
  readonly format: DocumentFormat;
  readonly language: Language;
  readonly bytes: Uint8Array;
}

/** The document of imported bytes. Throws INVALID_PARAMETER_VALUE when they are not what the format says. */
export function documentOf(format: DocumentFormat, bytes: Uint8Array, language: Language): Document {
  const named = format === "SOURCE" ? language : FORMATS[format].read(bytes).language;
  return { format, bytes, language: named };
}

export function notebookOf({ format, bytes, language }: Document): Notebook {
  return FORMATS[format].read(bytes, language);
}

export function exportBytes(document: Document, format: DocumentFormat, name: string): Uint8Array {
  return document.format === format ? document.bytes : write(notebookOf(document), format, name);
}

export const write = (notebook: Notebook, format: DocumentFormat, name: string): Uint8Array =>
  FORMATS[format].write(notebook, name);

const FORMATS = {
  SOURCE: { read: readSource, write: writeSource },
  HTML: { read: readHtml, write: writeHtml },
  JUPYTER: { read: readJupyter, write: writeJupyter },
} as const;

const COMMENT: Readonly<Record<Language, string>> = { PYTHON: "#", R: "#", SQL: "--", SCALA: "//" };

/** The header as users' files and their tools know it; any name before "notebook source" is read. */
const HEADER = "Databricks notebook source";
const ANY_HEADER = /^(?:\S+ )?notebook source$/i;
const SEPARATOR = "COMMAND ----------";
const MAGIC = "MAGIC";
const TITLE = "DBTITLE";

export function readSource(bytes: Uint8Array, language: Language): Notebook {
  const comment = COMMENT[language];
  const lines = notebookText(bytes).replaceAll("\r\n", "\n").split("\n");
  const first = lines[0] ?? "";
  const body = isComment(first, comment) && ANY_HEADER.test(after(first, comment)) ? lines.slice(1) : lines;
  const chunks = split(body, `${comment} ${SEPARATOR}`).map(withoutBlankEnds);
  const [only, ...more] = chunks;
  if (more.length === 0 && only?.length === 0) return { language, cells: [] };
  return { language, cells: chunks.map((chunk) => readSourceCell(chunk, comment)) };
}

export function writeSource({ language, cells }: Notebook): Uint8Array {
  const comment = COMMENT[language];
  const texts = cells.map((cell) => writeSourceCell(cell, comment));
  return toBytes(`${comment} ${HEADER}\n${texts.join(`\n\n${comment} ${SEPARATOR}\n\n`)}\n`);
}

function readSourceCell(lines: readonly string[], comment: string): Cell {
  const [first = ""] = lines;
  const title = titleOf(first, comment);
  const rest = title === undefined ? lines : withoutBlankEnds(lines.slice(1));
  const magic = `${comment} ${MAGIC}`;
  const isMagic = rest[0]?.startsWith(magic) ?? false;
  const text = isMagic ? rest.map((line) => withoutMagic(line, magic)) : rest;
  return isMagic ? cellOf(text.join("\n"), title) : { ...cellOf("", title), text: text.join("\n") };
}

function writeSourceCell(cell: Cell, comment: string): string {
  const command = commandOf(cell);
  const lines = command.split("\n");
  const isMagic = cell.kind === "markdown" || command.startsWith("%");
  const text = isMagic ? lines.map((line) => `${comment} ${MAGIC} ${line}`) : lines;
  const title =
    cell.title === undefined ? [] : [`${comment} ${TITLE} 1,${cell.title.replace(/\s*\n\s*/g, " ")}`];
  return [...title, ...text].join("\n");
}

function withoutMagic(line: string, magic: string): string {
  if (!line.startsWith(magic)) return line;
  const text = line.slice(magic.length);
  return text.startsWith(" ") ? text.slice(1) : text;
}

/** A comment contains the title of a cell: a flag that shows it, and the text. */
function titleOf(line: string, comment: string): string | undefined {
  return isComment(line, comment) ? /^DBTITLE \d,(.*)$/.exec(after(line, comment))?.[1] : undefined;
}

const isComment = (line: string, comment: string): boolean => line.startsWith(`${comment} `);
const after = (line: string, comment: string): string => line.slice(comment.length + 1).trimEnd();

function split(lines: readonly string[], separator: string): string[][] {
  const chunks: string[][] = [[]];
  for (const line of lines) {
    if (line.trimEnd() === separator) chunks.push([]);
    else chunks.at(-1)?.push(line);
  }
  return chunks;
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  let from = 0;
  let to = lines.length;
  while (from < to && lines[from]?.trim() === "") from++;
  while (to > from && lines[to - 1]?.trim() === "") to--;
  return lines.slice(from, to);
}

const KERNELS: Readonly<Record<Language, { readonly name: string; readonly language: string }>> = {
  PYTHON: { name: "python3", language: "python" },
  R: { name: "ir", language: "R" },
  SCALA: { name: "scala", language: "scala" },
  SQL: { name: "sql", language: "sql" },
};

export function readJupyter(bytes: Uint8Array): Notebook {
  const file = parseObject(bytes);
  if (file === undefined) throw unreadable("JUPYTER", "it is not JSON");
  if (file.nbformat !== 4) throw unreadable("JUPYTER", "nbformat must be 4");
  const { cells } = file;
  if (!Array.isArray(cells)) throw unreadable("JUPYTER", "it has no list of cells");
  return { language: languageOf(objectIn(file.metadata)), cells: cells.map(readJupyterCell) };
}

export function writeJupyter({ language, cells }: Notebook, name: string): Uint8Array {
  const kernel = KERNELS[language];
  const file = {
    cells: cells.map(writeJupyterCell),
    metadata: {
      kernelspec: { display_name: kernel.language, language: kernel.language, name: kernel.name },
      language_info: { name: kernel.language },
      name,
    },
    nbformat: 4,
    nbformat_minor: 4,
  };
  return toBytes(`${JSON.stringify(file, null, 1)}\n`);
}

function readJupyterCell(cell: Json, index: number): Cell {
  const { cell_type: type, source, metadata } = objectIn(cell);
  const text = typeof source === "string" ? source : Array.isArray(source) ? source.join("") : undefined;
  if (text === undefined) throw unreadable("JUPYTER", `cell ${index} has no source`);
  const title = objectIn(metadata).title;
  const named = typeof title === "string" ? { title } : {};
  if (type === "code") return { ...cellOf(text), ...named };
  if (type === "markdown" || type === "raw") return { kind: "markdown", text, ...named };
  throw unreadable("JUPYTER", `cell ${index} has the unknown type ${JSON.stringify(type)}`);
}

function writeJupyterCell({ kind, text, title }: Cell): JsonObject {
  const metadata: JsonObject = defined({ title });
  const source = text === "" ? [] : text.split(/(?<=\n)/);
  return kind === "markdown"
    ? { cell_type: "markdown", metadata, source }
    : { cell_type: "code", execution_count: null, metadata, outputs: [], source };
}

/** What the kernel says of its language; Python where it says nothing. */
function languageOf(metadata: JsonObject): Language {
  const named = objectIn(metadata.language_info).name ?? objectIn(metadata.kernelspec).language ?? "python";
  const language = languageNamed(named);
  if (language === undefined)
    throw unreadable("JUPYTER", `its language ${JSON.stringify(named)} is not supported`);
  return language;
}

const OPENING = '<script id="notebook-model" type="application/json">';
const CLOSING = "</script>";
/** The service's own pages hold the model as base64 of percent-encoded JSON. */
const ENCODED_MODEL = /__\w*NOTEBOOK_MODEL = ['"]([A-Za-z0-9+/=]*)['"]/;

export function readHtml(bytes: Uint8Array): Notebook {
  const page = notebookText(bytes);
  const model = modelIn(page);
  if (model === undefined) throw unreadable("HTML", "the page does not contain a notebook");
  return fromModel(model, "HTML");
}

export function writeHtml(notebook: Notebook, name: string): Uint8Array {
  // No "<" in the model can end the script.
  const model = JSON.stringify(toModel(notebook, name)).replaceAll("<", "\\u003c");
  const lines = [
    "<!DOCTYPE html>",
    `<html><head><meta charset="utf-8"><title>${escapedHtml(name)}</title>`,
    "<style>body{font-family:sans-serif;margin:2em}pre{background:#f4f4f4;padding:1em}.markdown{white-space:pre-wrap}</style>",
    `${OPENING}${model}${CLOSING}`,
    "</head><body>",
    `<h1>${escapedHtml(name)}</h1><p>${notebook.language.toLowerCase()}</p>`,
    ...notebook.cells.map(shown),
    "</body></html>",
  ];
  return toBytes(`${lines.join("\n")}\n`);
}

function shown({ kind, text, title }: Cell): string {
  const heading = title === undefined ? "" : `<h2>${escapedHtml(title)}</h2>`;
  const body = escapedHtml(text);
  return (
    heading +
    (kind === "markdown" ? `<div class="markdown">${body}</div>` : `<pre><code>${body}</code></pre>`)
  );
}

function modelIn(page: string): Json | undefined {
  try {
    const from = page.indexOf(OPENING);
    const to = page.indexOf(CLOSING, from);
    if (from >= 0 && to >= 0) return parsed(page.slice(from + OPENING.length, to));
    const encoded = ENCODED_MODEL.exec(page)?.[1];
    return encoded === undefined ? undefined : parsed(decodeURIComponent(atob(encoded)));
  } catch {
    throw unreadable("HTML", "the notebook in the page is damaged");
  }
}

function parsed(text: string): Json {
  assertShallow(text);
  return JSON.parse(text) as Json;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapedHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
