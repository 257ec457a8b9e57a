// Folders of the workspace (contract A 2.6 and contract A 4.4). A folder is deleted only if it contains no unmanaged objects.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import { defined, type JsonObject } from "../core/json.ts";
import { listed, shellWord } from "../core/sentences.ts";
import type { LiveObject } from "../resource/live.ts";
import type { PlannedWorkspace } from "../resource/planning.ts";
import { defineProvider } from "./kit/field-builders.ts";
import { aliasProblems, baseName, PATH_IDENTITY, pathProblems } from "./kit/names.ts";
import { effectOn } from "./kit/problems.ts";
import { keyIn, liveIfPresent, objectsIn, readIfPresent, responseText } from "./kit/responses.ts";
import {
  foldersOf,
  isTreeFolder,
  listFolder,
  removeFromTree,
  treeObject,
  treeObjects,
} from "./kit/tree-objects.ts";

const KINDS: Readonly<Record<string, string>> = {
  DIRECTORY: "directories",
  NOTEBOOK: "notebooks",
  REPO: "repos",
  FILE: "workspace_files",
};

const toLive = (entry: JsonObject): LiveObject | undefined => treeObject(entry, "DIRECTORY", {}, {});

async function holdsOf(api: Reader, folder: string): Promise<readonly JsonObject[]> {
  const entries = (await readIfPresent(() => listFolder(api, folder))) ?? [];
  return Promise.all(
    entries.map(async (entry) => {
      const holds = isTreeFolder(entry) ? await holdsOf(api, keyIn(entry, "path")) : undefined;
      return defined({ path: entry.path, object_type: entry.object_type, holds });
    }),
  );
}

/** The objects that remain in a folder after the plan; a folder without any is deleted with the one around it. */
function staying(holder: JsonObject, workspace: PlannedWorkspace): readonly string[] {
  return objectsIn(holder, "holds").flatMap((entry) => {
    const path = responseText(entry, "path");
    const kind = KINDS[String(entry.object_type)];
    if (path === undefined || (kind !== undefined && workspace.isRemoved(kind, path))) return [];
    const isEmptied = isTreeFolder(entry) && staying(entry, workspace).length === 0;
    return isEmptied && !workspace.isForgotten("directories", path) ? [] : [path];
  });
}

/** The empty folders below a folder that no other change of the plan deletes. */
const emptyFolders = (holder: JsonObject, workspace: PlannedWorkspace): readonly string[] =>
  everythingBelow(holder).flatMap(({ path, entry }) =>
    isTreeFolder(entry) && objectsIn(entry, "holds").length === 0 && !workspace.isRemoved("directories", path)
      ? [path]
      : [],
  );

/** The folders below one, the deepest first; none if it contains anything else, so that the service refuses the deletion. */
function emptied(holder: JsonObject, before: ReadonlySet<string>): readonly string[] {
  const below = everythingBelow(holder);
  return below.every(({ path, entry }) => isTreeFolder(entry) && before.has(path))
    ? below.map(({ path }) => path)
    : [];
}

interface Inside {
  readonly path: string;
  readonly entry: JsonObject;
}

const everythingBelow = (holder: JsonObject): readonly Inside[] =>
  objectsIn(holder, "holds").flatMap((entry) => [
    ...everythingBelow(entry),
    { path: keyIn(entry, "path"), entry },
  ]);

export const directories = defineProvider({
  kind: "directories",
  singular: "directory",
  description:
    "Folders of the workspace, which contain notebooks. Deleted only if they contain no unmanaged objects.",
  fields: {},
  severity: "availability",
  ...PATH_IDENTITY,
  tree: { root: "workspace", folders: true },
  builtIn: ["/Shared", "/Users"],

  planning: {
    validate: (_values, name) => pathProblems(name, "directory"),
    validateIn: { databricks: (_values, name) => aliasProblems(name) },
    dependencies: foldersOf,
    consequences(change, workspace) {
      if (change.action !== "delete" || change.live === undefined) return [];
      return effectOn("empty folders in it are deleted too", emptyFolders(change.live.facts, workspace));
    },
    objections(change, workspace) {
      if (change.action !== "delete" || change.live === undefined) return [];
      const foreign = staying(change.live.facts, workspace).map(baseName);
      if (foreign.length === 0) return [];
      return [
        {
          code: "GUARD_DATA_LOSS",
          message: `the directory ${change.live.name} contains objects that this plan does not delete: ${listed(foreign)}`,
          hint: `move them first, or keep the directory: run \`workspace state rm ${shellWord(change.address)}\``,
        },
      ];
    },
  },

  operations: {
    list: (api, scope) => treeObjects(api, scope, toLive),
    /** Of a directory that the spec no longer has, what it holds decides whether it may go. */
    async readDetails(api, live, desired) {
      if (desired !== undefined) return live;
      const holds = await holdsOf(api, live.name);
      return { ...live, facts: { ...live.facts, holds } };
    },
    read: (api, id) => liveIfPresent(() => api.read("workspace/get-status", { path: id }), toLive),
    async create(api, task) {
      await api.write("workspace/mkdirs", { path: task.name });
      return remoteId(task.name);
    },
    /** A directory has no field that can change. */
    update: async () => {},
    /** Folders in it are empty now. Each is deleted by its own request, so that an object created meanwhile prevents it. */
    async delete(api, task) {
      const before = everythingBelow((task.observed ?? task.live)?.facts ?? {});
      const planned = new Set(before.map(({ path }) => path));
      for (const path of [...emptied({ holds: await holdsOf(api, task.id) }, planned), task.id])
        await removeFromTree(api, path);
    },
  },
});
