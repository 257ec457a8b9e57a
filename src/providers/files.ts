// Files of the workspace's file system (contract: part A, 2.8 and 4.5). Compared by content, which is read by ranges.

import { remoteId } from "../core/address.ts";
import type { JsonObject } from "../core/json.ts";
import { sizeAndDigest } from "../resource/content-kinds.ts";
import type { LiveObject, Problem } from "../resource/provider.ts";
import { factsOf, found, keyIn, objectsIn, textIn, unlessGone } from "./answer.ts";
import { defineProvider, optional, text } from "./define.ts";
import { sourceFields } from "./fields/source.ts";
import { rangesOf, summed, textOf } from "./files/content.ts";
import { partOf, upload } from "./files/upload.ts";
import { entriesFor, pathProblems } from "./paths.ts";

const fields = {
  ...sourceFields("file"),
  content: optional(text({ description: "Size and SHA-256 digest of the content." })),
};

const isFolder = (entry: JsonObject): boolean => entry.is_dir === true;

/** Some services put the scheme before a path. */
const plain = (path: string): string => path.replace(/^[a-z]+:(?=\/)/, "");

function toSpec(entry: JsonObject): LiveObject | undefined {
  const path = keyIn(entry, "path");
  if (isFolder(entry)) return undefined;
  const name = plain(path);
  const facts = factsOf({ file_size: textIn(entry, "file_size") ?? "0" });
  return { id: remoteId(name), name, values: {}, facts };
}

function check(_values: unknown, name: string): readonly Problem[] {
  return pathProblems(name, "file");
}

export const files = defineProvider({
  kind: "files",
  one: "file",
  description: "Files of the workspace's file system, written from files of the spec's folder.",
  fields,
  nameField: undefined,
  unique: true,
  idAttribute: "path",
  crash: "client-named",
  replacing: "delete-first",

  check,
  contentText: textOf,
  leftover: partOf,
  steps: () => [{ operation: "write" }],

  async list(api, scope) {
    const list = async (path: string) =>
      objectsIn(await api.read("fs/list", { path }), "files").map((entry) => ({
        ...entry,
        path: plain(keyIn(entry, "path")),
      }));
    const entries = await entriesFor(scope, list, isFolder);
    return entries.flatMap((entry) => toSpec(entry) ?? []);
  },
  /** Whatever is wanted, so that every look at an unchanged file gives the same. */
  async hydrate(api, live) {
    const size = Number(live.facts.file_size);
    const content = sizeAndDigest(size, await summed(api, live.name, size));
    return { ...live, values: { ...live.values, content } };
  },
  content: (api, live) => rangesOf(api, live.name, Number(live.facts.file_size)),
  async read(api, id) {
    const entry = await found(() => api.read("fs/get-status", { path: id }));
    return entry === undefined ? undefined : toSpec(entry);
  },
  async create(api, task) {
    await upload(api, task, false);
    return remoteId(task.name);
  },
  update: (api, task) => upload(api, task, true),
  delete: (api, task) => unlessGone(() => api.write("fs/delete", { path: task.id, recursive: false })),
});
