// Workspace objects of the dialect: imports that depend on the content, files, and objects that only tests create.

import { type JsonObject, objectIn } from "../../../core/json.ts";
import type { Language } from "../../notebook/notebook.ts";
import { objectExistsError, parentFolder, postedContent } from "../../routes/workspace/import.ts";
import { makeFolders, objectsOf, putWorkspaceFile } from "../../routes/workspace/objects.ts";
import { decodeBase64, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Call, Operation, Reply, World } from "../../world/world.ts";
import type { Asked, Hooks } from "./hook.ts";

export const workspaceHooks: Hooks = {
  "workspace/import": { around: importAny },
  // The limit of a block is for base64 in JSON; clients post files that are larger.
  "fs/put": { around: (core, call, { world }) => core({ ...call, allows: { largeFiles: true } }, world) },
  "workspace/export": { around: exportAny, after: withFileType },
};

const LANGUAGES: readonly (readonly [extension: string, comment: string, language: Language])[] = [
  [".py", "#", "PYTHON"],
  [".r", "#", "R"],
  [".scala", "//", "SCALA"],
  [".sql", "--", "SQL"],
];

const HEADER = "Databricks notebook source";

/** AUTO: the source of a notebook makes a notebook without the extension in its name, everything else a file. RAW: always a file. */
function importAny(core: Operation, call: Call, { world }: Asked): Reply {
  const path = String(call.input.path);
  const old = objectsOf(world).find(segmentsOf(path));
  const { format } = call.input;
  if (format !== "AUTO" && format !== "RAW") {
    if (old?.entry.object_type === "REPO" || old?.entry.object_type === "DASHBOARD")
      throw invalidValue(`Path (${path}) is a ${old.entry.object_type} and cannot be overwritten.`);
    return core(call, world);
  }
  const content = postedContent(call);
  const notebook = format === "AUTO" ? notebookIn(path, content) : undefined;
  if (notebook !== undefined) return core({ ...call, input: { ...call.input, ...notebook } }, world);
  importFile(world, path, call.input.overwrite === true, content);
  return { json: {} };
}

function notebookIn(path: string, content: Uint8Array): JsonObject | undefined {
  const dot = path.lastIndexOf(".");
  const extension = path.slice(dot).toLowerCase();
  const bare = path.slice(0, dot);
  if (extension === ".ipynb") return { path: bare, format: "JUPYTER" };
  const match = LANGUAGES.find(([candidate]) => candidate === extension);
  if (match === undefined) return undefined;
  const [, comment, language] = match;
  const start = new TextDecoder().decode(content.subarray(0, 100));
  return start.startsWith(`${comment} ${HEADER}`) ? { path: bare, format: "SOURCE", language } : undefined;
}

function importFile(world: World, path: string, overwrite: boolean, content: Uint8Array): void {
  const segments = segmentsOf(path);
  const old = objectsOf(world).find(segments);
  if (old !== undefined && !overwrite) throw objectExistsError(segments);
  if (old !== undefined && old.entry.object_type !== "FILE")
    throw invalidValue(
      `Path (${pathOfSegments(segments)}) is a ${old.entry.object_type} and cannot be overwritten by a file.`,
    );
  putWorkspaceFile(world, parentFolder(world, segments), segments.at(-1) ?? "", content);
}

function exportAny(core: Operation, call: Call, { world }: Asked): Reply {
  const { format, ...rest } = call.input;
  return core(format === "AUTO" ? { ...call, input: { ...rest, format: "SOURCE" } } : call, world);
}

const EXTENSION: Readonly<Record<string, string>> = { HTML: "html", JUPYTER: "ipynb", DBC: "dbc" };

function withFileType(answer: JsonObject, { world, input }: Asked): JsonObject {
  const path = String(input.path);
  const entry = objectsOf(world).find(segmentsOf(path))?.entry;
  const source = LANGUAGES.find(
    ([, , language]) => entry?.object_type === "NOTEBOOK" && entry.language === language,
  );
  const type = EXTENSION[String(input.format)] ?? source?.[0].slice(1) ?? /\.([^./]+)$/.exec(path)?.[1] ?? "";
  return { ...answer, file_type: type };
}

/** A control request: puts an object of any type at a path, with the folders above it. */
export function makeObject(world: World, input: JsonObject): void {
  const { object_type: type, content = "" } = objectIn(input);
  const segments = segmentsOf(String(input.path));
  const name = segments.at(-1);
  if (name === undefined || objectsOf(world).find(segments) !== undefined) throw objectExistsError(segments);
  const parent = makeFolders(world, segments.slice(0, -1)).id;
  if (type === "FILE") putWorkspaceFile(world, parent, name, decodeBase64("content", String(content)));
  else if (type === "REPO" || type === "DASHBOARD" || type === "LIBRARY")
    objectsOf(world).add({ parent, name, folder: type === "REPO", object_type: type });
  else throw invalidValue("object_type must be one of FILE, REPO, DASHBOARD, LIBRARY.");
}
