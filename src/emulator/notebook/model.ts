// The JSON form of a notebook that HTML pages and archives carry: a list of commands with their positions.

import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import {
  cellOf,
  commandOf,
  languageNamed,
  type Notebook,
  type NotebookFormat,
  unreadable,
} from "./notebook.ts";

export function toModel({ language, cells }: Notebook, name: string): JsonObject {
  return {
    version: "NotebookV1",
    name,
    language: language.toLowerCase(),
    commands: cells.map((cell, index) => ({
      version: "CommandV1",
      position: index + 1,
      command: commandOf(cell),
      ...(cell.title === undefined ? {} : { commandTitle: cell.title, showCommandTitle: true }),
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
