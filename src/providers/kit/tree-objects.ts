// Objects of the workspace tree, folders, notebooks, and files: listed, imported, exported, and deleted.

import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { isMissing, Refused } from "../../core/request-failure.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { folderOf, foldersAbove } from "../../resource/names.ts";
import type { ListScope, OperationWriter } from "../../resource/operations.ts";
import { entriesFor } from "./names.ts";
import { bytesIn, ignoreMissing, keyIn, objectsIn, objectTypeOf } from "./responses.ts";
import { withUnknownFields } from "./unknown-fields.ts";

type Request = Parameters<OperationWriter["write"]>[1];

export const isTreeFolder = (entry: JsonObject): boolean => objectTypeOf(entry) === "DIRECTORY";

/** Members that the service computes: no request sets them. */
const READ_ONLY = new Set([
  "path",
  "object_type",
  "object_id",
  "resource_id",
  "created_at",
  "modified_at",
  "size",
]);

/** An object of a type in spec form; undefined for one of another type. */
export function treeObject(
  entry: JsonObject,
  type: string,
  fields: FieldTable,
  values: Values,
): LiveObject | undefined {
  if (objectTypeOf(entry) !== type) return undefined;
  const path = keyIn(entry, "path");
  const live = { id: remoteId(path), name: path, values, facts: defined({ object_id: entry.object_id }) };
  return withUnknownFields(live, fields, entry, READ_ONLY);
}

export const listFolder = async (api: Reader, path: string): Promise<readonly JsonObject[]> =>
  objectsIn(await api.read("workspace/list", { path }), "objects");

/** The objects that `toLive` knows. */
export async function treeObjects(
  api: Reader,
  scope: ListScope,
  toLive: (entry: JsonObject) => LiveObject | undefined,
): Promise<readonly LiveObject[]> {
  const isWanted = (entry: JsonObject): boolean => toLive(entry) !== undefined;
  const entries = await entriesFor(scope, (path) => listFolder(api, path), isTreeFolder, isWanted);
  return entries.flatMap((entry) => toLive(entry) ?? []);
}

export const foldersOf = (name: string) =>
  foldersAbove(name).map((folder) => ({ kind: "directories", name: folder }));

/** An import creates no folders (facts 4.6), so unmanaged parent folders are created first. */
export async function importInto(api: OperationWriter, path: string, request: Request): Promise<void> {
  try {
    await api.write("workspace/import", request);
  } catch (refusal) {
    if (!isMissing(refusal)) throw refusal;
    await api.write("workspace/mkdirs", { path: folderOf(path) });
    await api.write("workspace/import", request);
  }
}

/** The bytes of an object in its own form. */
export const exportedBytes = async (api: Reader, path: string): Promise<Uint8Array> =>
  bytesIn(await api.read("workspace/export", { path, format: "SOURCE" }), "content");

/** The service refuses an export above 10 MB with one of these answers. */
const isTooLarge = (refusal: unknown): boolean =>
  refusal instanceof Refused &&
  (refusal.code === "MAX_NOTEBOOK_SIZE_EXCEEDED" ||
    (refusal.code === "BAD_REQUEST" && /\bexceed(?:s|ed)\b/.test(refusal.diagnostic.cause ?? "")));

/** The digest of a live content, or the reason why it is unknown. */
export async function exportedDigest(
  api: Reader,
  path: string,
  digestOf: (bytes: Uint8Array) => string,
): Promise<string> {
  try {
    return digestOf(await exportedBytes(api, path));
  } catch (refusal) {
    if (isTooLarge(refusal)) return "too large to export";
    throw refusal;
  }
}

export const removeFromTree = (api: OperationWriter, path: string): Promise<void> =>
  ignoreMissing(() => api.write("workspace/delete", { path, recursive: false }));
