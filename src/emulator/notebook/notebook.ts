// A notebook in the form that all formats share: its language and its cells; and as JSON, which HTML pages and archives carry.

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

const MARKDOWN = /^%md(?:[ \t]*\r?\n|[ \t]+|$)/;

/** A cell out of the text of a command: one that begins with `%md` is markdown. */
export function cellOf(command: string, title?: string): Cell {
  const text = command.replace(MARKDOWN, "");
  const kind = text === command ? "code" : "markdown";
  return { kind, text, title };
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

export function toModel({ language, cells }: Notebook, name: string): JsonObject {
  return {
    version: "NotebookV1",
    name,
    language: language.toLowerCase(),
    commands: cells.map((cell, index) => ({
      version: "CommandV1",
      position: index + 1,
      command: commandOf(cell),
      ...(cell.title !== undefined && { commandTitle: cell.title, showCommandTitle: true }),
    })),
  };
}

/** Reads a model out of a file of the format named, which the refusal of a bad one tells. */
export function fromModel(model: Json, format: NotebookFormat): Notebook {
  const { language: named, commands } = objectIn(model);
  const language = languageNamed(named);
  if (language === undefined)
    throw unreadable(format, `its language ${JSON.stringify(named)} is not supported`);
  if (!Array.isArray(commands)) throw unreadable(format, "it has no list of commands");
  const ordered = commands.map(objectIn).sort((a, b) => position(a) - position(b));
  return {
    language,
    cells: ordered.map(({ command, commandTitle, showCommandTitle }, index) => {
      if (typeof command !== "string") throw unreadable(format, `command ${index} is not a string`);
      const titled = typeof commandTitle === "string" && showCommandTitle === true;
      return cellOf(command, titled ? commandTitle : undefined);
    }),
  };
}

function position({ position: at }: JsonObject): number {
  return typeof at === "number" ? at : 0;
}
