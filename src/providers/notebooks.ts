// Notebooks (contract A 2.6 and contract A 4.4), compared by a normal form of their content: their cells, the same in every
// format, without additions of the service.

import type { Reader } from "../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { digest, fingerprint } from "../core/digest.ts";
import { parseJson } from "../core/exact-json.ts";
import { defined, isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Values } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import type { Problem } from "../resource/planning.ts";
import { choiceField, defineProvider, sourceFields, textField } from "./kit/field-builders.ts";
import { aliasProblems, PATH_IDENTITY, pathProblems } from "./kit/names.ts";
import { contentBytes, liveIfPresent, objectTypeOf } from "./kit/responses.ts";
import {
  exportedBytes,
  exportedDigest,
  foldersOf,
  importInto,
  removeFromTree,
  treeObject,
  treeObjects,
} from "./kit/tree-objects.ts";

const SOURCE_FORMATS = ["SOURCE", "HTML", "JUPYTER", "DBC"] as const;
type SourceFormat = (typeof SOURCE_FORMATS)[number];

const sourceFormat = (value: Json | undefined): SourceFormat =>
  SOURCE_FORMATS.find((format) => format === value) ?? "SOURCE";

/** Whether the cells of a file can be read here; HTML and DBC files are archives of the service's own making. */
const isReadable = (format: SourceFormat): boolean => format === "SOURCE" || format === "JUPYTER";

/** Digest of a notebook's cells; of the bytes where they cannot be read. */
export function contentDigest(bytes: Uint8Array, format: SourceFormat, language: Json | undefined): string {
  const cells = cellsOf(bytes, format, language);
  return cells === undefined ? digest(bytes) : fingerprint(cells);
}

/** The cells in order, each below a line with its type and title; undefined if they cannot be read. */
function contentText(
  bytes: Uint8Array,
  format: SourceFormat,
  language: Json | undefined,
): string | undefined {
  const cells = cellsOf(bytes, format, language);
  return cells
    ?.map((cell) => `── ${[cell.kind, cell.title].filter(Boolean).join(" · ")}\n${cell.text}\n`)
    .join("\n");
}

type Cell = { readonly kind: "code" | "markdown"; readonly text: string; readonly title?: string };

function cellsOf(
  bytes: Uint8Array,
  format: SourceFormat,
  language: Json | undefined,
): readonly Cell[] | undefined {
  if (!isReadable(format)) return undefined;
  const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  const cells = format === "SOURCE" ? sourceCells(text, language) : jupyterCells(text);
  const [only, ...more] = cells ?? [];
  return more.length === 0 && only?.text === "" && only.title === undefined ? [] : cells;
}

const withoutBlankEnds = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** A command that begins with `%md` is markdown, however it came. */
function cellOf(command: string, isMarkdown: boolean, title: string | undefined): Cell {
  const text = withoutBlankEnds(command);
  const marked = text.replace(/^%md(?:[ \t]*\n|[ \t]+|$)/, "");
  const kind = isMarkdown || marked !== text ? "markdown" : "code";
  return { kind, text: withoutBlankEnds(marked), title };
}

const COMMENTS: Readonly<Record<string, string>> = { SQL: "--", SCALA: "//" };
const HEADER = /^(?:#|--|\/\/) (?:\S+ )?notebook source[ \t]*(?:\n|$)/i;

/** Comments of the service separate the cells and contain text in other languages. */
function sourceCells(text: string, language: Json | undefined): readonly Cell[] {
  const comment = COMMENTS[String(language)] ?? "#";
  const separator = new RegExp(`^${comment} COMMAND -+[ \\t]*$`, "m");
  return text
    .replace(HEADER, "")
    .split(separator)
    .map((chunk) => sourceCell(withoutBlankEnds(chunk), comment));
}

function sourceCell(chunk: string, comment: string): Cell {
  const [first = "", ...others] = chunk.split("\n");
  const titled = first.startsWith(`${comment} DBTITLE `);
  const title = titled ? /^\S+ DBTITLE \d,(.*)$/.exec(first.trimEnd())?.[1] : undefined;
  const body = title === undefined ? chunk : withoutBlankEnds(others.join("\n"));
  const magic = `${comment} MAGIC`;
  if (!body.startsWith(magic)) return { ...cellOf("", false, title), text: body };
  const lines = body
    .split("\n")
    .map((line) => (line.startsWith(magic) ? line.slice(magic.length).replace(/^ /, "") : line));
  return cellOf(lines.join("\n"), false, title);
}

/** Outputs, counters and the rest of the metadata are what running leaves behind. */
function jupyterCells(text: string): readonly Cell[] | undefined {
  const file = parsed(text);
  if (!isObject(file) || !Array.isArray(file.cells)) return undefined;
  return file.cells.filter(isObject).map((cell) => {
    const source = Array.isArray(cell.source) ? cell.source.map(String).join("") : String(cell.source ?? "");
    const title = isObject(cell.metadata) ? cell.metadata.title : undefined;
    const command = source.replaceAll("\r\n", "\n");
    return cellOf(command, cell.cell_type !== "code", typeof title === "string" ? title : undefined);
  });
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const fields = {
  ...sourceFields("notebook"),
  format: choiceField(SOURCE_FORMATS, {
    severity: "other",
    writeOnly: true,
    default: "SOURCE",
    description: "Format of the file; inferred from the extension .py .scala .sql .r .ipynb .html .dbc.",
  }),
  language: choiceField(["SCALA", "PYTHON", "SQL", "R"], {
    severity: "other",
    serverDefault: true,
    description: "Language of a SOURCE notebook; inferred from the extension. Other formats contain it.",
  }),
  content: textField({
    severity: "other",
    whenAbsent: "unmanaged",
    description: "Digest of the notebook's cells, the same in every format.",
  }),
  imported: textField({
    severity: "other",
    writeOnly: true,
    witness: "exported",
    description:
      "Digest of an HTML or DBC file as imported. The service does not return such a file unchanged, so changes are detected in its cells.",
  }),
};

const isNotebook = (entry: JsonObject): boolean => objectTypeOf(entry) === "NOTEBOOK";

const toLive = (entry: JsonObject): LiveObject | undefined =>
  treeObject(entry, "NOTEBOOK", fields, defined({ language: entry.language }));

function check(values: Values, name: string): readonly Problem[] {
  const format = sourceFormat(values.format);
  const problems: Problem[] = [...pathProblems(name, "notebook")];
  if (format === "SOURCE" && values.language === undefined)
    problems.push({ path: [], code: "SPEC_MISSING_FIELD", message: "a SOURCE notebook requires a language" });
  if (format !== "SOURCE" && values.language !== undefined)
    problems.push({
      path: ["language"],
      code: "SPEC_COMBINATION",
      message: `a ${format} file contains its language`,
      hint: "remove language",
    });
  return problems;
}

/** The cells of an archive cannot be read, so its digest is compared with the digest of the import. */
function normalize(values: Values): Values {
  if (values.format === undefined || isReadable(sourceFormat(values.format)) || values.content === undefined)
    return values;
  const { content, ...rest } = values;
  return { ...rest, imported: content };
}

/** The cells of the live notebook, by its export as SOURCE: whatever is wanted, so that every look gives the same. */
async function hydrate(api: Reader, live: LiveObject): Promise<LiveObject> {
  const digestOf = (bytes: Uint8Array): string => contentDigest(bytes, "SOURCE", live.values.language);
  const content = await exportedDigest(api, live.name, digestOf);
  return { ...live, values: { ...live.values, content }, facts: { ...live.facts, exported: content } };
}

type Body = { readonly [field: string]: Json | Uint8Array };

function body(task: Task, overwrite: boolean): Body {
  const format = sourceFormat(task.values.format);
  const language: Body =
    format === "SOURCE" && task.values.language !== undefined ? { language: task.values.language } : {};
  return { path: task.name, format, ...language, content: contentBytes(task), overwrite };
}

async function create(api: OperationWriter, task: Task): Promise<RemoteId> {
  await importInto(api, task.name, body(task, false));
  if (sourceFormat(task.values.format) === "DBC") await mustBeNotebook(api, task);
  return remoteId(task.name);
}

async function mustBeNotebook(api: OperationWriter, task: Task): Promise<void> {
  const entry = await api.read("workspace/get-status", { path: task.name });
  if (isNotebook(entry)) return;
  throw new Failure(
    error("APPLY_VERIFY", `the archive of ${task.address} contains more than one notebook`, {
      address: task.address,
      hint: "import each notebook separately, and delete the folder that this import created",
    }),
  );
}

export const notebooks = defineProvider({
  kind: "notebooks",
  singular: "notebook",
  description: "Notebooks in the workspace, imported from files in the spec's folder.",
  fields,
  severity: "availability",
  ...PATH_IDENTITY,
  tree: { root: "workspace", folders: false },

  planning: {
    validate: check,
    validateIn: { databricks: (_values, name) => aliasProblems(name) },
    dependencies: foldersOf,
    normalize,
    placeOf: (path) => ({ place: path[0] === "imported" ? ["content"] : path }),
    steps: (_diffs, _live, after) =>
      sourceFormat(after.format) === "DBC"
        ? [{ operation: "delete" }, { operation: "import" }]
        : [{ operation: "import" }],
    consequences: (change) =>
      change.steps.some((step) => step.operation === "delete")
        ? ["an archive cannot overwrite a notebook, so the notebook is deleted and imported again"]
        : [],
    content: {
      digest: (bytes, values) => contentDigest(bytes, sourceFormat(values.format), values.language),
      text: (bytes, values) => contentText(bytes, sourceFormat(values.format), values.language),
    },
  },

  operations: {
    list: (api, scope) => treeObjects(api, scope, toLive),
    readDetails: hydrate,
    async *readContent(api, live) {
      yield await exportedBytes(api, live.name);
    },
    read: (api, id) => liveIfPresent(() => api.read("workspace/get-status", { path: id }), toLive),
    create,
    async update(api, task) {
      if (sourceFormat(task.values.format) !== "DBC") return importInto(api, task.name, body(task, true));
      const request = body(task, false);
      await removeFromTree(api, task.id);
      await importInto(api, task.name, request);
    },
    async delete(api, { id }) {
      await removeFromTree(api, id);
    },
  },
});
