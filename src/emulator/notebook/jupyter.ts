// JUPYTER: notebooks as the JSON files of Jupyter (nbformat 4).

import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import {
  type Cell,
  cellOf,
  type Language,
  languageNamed,
  type Notebook,
  parseObject,
  toBytes,
  unreadable,
} from "./notebook.ts";

const KERNELS: Readonly<Record<Language, { readonly name: string; readonly language: string }>> = {
  PYTHON: { name: "python3", language: "python" },
  R: { name: "ir", language: "R" },
  SCALA: { name: "scala", language: "scala" },
  SQL: { name: "sql", language: "sql" },
};

export function readJupyter(bytes: Uint8Array): Notebook {
  const file = parseObject(bytes);
  if (file === undefined) throw unreadable("JUPYTER", "it is not JSON");
  if (file.nbformat !== 4) throw unreadable("JUPYTER", "nbformat must be 4");
  const { cells } = file;
  if (!Array.isArray(cells)) throw unreadable("JUPYTER", "it has no list of cells");
  return { language: languageOf(objectIn(file.metadata)), cells: cells.map(readCell) };
}

export function writeJupyter({ language, cells }: Notebook, name: string): Uint8Array {
  const kernel = KERNELS[language];
  const file = {
    cells: cells.map(writeCell),
    metadata: {
      kernelspec: { display_name: kernel.language, language: kernel.language, name: kernel.name },
      language_info: { name: kernel.language },
      name,
    },
    nbformat: 4,
    nbformat_minor: 4,
  };
  return toBytes(`${JSON.stringify(file, null, 1)}\n`);
}

function readCell(cell: Json, index: number): Cell {
  const { cell_type: type, source, metadata } = objectIn(cell);
  const text = typeof source === "string" ? source : Array.isArray(source) ? source.join("") : undefined;
  if (text === undefined) throw unreadable("JUPYTER", `cell ${index} has no source`);
  const title = objectIn(metadata).title;
  const named = typeof title === "string" ? { title } : {};
  if (type === "code") return { ...cellOf(text), ...named };
  if (type === "markdown" || type === "raw") return { kind: "markdown", text, ...named };
  throw unreadable("JUPYTER", `cell ${index} has the unknown type ${JSON.stringify(type)}`);
}

function writeCell({ kind, text, title }: Cell): JsonObject {
  const metadata: JsonObject = title === undefined ? {} : { title };
  const source = text === "" ? [] : text.split(/(?<=\n)/);
  return kind === "markdown"
    ? { cell_type: "markdown", metadata, source }
    : { cell_type: "code", execution_count: null, metadata, outputs: [], source };
}

/** What the kernel says of its language; Python where it says nothing. */
function languageOf(metadata: JsonObject): Language {
  const named = objectIn(metadata.language_info).name ?? objectIn(metadata.kernelspec).language ?? "python";
  const language = languageNamed(named);
  if (language === undefined)
    throw unreadable("JUPYTER", `its language ${JSON.stringify(named)} is not supported`);
  return language;
}
