// Scans the strings of common YAML, quoted and unquoted, line by line. Throws for rare syntax.

import type { SourceText, Span } from "../model/source.ts";

/** What an unquoted text cannot begin with. A dash, a question mark or a colon may, before something else than a space. */
const INDICATORS = new Set("?:,[]{}#&*!|>'\"%@`");
/** Thrown if the source needs the full parser. */
export const UNSUPPORTED = Symbol("left to the whole reader");

/** What ends an unquoted text inside brackets. */
export const FLOW = ",[]{}";
export const NEWLINE = 10;
export const SPACE = 32;
export const HASH = 35;
export const DASH = 45;
const COLON = 58;

/** Whether the next character makes a dash or a colon before it an indicator. */
function isBreak(next: string | undefined, stops: string): boolean {
  return next === undefined || next === " " || next === "\n" || (stops === FLOW && FLOW.includes(next));
}

export class StringScanner {
  readonly source: SourceText;
  readonly text: string;
  at = 0;
  /** Column of the line that is read next; -1 at the end. */
  column = -1;
  /** Where the line ended that was read last. */
  lineEnd = 0;

  constructor(source: SourceText) {
    this.source = source;
    this.text = source.text;
  }

  /** To the first character of the next line that holds something. Stands at the start of a line. */
  toLine(): void {
    const text = this.text;
    let start = this.at;
    for (;;) {
      let at = start;
      while (text.charCodeAt(at) === SPACE) at++;
      if (at >= text.length) {
        this.at = text.length;
        this.column = -1;
        return;
      }
      const code = text.charCodeAt(at);
      if (code !== NEWLINE && code !== HASH) {
        this.at = at;
        this.column = at - start;
        return;
      }
      const end = text.indexOf("\n", at);
      start = end < 0 ? text.length : end + 1;
    }
  }

  /** Past what may follow a value on its line, and to the next one. */
  endLine(): void {
    const begin = this.at;
    this.spaces();
    const code = this.text.charCodeAt(this.at);
    if (this.at < this.text.length && code !== NEWLINE && (code !== HASH || this.at === begin)) unsupported();
    const end = this.text.indexOf("\n", this.at);
    this.lineEnd = end < 0 ? this.text.length : end + 1;
    this.at = this.lineEnd;
    this.toLine();
  }

  spaces(): void {
    while (this.text.charCodeAt(this.at) === SPACE) this.at++;
  }

  quoted(quote: string): string {
    const { length } = this.text;
    let text = "";
    for (let at = this.at + 1, from = at; at < length; at++) {
      const here = this.text[at];
      if (here === "\n" || (here === "\\" && quote === '"')) unsupported();
      if (here !== quote) continue;
      text += this.text.slice(from, at);
      if (quote === "'" && this.text[at + 1] === "'") {
        from = at + 1;
        at++;
        continue;
      }
      this.at = at + 1;
      return text;
    }
    return unsupported();
  }

  /** An unquoted text on one line. Without stops it goes to the end of the line, with them to what they end at. */
  plain(stops: string): string {
    const text = this.text;
    const start = this.at;
    const first = text[start] ?? "\n";
    if (INDICATORS.has(first) || first === "\n" || (first === "-" && isBreak(text[start + 1], stops)))
      unsupported();
    let at = start;
    let end = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === NEWLINE) break;
      if (code === SPACE) continue;
      if (code === HASH && text.charCodeAt(at - 1) === SPACE) {
        if (stops !== "") unsupported();
        break;
      }
      if (code === COLON && isBreak(text[at + 1], stops)) {
        if (stops === "" || end !== at) unsupported();
        break;
      }
      if (stops === FLOW && FLOW.includes(text[at] ?? "")) break;
      end = at + 1;
    }
    this.at = end;
    return text.slice(start, end);
  }

  span(start: number, end: number): Span {
    return { source: this.source, start, end };
  }
}

export function unsupported(): never {
  throw UNSUPPORTED;
}
