// Names of objects: members of a scope such as `etl/db-password`, paths with their folders, and names of unfinished objects.

import type { Reader } from "../../api/contract/reader.ts";
import { memberOf, parentOf, type RemoteId, remoteId } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import { folderOf, plainTreePath } from "../../resource/names.ts";
import type { ListScope, ProviderOperations } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";
import { problem } from "./problems.ts";
import { readIfPresent } from "./responses.ts";

interface NestedName {
  readonly parent: string;
  readonly member: string;
}

export function nestedName(name: string): NestedName {
  return { parent: parentOf(name), member: memberOf(name) };
}

/** How members of parents are listed and read. The client limits the number of concurrent requests. */
export const nestedReads = (
  membersOf: (api: Reader, parent: string) => Promise<readonly LiveObject[]>,
): Pick<ProviderOperations, "list" | "read"> => ({
  async list(api, { parents }) {
    return (await Promise.all(parents.map((parent) => membersOf(api, parent)))).flat();
  },
  async read(api, id) {
    const all = await readIfPresent(() => membersOf(api, parentOf(id)));
    return all?.find((live) => live.id === id);
  },
});

/** How objects of a kind are known whose names are paths. */
export const PATH_IDENTITY = {
  nameField: undefined,
  unique: true,
  idAttribute: "path",
  creationRecovery: "client-named",
  replaceStrategy: "delete-first",
} as const;

/** The name of a new object until its ID is recorded. A second object of a repeated request keeps it (design 6). */
export const unfinishedName = (name: string, token: string): string => `${name} [workspace:${token}]`;

/** The token in the name of an unfinished object. */
export const tokenInName = (name: string): string | undefined => UNFINISHED.exec(name)?.[1];

const UNFINISHED = /\[workspace:([\w-]+)\]$/;

const SEGMENT = /^(?!\.{1,2}$)[^\0]+$/;

/** The error in a path; the message calls the path `what`. */
export function pathProblems(path: string, what: string): readonly Problem[] {
  const segments = path.split("/").slice(1);
  if (path.startsWith("/") && segments.every((segment) => SEGMENT.test(segment))) return [];
  const hint = "write an absolute path such as /Shared/etl, without a trailing slash, and without . and ..";
  return [problem("SPEC_VALUE", [], `"${path}" is not a valid path of a ${what}`, hint)];
}

/** An object of the workspace tree has one address. */
export function aliasProblems(path: string): readonly Problem[] {
  const plain = plainTreePath(path);
  if (plain === path) return [];
  const message = `"${path}" is the same path as "${plain || "/"}"`;
  return [problem("SPEC_VALUE", [], message, "write the path without /Workspace")];
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

type ListFolder = (path: string) => Promise<readonly JsonObject[]>;

/** The objects in the folders of all known names, each folder read once; all objects if no name is known. `isOwn`: of the kind. */
export async function entriesFor(
  scope: ListScope,
  list: ListFolder,
  isFolder: (entry: JsonObject) => boolean,
  isOwn: (entry: JsonObject) => boolean,
): Promise<readonly JsonObject[]> {
  if (scope.names.size === 0) return everythingIn("/", list, isFolder);
  const folders = [...new Set([...scope.names].map(folderOf))].sort();
  const entries = (await Promise.all(folders.map((folder) => entriesIn(folder, list)))).flat();
  const byPath = new Map(entries.map((entry) => [String(entry.path), entry]));
  for (const name of scope.names)
    for (const path of [name, folderOf(name)]) {
      const entry = byPath.get(path);
      // A repository may contain objects, as a folder does.
      if (entry === undefined || (path !== name && entry.object_type === "REPO")) continue;
      const type = isFolder(entry) ? "folder" : String(entry.object_type ?? "FILE").toLowerCase();
      if (!(path === name ? isOwn(entry) : isFolder(entry))) scope.onOther?.(name, { path, type });
    }
  return entries;
}

/** A missing folder is empty. */
const entriesIn = async (folder: string, list: ListFolder): Promise<readonly JsonObject[]> =>
  (await readIfPresent(() => list(folder))) ?? [];

async function everythingIn(
  folder: string,
  list: ListFolder,
  isFolder: (entry: JsonObject) => boolean,
): Promise<readonly JsonObject[]> {
  const entries = (await entriesIn(folder, list)).filter((entry) => entry.path !== folder);
  const below = await Promise.all(
    entries.filter(isFolder).map((entry) => everythingIn(String(entry.path), list, isFolder)),
  );
  return [...entries, ...below.flat()];
}

/** The listed objects, and the recorded ones that only a read by ID finds: some lists are incomplete, and pages shift. */
export async function withUnlisted(
  inList: readonly LiveObject[],
  { ids = new Set() }: ListScope,
  read: (id: RemoteId) => Promise<LiveObject | undefined>,
): Promise<readonly LiveObject[]> {
  const there = new Set<string>(inList.map((live) => live.id));
  const missing = [...ids].filter((id) => !there.has(id));
  const unlisted = await Promise.all(missing.map((id) => read(remoteId(id))));
  return [...inList, ...unlisted.filter((live) => live !== undefined)];
}
