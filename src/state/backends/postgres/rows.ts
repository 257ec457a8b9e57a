// What rows hold, as the pieces of a state.

import type { StoredText } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import { columnNumber, columnText, type Row } from "./database.ts";

export function storedText(name: string, text: string | undefined): StoredText | undefined {
  return text === undefined ? undefined : { name, bytes: new TextEncoder().encode(text) };
}

/** Undefined before there is one. A row is written whole or not at all: here no line may be unfinished, and none missing. */
export function storedJournal(name: string, row: Row): StoredText | undefined {
  if (columnNumber(row, "journal") === 0) return undefined;
  const text = columnText(row, "text") ?? "";
  const bytes = new TextEncoder().encode(text);
  const lines = columnNumber(row, "lines");
  const whole = text.split("\n").length - 1;
  if (lines !== columnNumber(row, "present") || lines !== whole || !text.endsWith("\n"))
    throw corrupt(name, bytes.length, `it has ${whole} whole lines and not ${lines}`);
  return { name, bytes };
}
