// Names inside a scope, such as `etl/db-password`, and absolute paths with their parent folders.

import type { Reader } from "../../api/contract/reader.ts";
import { isMissing } from "../../api/contract/refusals.ts";
import { memberOf, parentOf } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import { folderOf } from "../../resource/names.ts";
import type { ListScope } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";

interface NestedName {
  readonly parent: string;
  readonly member: string;
}

export function nestedName(name: string): NestedName {
  return { parent: parentOf(name), member: memberOf(name) };
}

/** The members of all parents. The client limits the number of concurrent requests. */
export async function membersOfAll(
  api: Reader,
  parents: readonly string[],
  members: (api: Reader, parent: string) => Promise<readonly LiveObject[]>,
): Promise<readonly LiveObject[]> {
  return (await Promise.all(parents.map((parent) => members(api, parent)))).flat();
}

const SEGMENT = /^(?!\.{1,2}$)[^\0]+$/;

/** The error in a path; the message calls the path `what`. */
export function pathProblems(path: string, what: string): readonly Problem[] {
  const segments = path.split("/").slice(1);
  if (path.startsWith("/") && segments.every((segment) => SEGMENT.test(segment))) return [];
  return [
    {
      path: [],
      code: "SPEC_VALUE",
      message: `"${path}" is not a valid path of a ${what}`,
      hint: "write an absolute path such as /Shared/etl, without a trailing slash, and without . and ..",
    },
  ];
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

type ListFolder = (path: string) => Promise<readonly JsonObject[]>;

/** The objects in the folders of all known names, each folder read once; all objects if no name is known. */
export async function entriesFor(
  scope: ListScope,
  list: ListFolder,
  isFolder: (entry: JsonObject) => boolean,
  hasFolders = false,
): Promise<readonly JsonObject[]> {
  if (scope.names.size === 0) return everythingIn("/", list, isFolder);
  const folders = [...new Set([...scope.names].map(folderOf))].sort();
  const entries = (await Promise.all(folders.map((folder) => entriesIn(folder, list)))).flat();
  const byPath = new Map(entries.map((entry) => [String(entry.path), entry]));
  for (const name of scope.names)
    for (const path of [name, folderOf(name)]) {
      const entry = byPath.get(path);
      // A repository may contain objects, as a folder does.
      if (entry === undefined || entry.object_type === "REPO") continue;
      const type = isFolder(entry) ? "folder" : String(entry.object_type ?? "FILE").toLowerCase();
      const isFine = isFolder(entry) === (hasFolders || path !== name);
      if (!isFine) scope.onOther?.(name, { path, type });
    }
  return entries;
}

/** A missing folder is empty. */
async function entriesIn(folder: string, list: ListFolder): Promise<readonly JsonObject[]> {
  try {
    return await list(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

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
