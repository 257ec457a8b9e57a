// Parses the most common YAML quickly, and leaves everything else to the full parser. Unquoted scalars are resolved by the core schema of YAML 1.2.

import { LIMITS } from "../model/limits.ts";
import type { SourceText, Span } from "../model/source.ts";
import {
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  type ScalarValue,
  type SpecNode,
  scalarAt,
} from "../model/tree.ts";

/** What an unquoted text cannot begin with. A dash, a question mark or a colon may, before something else than a space. */
const INDICATORS = new Set("?:,[]{}#&*!|>'\"%@`");
/** Thrown if the source needs the full parser. */
const UNSUPPORTED = Symbol("left to the whole reader");

/** What ends an unquoted text inside brackets. */
const FLOW = ",[]{}";
const NEWLINE = 10;
const SPACE = 32;
const HASH = 35;
const DASH = 45;
const COLON = 58;

/** Whether the next character makes a dash or a colon before it an indicator. */
function isBreak(next: string | undefined, stops: string): boolean {
  return next === undefined || next === " " || next === "\n" || (stops === FLOW && FLOW.includes(next));
}

class StringScanner {
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

function unsupported(): never {
  throw UNSUPPORTED;
}

/** The tree of a source, or undefined if any part is unusual: invalid, rare, or too large. Reports no problems. */
export function parseBlockYaml(source: SourceText): MapNode | undefined {
  if (tokensAtMost(source.text) > LIMITS.tokens || UNUSUAL.test(source.text)) return undefined;
  try {
    return new Reader(source).document();
  } catch (reason) {
    if (reason === UNSUPPORTED) return undefined;
    throw reason;
  }
}

/** An upper bound of the tokens that the full reader counts: each word, each run of spaces twice, each other character. */
function tokensAtMost(text: string): number {
  if (text.length <= LIMITS.tokens) return text.length;
  let count = 0;
  let previous = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code === SPACE ? SPACE : isWordCharacter(code) ? WORD : 0;
    if (kind === 0 || kind !== previous) count += kind === SPACE ? 2 : 1;
    previous = kind;
  }
  return count;
}

const WORD = 1;

function isWordCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95
  );
}

/** Tabs, carriage returns, byte order marks, other line ends, and marks of documents. */
const UNUSUAL = /[\t\r\ufeff\u0085\u2028\u2029]|^(?:---|\.\.\.|%)/m;
class Reader extends StringScanner {
  #depth = 0;

  document(): MapNode {
    this.toLine();
    const root = this.column === 0 ? this.#map(0) : unsupported();
    return this.at === this.text.length ? root : unsupported();
  }

  #enter(): void {
    // Each level here may be two of the whole reader's.
    if (++this.#depth > LIMITS.depth / 2) unsupported();
  }

  /** A map whose keys start in a column; its first key starts here. */
  #map(column: number): MapNode {
    this.#enter();
    const start = this.at;
    const members = new Map<string, MapMember>();
    for (let more = true; more; more = this.column === column && !this.#isEntry()) {
      const key = this.#key(":");
      if (members.has(key.name)) unsupported();
      members.set(key.name, { key: key.span, value: this.#value(column, column) });
    }
    if (this.column > column) unsupported();
    this.#depth--;
    return mapAt(this.span(start, this.lineEnd), members);
  }

  #list(column: number): SpecNode {
    this.#enter();
    const start = this.at;
    const items: SpecNode[] = [];
    do {
      this.at++;
      items.push(this.#item(column));
    } while (this.column === column && this.#isEntry());
    if (this.column > column) unsupported();
    this.#depth--;
    return listAt(this.span(start, this.lineEnd), items);
  }

  #item(column: number): SpecNode {
    const dash = this.at - 1;
    this.spaces();
    if (this.#isEntry()) unsupported();
    if (!this.#isPair()) {
      this.at = dash + 1;
      return this.#value(column, column + 1);
    }
    return this.#map(column + this.at - dash);
  }

  #isEntry(): boolean {
    if (this.text.charCodeAt(this.at) !== DASH) return false;
    const next = this.text.charCodeAt(this.at + 1);
    return next === SPACE || next === NEWLINE || this.at + 1 === this.text.length;
  }

  /** Whether the rest of the line is a key and what belongs to it. */
  #isPair(): boolean {
    const first = this.text[this.at] ?? "\n";
    if (first === "\n" || first === "#" || first === "[" || first === "{") return false;
    const newline = this.text.indexOf("\n", this.at);
    const line = this.text.slice(this.at, newline < 0 ? this.text.length : newline);
    if (first === '"' || first === "'") return /:(?: |$)/.test(line.slice(line.indexOf(first, 1)));
    return /:(?: |$)/.test(line);
  }

  /** A nested value must be right of the column `below`; a list may start in `listed`. */
  #value(below: number, listed: number): SpecNode {
    const colon = this.at;
    this.spaces();
    const at = this.at;
    const code = this.text.charCodeAt(at);
    if (at < this.text.length && code !== NEWLINE && code !== HASH) {
      if (at === colon) unsupported();
      const value = this.#inline("");
      this.endLine();
      if (this.column > below) unsupported();
      return value;
    }
    this.at = colon;
    this.endLine();
    if (this.column > below) return this.#isEntry() ? this.#list(this.column) : this.#map(this.column);
    if (this.column === listed && this.#isEntry()) return this.#list(listed);
    return scalarAt(this.span(at, at), null);
  }

  /** A value on one line. `stops`: the brackets' characters that end an unquoted text, inside brackets. */
  #inline(stops: string): SpecNode {
    const first = this.text[this.at];
    if (first === "{") return this.#flowMap();
    if (first === "[") return this.#flowList();
    const start = this.at;
    if (first === '"' || first === "'") {
      const text = this.quoted(first);
      return scalarAt(this.span(start, this.at), text);
    }
    const value = plainScalar(this.plain(stops));
    return value === undefined ? unsupported() : scalarAt(this.span(start, this.at), value);
  }

  #flowList(): SpecNode {
    this.#enter();
    const start = this.at++;
    const items: SpecNode[] = [];
    this.spaces();
    for (let open = this.text[this.at] !== "]"; open; open = this.#comma("]")) items.push(this.#inline(FLOW));
    this.at++;
    this.#depth--;
    return listAt(this.span(start, this.at), items);
  }

  #flowMap(): SpecNode {
    this.#enter();
    const start = this.at++;
    const members = new Map<string, MapMember>();
    this.spaces();
    for (let open = this.text[this.at] !== "}"; open; open = this.#comma("}")) {
      const key = this.#key(FLOW);
      if (members.has(key.name) || this.text.charCodeAt(this.at) !== SPACE) unsupported();
      this.spaces();
      members.set(key.name, { key: key.span, value: this.#inline(FLOW) });
    }
    this.at++;
    this.#depth--;
    return mapAt(this.span(start, this.at), members);
  }

  /** Past a comma, to the next entry; false at the closing bracket. */
  #comma(close: string): boolean {
    this.spaces();
    const here = this.text[this.at];
    if (here === close) return false;
    if (here !== ",") unsupported();
    this.at++;
    this.spaces();
    return true;
  }

  #key(stops: string): { readonly name: string; readonly span: Span } {
    const start = this.at;
    const first = this.text[start];
    const quoted = first === '"' || first === "'";
    const name = quoted ? this.quoted(first) : this.plain(stops === FLOW ? FLOW : ":");
    const span = this.span(start, this.at);
    if (this.text[this.at] !== ":" || name.length > LIMITS.keyLength / 2) unsupported();
    if (name === "__proto__" || (name === "<<" && !quoted)) unsupported();
    this.at++;
    return { name, span };
  }
}

const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const BASED = /^0o[0-7]+$|^0x[0-9a-fA-F]+$/;
const NOT_FINITE = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
const LONGEST = 40;

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** The value of an unquoted text; undefined for a number that JSON cannot hold. */
export function plainScalar(text: string): ScalarValue | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  // Numbers start with a digit, a sign or a point.
  if (first > 57 || first < 43) return text;
  if (INTEGER.test(text)) return text.length > LONGEST ? undefined : integer(text);
  if (BASED.test(text)) return text.length > LONGEST ? undefined : integer(text);
  if (FLOAT.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  return NOT_FINITE.test(text) ? undefined : text;
}

/** Exact, whatever its size: beyond 2^53 a bigint. */
function integer(text: string): number | bigint {
  const value = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text.replace(/^\+/, ""));
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
