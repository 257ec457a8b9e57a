// The cells of a notebook, the same in every format of its file, without additions of the service: what notebooks are compared by.

import { digest, fingerprint } from "../../core/digest.ts";
import { parseJson } from "../../core/exact-json.ts";
import { isObject, type Json } from "../../core/json.ts";

export const SOURCE_FORMATS = ["SOURCE", "HTML", "JUPYTER", "DBC"] as const;
type SourceFormat = (typeof SOURCE_FORMATS)[number];

export const sourceFormat = (value: Json | undefined): SourceFormat =>
  SOURCE_FORMATS.find((format) => format === value) ?? "SOURCE";

/** Whether the cells of a file can be read here; HTML and DBC files are archives of the service's own making. */
export const isReadable = (format: SourceFormat): boolean => format === "SOURCE" || format === "JUPYTER";

/** Digest of a notebook's cells; of the bytes where they cannot be read. */
export function contentDigest(bytes: Uint8Array, format: SourceFormat, language: Json | undefined): string {
  const cells = cellsOf(bytes, format, language);
  return cells === undefined ? digest(bytes) : fingerprint(cells);
}

/** The cells in order, each below a line with its type and title; undefined if they cannot be read. */
export function contentText(
  bytes: Uint8Array,
  format: SourceFormat,
  language: Json | undefined,
): string | undefined {
  const cells = cellsOf(bytes, format, language);
  return cells
    ?.map((cell) => `── ${[cell.kind, cell.title].filter(Boolean).join(" · ")}\n${cell.text}\n`)
    .join("\n");
}

type Cell = { readonly kind: "code" | "markdown"; readonly text: string; readonly title?: string };

function cellsOf(
  bytes: Uint8Array,
  format: SourceFormat,
  language: Json | undefined,
): readonly Cell[] | undefined {
  if (!isReadable(format)) return undefined;
  const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  const cells = format === "SOURCE" ? sourceCells(text, language) : jupyterCells(text);
  const [only, ...more] = cells ?? [];
  return more.length === 0 && only?.text === "" && only.title === undefined ? [] : cells;
}

const withoutBlankEnds = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** A command that begins with `%md` is markdown, however it came. */
function cellOf(command: string, isMarkdown: boolean, title: string | undefined): Cell {
  const text = withoutBlankEnds(command);
  const marked = text.replace(/^%md(?:[ \t]*\n|[ \t]+|$)/, "");
  const kind = isMarkdown || marked !== text ? "markdown" : "code";
  return { kind, text: withoutBlankEnds(marked), title };
}

const COMMENTS: Readonly<Record<string, string>> = { SQL: "--", SCALA: "//" };
const HEADER = /^(?:#|--|\/\/) (?:\S+ )?notebook source[ \t]*(?:\n|$)/i;

/** Comments of the service separate the cells and contain text in other languages. */
function sourceCells(text: string, language: Json | undefined): readonly Cell[] {
  const comment = COMMENTS[String(language)] ?? "#";
  const separator = new RegExp(`^${comment} COMMAND -+[ \\t]*$`, "m");
  return text
    .replace(HEADER, "")
    .split(separator)
    .map((chunk) => sourceCell(withoutBlankEnds(chunk), comment));
}

function sourceCell(chunk: string, comment: string): Cell {
  const [first = "", ...others] = chunk.split("\n");
  const titled = first.startsWith(`${comment} DBTITLE `);
  const title = titled ? /^\S+ DBTITLE \d,(.*)$/.exec(first.trimEnd())?.[1] : undefined;
  const body = title === undefined ? chunk : withoutBlankEnds(others.join("\n"));
  const magic = `${comment} MAGIC`;
  if (!body.startsWith(magic)) return { ...cellOf("", false, title), text: body };
  const lines = body
    .split("\n")
    .map((line) => (line.startsWith(magic) ? line.slice(magic.length).replace(/^ /, "") : line));
  return cellOf(lines.join("\n"), false, title);
}

/** Outputs, counters and the rest of the metadata are what running leaves behind. */
function jupyterCells(text: string): readonly Cell[] | undefined {
  const file = parsed(text);
  if (!isObject(file) || !Array.isArray(file.cells)) return undefined;
  return file.cells.filter(isObject).map((cell) => {
    const source = Array.isArray(cell.source) ? cell.source.map(String).join("") : String(cell.source ?? "");
    const title = isObject(cell.metadata) ? cell.metadata.title : undefined;
    const command = source.replaceAll("\r\n", "\n");
    return cellOf(command, cell.cell_type !== "code", typeof title === "string" ? title : undefined);
  });
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
