// What rows hold, as the pieces of a state.

import type { Piece } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import { numberIn, type Row, textIn } from "./database.ts";

export function pieceOf(name: string, text: string | undefined): Piece | undefined {
  return text === undefined ? undefined : { name, bytes: new TextEncoder().encode(text) };
}

/** Undefined before there is one. A row is written whole or not at all: here no line may be unfinished, and none missing. */
export function journalPiece(name: string, row: Row): Piece | undefined {
  if (numberIn(row, "journal") === 0) return undefined;
  const text = textIn(row, "text") ?? "";
  const bytes = new TextEncoder().encode(text);
  const lines = numberIn(row, "lines");
  const whole = text.split("\n").length - 1;
  if (lines !== numberIn(row, "present") || lines !== whole || !text.endsWith("\n"))
    throw corrupt(name, bytes.length, `it has ${whole} whole lines and not ${lines}`);
  return { name, bytes };
}
