// A piece of a YAML text: a scalar, a comment, a bracket, or another mark. Formatting changes what is between pieces.

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
