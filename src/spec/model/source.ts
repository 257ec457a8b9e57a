// Spans of a source file, converted to line, column, and frame only on demand.

import type { Location } from "../../core/diagnostic.ts";
import type { SensitiveTexts } from "../../core/sensitive-texts.ts";

const WIDEST = 120;
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
      rows.push(`  ${" ".repeat(width)} | ${" ".repeat(indent)}${"^".repeat(Math.max(1, length))}`);
    }
  }
  return rows.join("\n");
}

/** Tabs take two columns; what would steer a terminal, or cannot be seen, is shown as a box. */
function clean(text: string): string {
  return text.replaceAll("\t", TAB).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\u25a1");
}
