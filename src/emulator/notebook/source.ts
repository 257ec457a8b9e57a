// SOURCE: a notebook as program text; comments separate the cells and contain text in other languages.

import {
  type Cell,
  cellOf,
  commandOf,
  type Language,
  type Notebook,
  notebookText,
  toBytes,
} from "./notebook.ts";

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
  return { language, cells: chunks.map((chunk) => readCell(chunk, comment)) };
}

export function writeSource({ language, cells }: Notebook): Uint8Array {
  const comment = COMMENT[language];
  const texts = cells.map((cell) => writeCell(cell, comment));
  return toBytes(`${comment} ${HEADER}\n${texts.join(`\n\n${comment} ${SEPARATOR}\n\n`)}\n`);
}

function readCell(lines: readonly string[], comment: string): Cell {
  const [first = ""] = lines;
  const title = titleOf(first, comment);
  const rest = title === undefined ? lines : withoutBlankEnds(lines.slice(1));
  const magic = `${comment} ${MAGIC}`;
  const isMagic = rest[0]?.startsWith(magic) ?? false;
  const text = isMagic ? rest.map((line) => withoutMagic(line, magic)) : rest;
  return isMagic ? cellOf(text.join("\n"), title) : { ...cellOf("", title), text: text.join("\n") };
}

function writeCell(cell: Cell, comment: string): string {
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
