// Pieces of YAML and their layout: one space where one is needed, at most one empty line, each line in its column, and the lines of multi-line scalars.

import type { CST } from "yaml";

/** A block collection: the column where it was written, and the one where it is put. */
export interface Frame {
  readonly parent: Frame | undefined;
  readonly written: number;
  readonly column: number;
}

/** `name`: an alias, an anchor, or a tag, which a colon could continue. `body`: the lines of a block scalar. */
export type PieceKind =
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

export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly kind: PieceKind;
  readonly text: string;
  readonly frame: Frame;
  /** The column if a line begins with it. */
  readonly column: number;
}

/** Columns between a collection and what it contains. */
export const STEP = 2;

export function laidOut(source: string, pieces: readonly Piece[]): string {
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
export function flowLines({ type, source }: CST.FlowScalar, column: number): string {
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
export function blockBody(
  source: string,
  header: string,
  frame: Frame,
  column: number,
): BlockBody | undefined {
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
