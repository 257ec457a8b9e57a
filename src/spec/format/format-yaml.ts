// Formats a YAML file: splits it into pieces, and lays them out. Only spaces and line breaks change; each result is checked to have the same values.

import type { CST } from "yaml";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Findings } from "../model/findings.ts";
import { SourceText } from "../model/source.ts";
import { plain, type SpecNode } from "../model/tree.ts";
import { lexicalTokens } from "../yaml/lexical-limits.ts";
import { readYaml } from "../yaml/read-yaml.ts";

export function formatYaml(source: SourceText, findings: Findings): string | undefined {
  const tree = readYaml(source, findings);
  if (tree === undefined) return undefined;
  const ending = /\r?\n/.exec(source.text)?.[0] ?? "\n";
  const text = source.text.replaceAll("\r\n", "\n");
  const tokens = lexicalTokens(new SourceText(source.file, text), findings);
  if (tokens === undefined) return undefined;
  const pieces = new Pieces(text);
  for (const token of tokens) pieces.top(token);
  const formatted = laidOut(text, pieces.all).replaceAll("\n", ending);
  const again = readYaml(new SourceText(source.file, formatted), findings);
  if (again !== undefined && isSame(tree, again) && squeezed(source.text) === squeezed(formatted))
    return formatted;
  findings.error("SPEC_YAML", "the file cannot be formatted without changing its values", tree, {
    hint: "it is left unchanged; format it by hand, and report this file as a bug",
  });
  return undefined;
}

/** The order of keys that look like numbers is not compared; `squeezed` compares it. */
function isSame(a: SpecNode, b: SpecNode): boolean {
  return stringifyJson(plain(a)) === stringifyJson(plain(b));
}

function squeezed(text: string): string {
  return text.replace(/[ \t\r\n]+/g, "");
}

/** The position of a node. `depth`: of flow collections around it, whose lines begin at `base`. */
interface Nesting {
  readonly frame: Frame;
  readonly depth: number;
  readonly base: number;
}

type Item = CST.CollectionItem | CST.BlockMap["items"][number];

class Pieces {
  readonly all: Piece[] = [];
  readonly #text: string;
  readonly #root: Frame = { parent: undefined, written: -1, column: -STEP };

  constructor(text: string) {
    this.#text = text;
  }

  top(token: CST.Token): void {
    const nesting = { frame: this.#root, depth: 0, base: 0 };
    if (token.type === "document") {
      this.#marks(token.start, nesting, 0);
      if (token.value !== undefined) this.#node(token.value, nesting);
      this.#marks(token.end, nesting, 0);
    } else if (token.type === "doc-end") {
      this.#add(token.offset, token.source, "mark", nesting, 0);
      this.#marks(token.end, nesting, 0);
    } else this.#marks([token], nesting, 0);
  }

  #node(token: CST.Token, nesting: Nesting): void {
    if (token.type === "block-map") this.#map(token, this.#inside(token, nesting));
    else if (token.type === "block-seq") this.#list(token, this.#inside(token, nesting));
    else if (token.type === "flow-collection") this.#flow(token, nesting);
    else if (token.type === "block-scalar") this.#block(token, nesting);
    else if (isFlowScalar(token)) this.#scalar(token, nesting);
    else this.#marks([token], nesting, valueColumn(nesting));
  }

  #scalar(token: CST.FlowScalar, nesting: Nesting): void {
    const column = valueColumn(nesting);
    const kind = token.type === "alias" ? "name" : "value";
    this.#add(token.offset, token.source, kind, nesting, column, flowLines(token, column));
    this.#marks(token.end, nesting, column);
  }

  #inside(token: CST.BlockMap | CST.BlockSequence, { frame }: Nesting): Nesting {
    const lineStart = this.#text.lastIndexOf("\n", token.offset - 1) + 1;
    const column = frame.column + STEP;
    return { frame: { parent: frame, written: token.offset - lineStart, column }, depth: 0, base: column };
  }

  #map({ items }: CST.BlockMap, nesting: Nesting): void {
    const { column } = nesting.frame;
    for (const item of items) {
      this.#marks(item.start, nesting, column);
      this.#pair(item, nesting, column);
    }
  }

  /** A scalar key begins in the column of its map. */
  #pair({ key, sep, value }: Item, nesting: Nesting, column: number): void {
    if (key?.type === "block-map" || key?.type === "block-seq") this.#node(key, nesting);
    else if (key !== undefined && key !== null) this.#key(key, nesting, column);
    let isAfterColon = false;
    for (const token of sep ?? []) {
      this.#marks([token], nesting, isAfterColon ? column + STEP : column);
      isAfterColon ||= token.type === "map-value-ind";
    }
    if (value !== undefined) this.#node(value, nesting);
  }

  #key(key: CST.Token, nesting: Nesting, column: number): void {
    const from = this.all.length;
    this.#node(key, nesting);
    const first = this.all[from];
    if (first !== undefined) this.all[from] = { ...first, column };
  }

  #list({ items }: CST.BlockSequence, nesting: Nesting): void {
    const { column } = nesting.frame;
    for (const { start, value } of items) {
      let isAfterDash = false;
      for (const token of start) {
        this.#marks([token], nesting, isAfterDash ? column + STEP : column);
        isAfterDash ||= token.type === "seq-item-ind";
      }
      if (value !== undefined) this.#node(value, nesting);
    }
  }

  /** Lines of a flow collection are indented once for each bracket that is open; its last bracket once less. */
  #flow(token: CST.FlowCollection, nesting: Nesting): void {
    const opening = valueColumn(nesting);
    const begins = this.#beginsLine(token.offset);
    const base = nesting.depth > 0 ? nesting.base : begins ? opening : Math.max(0, nesting.frame.column);
    const inner: Nesting = { frame: nesting.frame, depth: nesting.depth + 1, base };
    this.#add(token.offset, token.start.source, "open", nesting, opening);
    for (const item of token.items) {
      this.#marks(item.start, inner, valueColumn(inner));
      this.#pair(item, inner, valueColumn(inner));
    }
    const closing = base + STEP * nesting.depth;
    for (const sourceToken of token.end) {
      const isBracket = sourceToken.type === "flow-map-end" || sourceToken.type === "flow-seq-end";
      if (isBracket) this.#add(sourceToken.offset, sourceToken.source, "close", nesting, closing);
      else this.#marks([sourceToken], nesting, valueColumn(nesting));
    }
  }

  #block(token: CST.BlockScalar, nesting: Nesting): void {
    const header = token.props.find(({ type }) => type === "block-scalar-header");
    this.#marks(token.props, nesting, valueColumn(nesting));
    const { frame } = nesting;
    const shape = header === undefined ? "" : sourceOf(header);
    const body = blockBody(token.source, shape, frame, valueColumn(nesting));
    if (body === undefined) return;
    const last = token.props.at(-1);
    const start = last === undefined ? token.offset : last.offset + sourceOf(last).length;
    this.#add(start, token.source.slice(0, body.length), "body", nesting, 0, body.text);
  }

  #marks(tokens: readonly CST.Token[] | undefined, nesting: Nesting, column: number): void {
    for (const token of tokens ?? []) {
      if (token.type === "space" || token.type === "newline") continue;
      if (token.type === "comment") this.#comment(token, nesting, column);
      else this.#add(token.offset, sourceOf(token), KINDS[token.type] ?? "mark", nesting, column);
    }
  }

  /** Inside brackets a comment has the column of what they contain. Outside it is found with its neighbors. */
  #comment(token: CST.SourceToken, nesting: Nesting, column: number): void {
    const { depth } = nesting;
    this.#add(token.offset, token.source, depth > 0 ? "inner comment" : "comment", nesting, column);
  }

  #beginsLine(offset: number): boolean {
    let at = offset - 1;
    while (this.#text[at] === " " || this.#text[at] === "\t") at -= 1;
    return at < 0 || this.#text[at] === "\n";
  }

  #add(
    start: number,
    source: string,
    kind: PieceKind,
    { frame }: Nesting,
    column: number,
    text: string = source.trimEnd(),
  ): void {
    this.all.push({ start, end: start + source.length, kind, text, frame, column });
  }
}

const SCALARS: readonly CST.Token["type"][] = [
  "alias",
  "scalar",
  "single-quoted-scalar",
  "double-quoted-scalar",
];

function isFlowScalar(token: CST.Token): token is CST.FlowScalar {
  return SCALARS.includes(token.type);
}

function sourceOf(token: CST.Token): string {
  return "source" in token && typeof token.source === "string" ? token.source : "";
}

function valueColumn({ frame, depth, base }: Nesting): number {
  return depth > 0 ? base + STEP * depth : frame.column + STEP;
}

const KINDS: Readonly<Partial<Record<CST.Token["type"], PieceKind>>> = {
  anchor: "name",
  tag: "name",
  "map-value-ind": "colon",
  comma: "comma",
};

/** A block collection: the column where it was written, and the one where it is put. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly written: number;
  readonly column: number;
}

/** `name`: an alias, an anchor, or a tag, which a colon could continue. `body`: the lines of a block scalar. */
type PieceKind =
  | "value"
  | "name"
  | "colon"
  | "comma"
  | "open"
  | "close"
  | "mark"
  | "comment"
  | "inner comment"
  | "body";

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly kind: PieceKind;
  readonly text: string;
  readonly frame: Frame;
  /** The column if a line begins with it. */
  readonly column: number;
}

/** Columns between a collection and what it contains. */
const STEP = 2;

function laidOut(source: string, pieces: readonly Piece[]): string {
  const lines = new Lines(source);
  const next = followers(pieces);
  for (const [at, piece] of pieces.entries()) lines.add(piece, next[at]);
  return lines.text;
}

/** For each piece the next one that is not a comment. */
function followers(pieces: readonly Piece[]): readonly (Piece | undefined)[] {
  const next: (Piece | undefined)[] = [];
  let last: Piece | undefined;
  for (let at = pieces.length - 1; at >= 0; at -= 1) {
    next[at] = last;
    const piece = pieces[at];
    if (piece !== undefined && piece.kind !== "comment") last = piece;
  }
  return next;
}

/** Comments that begin below one another: where they were written, and where they are put. */
interface CommentColumn {
  readonly written: number;
  readonly column: number;
}

class Lines {
  readonly #source: string;
  readonly #out: string[] = [];
  #column = 0;
  #last: Piece | undefined;
  /** The last piece that is not a comment. */
  #value: Piece | undefined;
  #beside: CommentColumn | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  get text(): string {
    return this.#last === undefined ? "" : `${this.#out.join("")}\n`;
  }

  add(piece: Piece, next: Piece | undefined): void {
    const last = this.#last;
    const gap = last === undefined ? "" : this.#source.slice(last.end, piece.start);
    const breaks = piece.kind === "body" ? 1 : Math.min(2, gap.split("\n").length - 1);
    if (last !== undefined && breaks === 0) this.#put(" ".repeat(spaces(last, piece, gap)));
    else {
      this.#put("\n".repeat(breaks));
      this.#column = 0;
      this.#put(
        " ".repeat(piece.kind === "comment" ? this.#commentColumn(piece, next, breaks) : piece.column),
      );
    }
    this.#note(piece, breaks);
    this.#put(piece.text);
    this.#last = piece;
  }

  #put(text: string): void {
    this.#out.push(text);
    this.#column += text.length;
  }

  #note(piece: Piece, breaks: number): void {
    if (piece.kind !== "comment") this.#value = piece;
    const isBeside = piece.kind === "comment" && (breaks === 0 || this.#isBelow(piece, breaks));
    this.#beside = isBeside ? { written: this.#written(piece), column: this.#column } : undefined;
  }

  /** Whether a comment continues the one after a value. */
  #isBelow(comment: Piece, breaks: number): boolean {
    return breaks === 1 && this.#beside?.written === this.#written(comment);
  }

  #written({ start }: Piece): number {
    return start - (this.#source.lastIndexOf("\n", start - 1) + 1);
  }

  /** A comment belongs to what follows, or to a collection that ends before it and was written no further right. */
  #commentColumn(comment: Piece, after: Piece | undefined, breaks: number): number {
    if (this.#beside !== undefined && this.#isBelow(comment, breaks)) return this.#beside.column;
    const before = this.#value;
    const around = framesOf(before);
    const shared = after === undefined ? around.length - 1 : around.indexOf(after.frame);
    // The comment is in front of a first member.
    if (after !== undefined && shared < 0) return after.column;
    const written = this.#written(comment);
    let chosen: Frame | undefined;
    for (const frame of around.slice(0, shared + 1).toReversed())
      if (chosen === undefined || (frame.written > chosen.written && frame.written <= written))
        chosen = frame;
    if (chosen === undefined) return after?.column ?? 0;
    const isEmpty = chosen === before?.frame && (before.kind === "colon" || before.text === "-");
    if (isEmpty && written > chosen.written) return chosen.column + STEP;
    return after?.frame === chosen ? after.column : chosen.column;
  }
}

function spaces(left: Piece, right: Piece, gap: string): number {
  if (right.kind === "comment" || right.kind === "inner comment") return Math.max(1, gap.length);
  switch (right.kind) {
    case "colon":
      return left.kind === "name" || left.kind === "mark" || left.kind === "comma" ? 1 : 0;
    case "comma":
      return 0;
    case "close":
      return right.text === "}" && left.kind !== "open" ? 1 : 0;
    default:
      return left.kind === "open" && left.text === "[" ? 0 : 1;
  }
}

function framesOf(piece: Piece | undefined): readonly Frame[] {
  const frames: Frame[] = [];
  for (let frame = piece?.frame; frame?.parent !== undefined; frame = frame.parent) frames.push(frame);
  return frames;
}

/** A scalar in quotes, or without any, of which further lines begin in a column. */
function flowLines({ type, source }: CST.FlowScalar, column: number): string {
  if (!source.includes("\n")) return source;
  const pad = " ".repeat(column);
  return source
    .split("\n")
    .map((line, at) => {
      const started = at === 0 ? line : line.replace(/^[ \t]+/, "");
      const shown = type === "double-quoted-scalar" && endsInEscape(started) ? started : started.trimEnd();
      return at === 0 || shown === "" ? shown : `${pad}${shown}`;
    })
    .join("\n");
}

/** Whether a space at the end of the line is escaped, and therefore kept. */
function endsInEscape(line: string): boolean {
  const end = line.trimEnd().length;
  let start = end;
  while (line[start - 1] === "\\") start -= 1;
  return end < line.length && (end - start) % 2 === 1;
}

/** The lines of a block scalar, and how much of the source they are: empty lines at its end may not belong to the value. */
interface BlockBody {
  readonly text: string;
  readonly length: number;
}

/** Undefined for a block scalar without lines. `column`: where its lines begin, unless its header says so. */
function blockBody(source: string, header: string, frame: Frame, column: number): BlockBody | undefined {
  const lines = source.replace(/\n$/, "").split("\n");
  const indicator = /[1-9]/.exec(header)?.[0];
  const first = lines.find((line) => /[^ ]/.test(line));
  const written = indicator === undefined ? (first ?? "").search(/\S|$/) : frame.written + Number(indicator);
  const put = indicator === undefined ? column : frame.column + Number(indicator);
  const isEmpty = (line: string): boolean =>
    !/[^ ]/.test(line) && (line.length <= written || first === undefined);
  let count = lines.length;
  if (!header.includes("+")) while (count > 0 && isEmpty(lines[count - 1] ?? "")) count -= 1;
  if (source === "" || count === 0) return undefined;
  const kept = lines.slice(0, count);
  const text = kept
    .map((line) => (isEmpty(line) ? "" : `${" ".repeat(put)}${line.slice(written)}`))
    .join("\n");
  return { text, length: kept.join("\n").length };
}
