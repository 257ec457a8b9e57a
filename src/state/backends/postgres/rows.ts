// Converts rows to the pieces of a state.

import type { StoredText } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import { columnNumber, columnText, type Row } from "./database.ts";

export function storedText(name: string, text: string | undefined): StoredText | undefined {
  return text === undefined ? undefined : { name, bytes: new TextEncoder().encode(text) };
}

/** Undefined before the first version. A row is written atomically, so an unfinished or missing line is damage. */
export function storedJournal(name: string, row: Row): StoredText | undefined {
  if (columnNumber(row, "journal") === 0) return undefined;
  const text = columnText(row, "text") ?? "";
  const bytes = new TextEncoder().encode(text);
  const lines = columnNumber(row, "lines");
  const whole = text.split("\n").length - 1;
  if (lines !== columnNumber(row, "present") || lines !== whole || !text.endsWith("\n"))
    throw corrupt(name, bytes.length, `it has ${whole} complete lines instead of ${lines}`);
  return { name, bytes };
}
