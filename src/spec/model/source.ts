// Spans of a source file, converted to line, column, and frame only on demand.

import type { Location } from "../../core/diagnostic.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";

const WIDEST = 120;
/** The beginning of a long value is enough to find it. */
const LONGEST_MARK = 40;
const TAB = "  ";

/** A file's text, with what its diagnostics call it. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  /** Its path in the spec's folder; what it names is looked for from there. */
  readonly path: string;
  #starts: number[] | undefined;
  #masked: Span[] = [];
  #isHidden = false;
  readonly #sensitive: SensitiveTexts | undefined;
  /** Lines as they may be shown, because a search of a long line for each frame in it takes too long. */
  readonly #shown = new Map<string, string>();

  /** `sensitive`: what no frame may show. */
  constructor(file: string, text: string, path = "", sensitive?: SensitiveTexts) {
    this.file = file;
    this.text = text;
    this.path = path;
    this.#sensitive = sensitive;
  }

  /** Keeps a literal secret out of every frame. */
  mask(span: Span): void {
    this.#masked.push(span);
  }

  /** Keeps the whole text out of frames and messages: it has values of variables, of which any may be sensitive. */
  hide(): this {
    this.#isHidden = true;
    return this;
  }

  get isHidden(): boolean {
    return this.#isHidden;
  }

  /** Line of an offset, counted from 0. */
  lineOf(offset: number): number {
    const starts = this.#lines();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Where a line starts; the end of the text for lines that there are not. */
  startOf(line: number): number {
    return this.#lines()[line] ?? this.text.length;
  }

  get lineCount(): number {
    return this.#lines().length;
  }

  /** A line as it may be shown: no line end, no control characters, no secret. */
  shown(line: number): string {
    const key = `${line} ${this.#masked.length} ${this.#sensitive?.size}`;
    const shown = this.#shown.get(key) ?? this.#maskedLine(line);
    this.#shown.set(key, shown);
    return shown;
  }

  #maskedLine(line: number): string {
    const start = this.startOf(line);
    let text = this.text.slice(start, this.startOf(line + 1)).replace(/[\r\n]+$/, "");
    for (const span of this.#masked) {
      const from = Math.max(0, span.start - start);
      const to = Math.min(text.length, span.end - start);
      if (from < to) text = text.slice(0, from) + "*".repeat(to - from) + text.slice(to);
    }
    // A frame shows a part of a line, and of a sensitive text no part is recognized.
    return this.#sensitive?.masked(text, (part) => "*".repeat(part.length)) ?? text;
  }

  #lines(): readonly number[] {
    if (this.#starts === undefined) {
      this.#starts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1))
        this.#starts.push(at + 1);
    }
    return this.#starts;
  }
}

export interface Span {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
}

/** File, line, column and, unless it is not wanted, the frame of a span. */
export function locationOf(span: Span, framed = true): Location {
  const line = span.source.lineOf(span.start);
  const place = {
    file: span.source.file,
    line: line + 1,
    column: span.start - span.source.startOf(line) + 1,
  };
  if (!framed || span.source.isHidden) return place;
  // Reports need the location of every resource, but few need a frame.
  return {
    ...place,
    get frame() {
      return frameOf(span, line);
    },
  };
}

/** The marked line with its neighbors; long lines are truncated around the mark. */
function frameOf(span: Span, line: number): string {
  const { source } = span;
  const column = span.start - source.startOf(line);
  const left = Math.max(0, column - WIDEST / 2);
  const last = Math.min(source.lineCount - 1, line + 1);
  const width = String(last + 1).length;
  const rows: string[] = [];
  for (let at = Math.max(0, line - 1); at <= last; at++) {
    const whole = source.shown(at);
    if (at !== line && whole.trim() === "") continue;
    const cut = clean(whole.slice(left, left + WIDEST));
    const row = `${String(at + 1).padStart(width)} | ${left > 0 ? "…" : ""}${cut}`;
    rows.push(`${at === line ? ">" : " "} ${row.trimEnd()}`);
    if (at === line) {
      const indent = clean(whole.slice(left, column)).length + (left > 0 ? 1 : 0);
      const length = clean(
        whole.slice(column, Math.min(span.end - source.startOf(line), left + WIDEST)),
      ).length;
      rows.push(
        `  ${" ".repeat(width)} | ${" ".repeat(indent)}${"^".repeat(Math.min(Math.max(1, length), LONGEST_MARK))}`,
      );
    }
  }
  return rows.join("\n");
}

/** Tabs take two columns; what would steer a terminal, or cannot be seen, is shown as a box. */
function clean(text: string): string {
  return text.replaceAll("\t", TAB).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\u25a1");
}

/** The place of some characters of a string, which a file may write with quotes, escapes, and line breaks; the whole of it if they cannot be found. */
export function placeInText(node: Span, value: string, start: number, end = start + 1): Span {
  // Most strings are written without escapes and line breaks.
  const first =
    quoteOf(node) === "" || node.source.text.startsWith(value, node.start) ? node.start : node.start + 1;
  if (node.source.text.startsWith(value, first))
    return { source: node.source, start: first + start, end: first + end };
  const offsets = alignedWith(value, node.source.text, textStart(node), quoteOf(node), end);
  const from = offsets[start] ?? offsets.at(-1);
  if (from === undefined || offsets.length < Math.min(start, value.length)) return node;
  const to = (offsets[end - 1] ?? from) + 1;
  return { source: node.source, start: from, end: Math.max(to, from + 1) };
}

type Quote = '"' | "'" | "";

function quoteOf({ source, start }: Span): Quote {
  const first = source.text[start];
  return first === '"' || first === "'" ? first : "";
}

function textStart(node: Span): number {
  const { text } = node.source;
  if (quoteOf(node) !== "") return node.start + 1;
  const header = /[|>][^\n]*\n/y;
  header.lastIndex = node.start;
  return header.test(text) ? header.lastIndex : node.start;
}

/** The offset in the file of each of the first characters. White space of any length matches white space. */
function alignedWith(value: string, text: string, from: number, quote: Quote, count: number): number[] {
  const offsets: number[] = [];
  let at = from;
  for (const char of [...value.slice(0, count)].flatMap((text) => text.split(""))) {
    if (isBlank(char)) {
      offsets.push(at);
      if (isBlank(text[at])) at += 1;
      else if (quote === '"' && text[at] === "\\") at += 2;
      continue;
    }
    while (isBlank(text[at])) at += 1;
    if (text[at] !== char && quote === '"' && text[at] === "\\") at += 1;
    if (quote === "'" && char === "'" && text[at + 1] === "'") at += 1;
    if (quote === '"' && char === "\\" && text[at + 1] === "\\") at += 1;
    if (text[at] !== char) break;
    offsets.push(at);
    at += 1;
  }
  if (offsets.length === value.length) offsets.push(at);
  return offsets;
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\n" || char === "\t" || char === "\r";
}
