// Text for a terminal: colors that the caller turns on or off, tables with columns as wide as their widest cell, and values
// on one line.

import picocolors from "picocolors";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { shownText } from "../../core/sensitive/digests.ts";
import { grouped } from "../../core/sentences.ts";
import { printable } from "./printable.ts";

export type Paint = (text: string) => string;

export interface Colors {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  readonly magenta: Paint;
  /** White on red: for what destroys. */
  readonly alarm: Paint;
}

export function colorsFor(enabled: boolean): Colors {
  const { bold, dim, red, green, yellow, cyan, magenta, bgRed, white } = picocolors.createColors(enabled);
  return { bold, dim, red, green, yellow, cyan, magenta, alarm: (text) => bgRed(white(bold(text))) };
}

export function diffPaint(line: string, { green, red }: Colors, ofContext: Paint = String): Paint {
  if (line.startsWith("+")) return green;
  return line.startsWith("-") ? red : ofContext;
}

/** Colors if forced, none with NO_COLOR or a dumb terminal, else colors on a terminal. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const set = (name: string) => (env[name] ?? "") !== "";
  if (set("NO_COLOR")) return false;
  if (set("FORCE_COLOR")) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb" && !set("CI");
}

const COLOR_CODE = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");
/** Lines of a spec with carets below them keep their columns. */
const FRAME = /^\s*>?\s*\d* \|/;
const NARROWEST = 40;
const HANGING = 4;

/** A changed line of the content of a notebook or file. */
const CONTENT = /^ {8}[-+]/;

/**
 * Breaks long lines between words; the rest of a line is indented more than its start. Lines of a spec are shortened instead, all at
 * the same columns, so that the carets stay below what they mark. Lines of contents are shortened at their end, unless `isWhole`.
 */
export function wrapText(text: string, columns: number, isWhole = false): string {
  if (columns < NARROWEST) return text;
  const lines: string[] = [];
  let frame: string[] = [];
  for (const line of text.split("\n")) {
    const plain = line.replace(COLOR_CODE, "");
    if (FRAME.test(plain)) frame.push(line);
    else {
      const isCut = !isWhole && CONTENT.test(plain);
      const fitting = isCut ? [fittedContent(line, columns)] : wrapLine(line, columns);
      lines.push(...fittedFrame(frame, columns), ...fitting);
      frame = [];
    }
  }
  return [...lines, ...fittedFrame(frame, columns)].join("\n");
}

function fittedContent(line: string, columns: number): string {
  const plain = [...line.replace(COLOR_CODE, "")];
  return plain.length <= columns ? line : recolored(line, `${plain.slice(0, columns - 1).join("")}…`);
}

/** The text in the color of the line. */
function recolored(line: string, text: string): string {
  const codes = line.match(COLOR_CODE);
  return `${codes?.at(0) ?? ""}${text}${codes?.at(-1) ?? ""}`;
}

/** A mark further to the right keeps so many columns in front of it. */
const BEFORE_MARK = 12;

function fittedFrame(lines: readonly string[], columns: number): readonly string[] {
  const plain = lines.map((line) => [...line.replace(COLOR_CODE, "")]);
  if (plain.every(({ length }) => length <= columns)) return lines;
  const marked = plain.map((line) => line.join("")).find((line) => /\| *\^+ *$/.test(line)) ?? "";
  const mark = marked.indexOf("^");
  const end = Math.min(marked.trimEnd().length, mark + columns / 4);
  return plain.map((line, at) => {
    const gutter = line.indexOf("|") + 2;
    const room = columns - gutter;
    const shift = end <= columns ? 0 : mark - gutter - BEFORE_MARK;
    const content = line.slice(gutter + shift);
    const isMarks = line.join("") === marked;
    const cut =
      content.length > room && !isMarks ? [...content.slice(0, room - 1), "…"] : content.slice(0, room);
    const shown = shift > 0 && !isMarks && cut.length > 0 ? ["…", ...cut.slice(1)] : cut;
    return recolored(lines[at] ?? "", `${line.slice(0, gutter).join("")}${shown.join("")}`);
  });
}

/** The mark of a note, `#`, stays with the first word of the note. */
const WORD_END = new RegExp(`(?<=\\S)(?<! (?:${COLOR_CODE.source})?#)(?= )`);

function wrapLine(line: string, columns: number): readonly string[] {
  const widthOf = (part: string) => [...part.replace(COLOR_CODE, "")].length;
  const plain = line.replace(COLOR_CODE, "");
  if (widthOf(line) <= columns) return [line];
  const indent = " ".repeat(Math.min(plain.length - plain.trimStart().length + HANGING, columns / 2));
  const lines: string[] = [];
  let current = "";
  for (const part of line.split(WORD_END)) {
    const isFull = current !== "" && widthOf(current) + widthOf(part) > columns;
    if (isFull) lines.push(current);
    current = isFull ? indent + part.trimStart() : current + part;
  }
  return [...lines, current];
}

interface TableStyle {
  readonly indent?: string;
  /** Of the first row. */
  readonly head?: Paint;
  /** Of the first column. */
  readonly label?: Paint;
  /** Columns whose cells are aligned on the right. */
  readonly right?: (column: number) => boolean;
  /** A longer cell pushes only its own line to the right. */
  readonly widest?: number;
}

/** Lines with columns as wide as their widest cell. Cells must be printable already; only those of the last column may have colors. */
export function textTable(
  rows: readonly (readonly string[])[],
  {
    indent = "",
    head = String,
    label = String,
    right = () => false,
    widest = Number.POSITIVE_INFINITY,
  }: TableStyle = {},
): readonly string[] {
  const lengthOf = (cell: string) => [...cell].length;
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) {
      const length = lengthOf(cell);
      if (length <= widest) widths[column] = Math.max(widths[column] ?? 0, length);
    }
  return rows.map((row, at) => {
    const cells = row.map((cell, column) => {
      const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell)));
      if (right(column)) return space + cell;
      return column === 0 ? label(cell + space) : cell + space;
    });
    const line = `${indent}${cells.join("  ").trimEnd()}`;
    return at === 0 ? head(line) : line;
  });
}

const LONGEST = 400;

const BARE = /^[\w@./+~(-][\w@./+~:=()-]*$/;
const OTHER_TYPE = /^(?:[-+.]?\d[\d_.eE+-]*|0x.*|true|false|null|none|~)$/i;

export function valueText(value: Json | undefined, most = LONGEST): string {
  return value === undefined ? "(none)" : cut(inline(value), most);
}

function inline(value: Json): string {
  if (typeof value === "string") return stringText(value);
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, member]) => `${stringText(key)}: ${inline(member)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return String(value);
}

function stringText(whole: string): string {
  const text = shownText(whole);
  if (text === "(sensitive)") return text;
  return printable(BARE.test(text) && !OTHER_TYPE.test(text) ? text : JSON.stringify(text));
}

export function cut(text: string, most = LONGEST): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${grouped(text.length - most)} more characters)`;
}

/** Two lists compared as sets: removed and added members, in the order of the lists. */
export function setChange(
  before: readonly Json[],
  after: readonly Json[],
): { readonly gone: Json[]; readonly come: Json[] } {
  const old = new Set(before.map(canonicalJson));
  const next = new Set(after.map(canonicalJson));
  return {
    gone: before.filter((item) => !next.has(canonicalJson(item))),
    come: after.filter((item) => !old.has(canonicalJson(item))),
  };
}
