// Workspace files in the Databricks dialect: files of any content in the workspace tree, compared by content.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import { digest } from "../core/digest.ts";
import type { JsonObject } from "../core/json.ts";
import { utf8Text } from "../core/utf8.ts";
import { sizeAndDigest } from "../resource/kind.ts";
import type { LiveObject } from "../resource/live.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import { defineProvider, sourceFields, textField } from "./kit/field-builders.ts";
import { aliasProblems, PATH_IDENTITY, pathProblems } from "./kit/names.ts";
import { contentBytes, liveIfPresent } from "./kit/responses.ts";
import {
  exportedBytes,
  exportedDigest,
  foldersOf,
  importInto,
  removeFromTree,
  treeObject,
  treeObjects,
} from "./kit/tree-objects.ts";

const fields = {
  ...sourceFields("file"),
  content: textField({ severity: "other", description: "Size and SHA-256 digest of the content." }),
};

const toLive = (entry: JsonObject): LiveObject | undefined => treeObject(entry, "FILE", fields, {});

/** The format RAW makes a file of any content, also of the source of a notebook. */
const write = (api: OperationWriter, task: Task, overwrite: boolean): Promise<void> =>
  importInto(api, task.name, { path: task.name, format: "RAW", content: contentBytes(task), overwrite });

const contentOf = (bytes: Uint8Array): string => sizeAndDigest(bytes.length, digest(bytes));

async function hydrate(api: Reader, live: LiveObject): Promise<LiveObject> {
  const content = await exportedDigest(api, live.name, contentOf);
  return { ...live, values: { ...live.values, content } };
}

export const workspaceFiles = defineProvider({
  kind: "workspace_files",
  dialect: "databricks",
  singular: "workspace file",
  description:
    "Files in the workspace tree, such as libraries, scripts, and requirements, of at most 10 MB each, written from files in the spec's folder.",
  fields,
  severity: "availability",
  ...PATH_IDENTITY,
  tree: { root: "workspace", folders: false },

  planning: {
    validate: (_values, name) => [...pathProblems(name, "workspace file"), ...aliasProblems(name)],
    dependencies: foldersOf,
    steps: () => [{ operation: "import" }],
    content: { text: (bytes) => (bytes.includes(0) ? undefined : utf8Text(bytes)) },
  },

  operations: {
    list: (api, scope) => treeObjects(api, scope, toLive),
    readDetails: hydrate,
    async *readContent(api, live) {
      yield await exportedBytes(api, live.name);
    },
    read: (api, id) => liveIfPresent(() => api.read("workspace/get-status", { path: id }), toLive),
    async create(api, task) {
      await write(api, task, false);
      return remoteId(task.name);
    },
    update: (api, task) => write(api, task, true),
    async delete(api, { id }) {
      await removeFromTree(api, id);
    },
  },
});
