// A notebook in the form that all formats share: its language and its cells.

import { assertShallow } from "../../core/exact-json.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type ApiError, invalidValue } from "../world/errors.ts";

export const LANGUAGES = ["SCALA", "PYTHON", "SQL", "R"] as const;
export type Language = (typeof LANGUAGES)[number];

export const NOTEBOOK_FORMATS = ["SOURCE", "HTML", "JUPYTER", "DBC"] as const;
export type NotebookFormat = (typeof NOTEBOOK_FORMATS)[number];

/** A code cell may begin with a magic command (`%sql`), which stays part of its text. */
export interface Cell {
  readonly kind: "code" | "markdown";
  readonly text: string;
  readonly title?: string;
}

export interface Notebook {
  readonly language: Language;
  readonly cells: readonly Cell[];
}

export function languageNamed(name: unknown): Language | undefined {
  const wanted = String(name).toUpperCase();
  return LANGUAGES.find((language) => language === wanted);
}

/** Magic commands that make a cell markdown. */
const MARKDOWN = /^%md(?:[ \t]*\r?\n|[ \t]+|$)/;

/** A cell out of the text of a command: one that begins with `%md` is markdown. */
export function cellOf(command: string, title?: string): Cell {
  const text = command.replace(MARKDOWN, "");
  const kind = text === command ? "code" : "markdown";
  return { kind, text, ...(title === undefined ? {} : { title }) };
}

/** The text of a command that `cellOf` reads as this cell. */
export function commandOf(cell: Cell): string {
  return cell.kind === "markdown" ? `%md\n${cell.text}` : cell.text;
}

export function unreadable(format: NotebookFormat, why: string): ApiError {
  return invalidValue(`The content is not a notebook in the format ${format}: ${why}`);
}

const decoder = new TextDecoder("utf-8");

export const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Text without a byte order mark; bytes that are not UTF-8 are shown as U+FFFD. */
export const notebookText = (bytes: Uint8Array): string => decoder.decode(bytes);

/** The object in a JSON text, or undefined when the text is not JSON. */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = notebookText(bytes);
    assertShallow(text);
    return objectIn(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}
