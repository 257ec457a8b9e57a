// Import: a notebook in any format, or an archive of notebooks and folders (contract A 4.4 rule 3).

import type { Json } from "../../../core/json.ts";
import { type ArchiveEntry, tooLarge, unpackArchive } from "../../notebook/archive.ts";
import { type DocumentFormat, documentOf } from "../../notebook/formats.ts";
import { LANGUAGES, type Language, type NotebookFormat, unreadable } from "../../notebook/notebook.ts";
import { decodeBase64, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { type ApiError, alreadyExists, invalidValue, notFound } from "../../world/errors.ts";
import { WORKSPACE } from "../../world/limits.ts";
import type { Call, SilentOperation, World } from "../../world/world.ts";
import { addNotebook, makeFolders, objectsOf, replaceNotebook } from "./objects.ts";

/** The target of an import: the segments of its path, and whether an existing object may be replaced. */
interface Target {
  readonly segments: readonly string[];
  readonly overwrite: boolean;
}

export const importObject: SilentOperation = (call, world) => {
  const { input } = call;
  const format = String(input.format ?? "SOURCE") as NotebookFormat;
  const target = { segments: segmentsOf(String(input.path)), overwrite: input.overwrite === true };
  const language = format === "SOURCE" ? sourceLanguage(input.language) : "PYTHON";
  const content = postedContent(call);
  if (format === "DBC") importArchive(world, target, content);
  else importNotebook(world, target, format, content, language);
};

/** Required for SOURCE; with any other format the field is ignored, whatever it holds. */
function sourceLanguage(name: Json | undefined): Language {
  if (name === undefined) throw invalidValue("Missing required field: language");
  const language = LANGUAGES.find((candidate) => candidate === name);
  if (language !== undefined) return language;
  throw invalidValue(`Invalid value for field 'language': it must be one of ${LANGUAGES.join(", ")}`);
}

/** A posted file, or base64 in the field; either is at most 10 MB as it arrives (contract A 8). A dialect takes larger files. */
export function postedContent({ input, files, allows }: Call): Uint8Array {
  const file = files.content?.content;
  const text = file === undefined ? input.content : undefined;
  if (file === undefined && typeof text !== "string") throw invalidValue("Missing required field: content");
  const size = file?.length ?? String(text).length;
  const isLargeFile = allows?.largeFiles === true && file !== undefined;
  if (size > WORKSPACE.content_bytes && !isLargeFile) throw tooLarge("content", size);
  return file ?? decodeBase64("content", String(text));
}

function importNotebook(
  world: World,
  target: Target,
  format: DocumentFormat,
  content: Uint8Array,
  language: Language,
): void {
  const { segments } = target;
  const old = objectsOf(world).find(segments);
  if (old !== undefined && !target.overwrite) throw objectExistsError(segments);
  if (old !== undefined && old.entry.object_type !== "NOTEBOOK")
    throw notANotebook(segments, old.entry.folder);
  const document = documentOf(format, content, language);
  if (old?.entry.object_type === "NOTEBOOK") replaceNotebook(world, old.id, old.entry, document);
  else addNotebook(world, parentFolder(world, segments), segments.at(-1) ?? "", document);
}

function importArchive(world: World, { segments, overwrite }: Target, content: Uint8Array): void {
  if (overwrite) throw invalidValue("overwrite is not supported for the format DBC.");
  if (objectsOf(world).find(segments) !== undefined) throw objectExistsError(segments);
  const parent = parentFolder(world, segments);
  const entries = unpackArchive(content);
  const [first, ...more] = entries;
  if (first === undefined) throw unreadable("DBC", "the archive is empty");
  if (more.length === 0 && first.document !== undefined && first.segments.length === 1) {
    addNotebook(world, parent, segments.at(-1) ?? "", first.document);
    return;
  }
  // The one folder that holds all the rest is the folder that is imported.
  const top = first.segments[0];
  const single = entries.every((entry) => entry.segments[0] === top && isFolderOrIn(entry));
  makeFolders(world, segments);
  for (const entry of entries)
    addPacked(world, segments, single ? entry.segments.slice(1) : entry.segments, entry);
}

const isFolderOrIn = (entry: ArchiveEntry): boolean =>
  entry.document === undefined || entry.segments.length > 1;

function addPacked(
  world: World,
  base: readonly string[],
  below: readonly string[],
  { document }: ArchiveEntry,
): void {
  if (document === undefined) {
    makeFolders(world, [...base, ...below]);
    return;
  }
  const parent = makeFolders(world, [...base, ...below.slice(0, -1)]);
  const name = below.at(-1) ?? "";
  if (objectsOf(world).child(parent.id, name) !== undefined)
    throw unreadable("DBC", `two entries are named ${below.join("/")}`);
  addNotebook(world, parent.id, name, document);
}

/** Folders are not made by an import (facts 4.6). */
export function parentFolder(world: World, segments: readonly string[]): string {
  const above = segments.slice(0, -1);
  const parent = objectsOf(world).find(above);
  if (parent === undefined || !parent.entry.folder)
    throw notFound(`The parent folder (${pathOfSegments(above)}) does not exist.`);
  return parent.id;
}

export function objectExistsError(segments: readonly string[]): ApiError {
  return alreadyExists(`Path (${pathOfSegments(segments)}) already exists.`);
}

function notANotebook(segments: readonly string[], folder: boolean): ApiError {
  const why = folder ? "is a folder; folders can be imported only as DBC" : "is not a notebook";
  return invalidValue(`Path (${pathOfSegments(segments)}) ${why}.`);
}
