// Workspace objects of the dialect: `/Workspace` before a path, imports that depend on the content, files, times, and objects that only tests create.

import { defined, type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import type { Language } from "../../notebook/notebook.ts";
import { makeDirectories } from "../../routes/fs.ts";
import {
  importObject,
  objectExistsError,
  parentFolder,
  postedContent,
} from "../../routes/workspace/import.ts";
import {
  addObject,
  MOUNT,
  makeFolders,
  objectsOf,
  putWorkspaceFile,
  unmountedPath,
} from "../../routes/workspace/objects.ts";
import { decodeBase64, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { ApiError, invalidValue } from "../../world/errors.ts";
import { type Call, EMPTY_REPLY, type Operation, type Reply, type World } from "../../world/world.ts";
import type { Asked, Hooks } from "./hook.ts";

export const workspaceHooks: Hooks = {
  "workspace/import": { around: mounted(importAny) },
  "workspace/export": { around: mounted(exportAny), after: withFileType },
  "workspace/delete": { around: mounted(asInContract) },
  "workspace/mkdirs": { around: mounted(asInContract) },
  "workspace/get-status": { around: mounted(asInContract), after: shownInfo },
  "workspace/list": {
    around: mounted(asInContract),
    after: (answer, asked) => withObjects(answer, (info) => shownInfo(info, asked)),
  },
  "jobs/runs/export": {
    around: (core, call, { world }) => core({ ...call, allows: { mountedPaths: true } }, world),
  },
  // The limit of a block is for base64 in JSON; clients post files that are larger.
  "fs/put": { around: (core, call, { world }) => core({ ...call, allows: { largeFiles: true } }, world) },
};

/** What a new workspace of the dialect contains in addition. */
export function seedFiles(world: World): void {
  makeDirectories(world, ["FileStore"]);
}

type Around = (core: Operation, call: Call, asked: Asked) => Reply;

function asInContract(core: Operation, call: Call, { world }: Asked): Reply {
  return core(call, world);
}

function mounted(act: Around): Around {
  return (core, call, asked) =>
    inTree(String(call.input.path), (path) => act(core, { ...call, input: { ...call.input, path } }, asked));
}

/** `/Workspace/x` names `/x`. Answers and errors repeat the prefix of the request. */
function inTree(path: string, act: (path: string) => Reply): Reply {
  const plain = unmountedPath(path);
  if (plain === path) return act(path);
  try {
    const reply = act(plain);
    return "json" in reply ? { ...reply, json: withObjects(mountedInfo(reply.json), mountedInfo) } : reply;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, error.message.replaceAll("(/", `(${MOUNT}/`));
  }
}

function mountedInfo(info: JsonObject): JsonObject {
  const { path } = info;
  return path === undefined ? info : { ...info, path: path === "/" ? MOUNT : `${MOUNT}${String(path)}` };
}

function withObjects(answer: JsonObject, show: (info: JsonObject) => JsonObject): JsonObject {
  const { objects } = answer;
  return objects === undefined
    ? answer
    : { ...answer, objects: listIn(objects).map((info) => show(objectIn(info))) };
}

function shownInfo(info: JsonObject, { world, input }: Asked): JsonObject {
  const id = String(info.object_id);
  const entry = objectsOf(world).byId(id)?.entry;
  const { created_at, modified_at } = entry ?? {};
  const isExport = input.return_export_info === true && entry?.object_type === "NOTEBOOK";
  const repos_export_format = isExport ? entry.format : undefined;
  return { ...info, resource_id: id, ...defined({ created_at, modified_at, repos_export_format }) };
}

/** Imports the bytes of a request by their content. Clients send the path as one segment, without its first slash. */
export function importBytes(call: Call, world: World): Reply {
  const path = `/${(call.params.path ?? "").replace(/^\/+/, "")}`;
  return inTree(path, (plain) => {
    const segments = segmentsOf(plain);
    const isFile = objectsOf(world).find(segments)?.entry.object_type === "FILE";
    if (isFile && call.input.overwrite !== true)
      throw new ApiError("ALREADY_EXISTS", `File already exists at (${plain}).`);
    const input = { ...call.input, path: plain, format: "AUTO" };
    return importByContent(notebookCore, { ...call, input }, world);
  });
}

const notebookCore: Operation = (call, world) => {
  importObject(call, world);
  return EMPTY_REPLY;
};

const LANGUAGES: readonly (readonly [extension: string, comment: string, language: Language])[] = [
  [".py", "#", "PYTHON"],
  [".r", "#", "R"],
  [".scala", "//", "SCALA"],
  [".sql", "--", "SQL"],
];

const HEADER = "Databricks notebook source";

function importAny(core: Operation, call: Call, { world }: Asked): Reply {
  const { format, path } = call.input;
  if (format === "AUTO" || format === "RAW") return importByContent(core, call, world);
  const old = objectsOf(world).find(segmentsOf(String(path)));
  if (old?.entry.object_type === "REPO" || old?.entry.object_type === "DASHBOARD")
    throw invalidValue(`Path (${String(path)}) is a ${old.entry.object_type} and cannot be overwritten.`);
  return core(call, world);
}

/** AUTO: the source of a notebook makes a notebook without the extension in its name, everything else a file. RAW: always a file. */
function importByContent(core: Operation, call: Call, world: World): Reply {
  const { format, overwrite } = call.input;
  const path = String(call.input.path);
  const content = postedContent({ ...call, allows: { largeFiles: true } });
  const notebook = format === "AUTO" ? notebookIn(path, content) : undefined;
  if (notebook !== undefined) return core({ ...call, input: { ...call.input, ...notebook } }, world);
  importFile(world, path, overwrite === true, content);
  return EMPTY_REPLY;
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

/** AUTO and RAW: what the object is. A folder is an archive in each format that does not name another one. */
function exportAny(core: Operation, call: Call, { world }: Asked): Reply {
  const { format = "SOURCE", ...rest } = call.input;
  const type = objectsOf(world).find(segmentsOf(String(rest.path)))?.entry.object_type;
  const isPlain = format === "SOURCE" || format === "AUTO" || format === "RAW";
  const own = type === "DIRECTORY" ? "DBC" : "SOURCE";
  const input = isPlain ? { ...rest, format: own } : call.input;
  return core({ ...call, input, allows: { largeFiles: true } }, world);
}

const EXTENSION: Readonly<Record<string, string>> = { HTML: "html", JUPYTER: "ipynb", DBC: "dbc" };

function withFileType(answer: JsonObject, { world, input }: Asked): JsonObject {
  const path = unmountedPath(String(input.path));
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
    addObject(world, { parent, name, folder: type === "REPO", object_type: type });
  else throw invalidValue("object_type must be one of FILE, REPO, DASHBOARD, LIBRARY.");
}
