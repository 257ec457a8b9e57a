// Files of the workspace's file system (contract A 2.8 and contract A 4.5), compared by content. A large file is
// uploaded in blocks to a temporary path, verified, and moved.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { digest, startDigest } from "../core/digest.ts";
import { defined, type JsonObject } from "../core/json.ts";
import { Refused } from "../core/request-failure.ts";
import { utf8Text } from "../core/utf8.ts";
import { sizeAndDigest } from "../resource/kind.ts";
import type { LiveObject } from "../resource/live.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import { defineProvider, sourceFields, textField } from "./kit/field-builders.ts";
import { entriesFor, PATH_IDENTITY, pathProblems } from "./kit/names.ts";
import {
  bytesIn,
  contentBytes,
  ignoreMissing,
  keyIn,
  liveIfPresent,
  objectsIn,
  responseText,
} from "./kit/responses.ts";
import { withUnknownFields } from "./kit/unknown-fields.ts";

/** The most that one request reads or writes (contract A 8). */
const MEGABYTE = 1024 * 1024;

/** SHA-256 of a live file of this size, read range by range. */
async function summed(api: Reader, path: string, size: number): Promise<string> {
  const sum = startDigest();
  for await (const piece of rangesOf(api, path, size)) sum.add(piece);
  return sum.end();
}

/** A live file of this size, range by range. */
async function* rangesOf(api: Reader, path: string, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size; ) {
    const length = Math.min(MEGABYTE, size - offset);
    const bytes = bytesIn(await api.read("fs/read", { path, offset, length }), "data");
    if (bytes.length === 0)
      throw new Failure(error("API_PROTOCOL", `${path} ended at ${offset} of ${size} bytes during the read`));
    yield bytes;
    offset += bytes.length;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : utf8Text(bytes);
}

async function upload(api: OperationWriter, task: Task, overwrite: boolean): Promise<void> {
  const bytes = contentBytes(task);
  if (bytes.length <= MEGABYTE) await api.write("fs/put", { path: task.name, contents: bytes, overwrite });
  else await uploadLarge(api, task, bytes, overwrite);
}

async function uploadLarge(
  api: OperationWriter,
  task: Task,
  bytes: Uint8Array,
  overwrite: boolean,
): Promise<void> {
  const part = partOf(task.name, task.token);
  await writeBlocks(api, part, bytes);
  await verify(api, task, part, bytes);
  if (overwrite) await ignoreMissing(() => api.write("fs/delete", { path: task.name, recursive: false }));
  try {
    await api.write("fs/move", { source_path: part, destination_path: task.name });
  } catch (refusal) {
    if (refusal instanceof Refused)
      await ignoreMissing(() => api.write("fs/delete", { path: part, recursive: false }));
    throw refusal;
  }
}

/** Where a large file is put together. What a cut upload leaves there is found again by its token. */
const partOf = (path: string, token: string): string => `${path}.${token}.part`;

/** A block cannot be sent again: whatever fails fails the upload, and the file appears only when it is closed. */
async function writeBlocks(api: OperationWriter, path: string, bytes: Uint8Array): Promise<void> {
  const { handle } = await api.write("fs/create", { path, overwrite: true });
  if (handle === undefined)
    throw new Failure(error("API_PROTOCOL", `the service opened ${path} but did not return a handle`));
  for (let offset = 0; offset < bytes.length; offset += MEGABYTE)
    await api.write("fs/add-block", { handle, data: bytes.subarray(offset, offset + MEGABYTE) });
  await api.write("fs/close", { handle });
}

/** Length first, then content: a block that was lost must not become a file that is wrong. */
async function verify(api: OperationWriter, task: Task, part: string, bytes: Uint8Array): Promise<void> {
  const size = Number(responseText(await api.read("fs/get-status", { path: part }), "file_size"));
  if (size === bytes.length && (await summed(api, part, size)) === digest(bytes)) return;
  await ignoreMissing(() => api.write("fs/delete", { path: part, recursive: false }));
  throw new Failure(
    error("APPLY_VERIFY", `the uploaded content of ${task.name} does not match the file`, {
      address: task.address,
      hint: "the file was not changed; apply again",
    }),
  );
}

const fields = {
  ...sourceFields("file"),
  content: textField({ severity: "other", description: "Size and SHA-256 digest of the content." }),
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["path", "is_dir", "file_size", "modification_time"]);

const isFolder = (entry: JsonObject): boolean => entry.is_dir === true;

/** Some services put the scheme before a path. */
const plain = (path: string): string => path.replace(/^[a-z]+:(?=\/)/, "");

function toLive(entry: JsonObject): LiveObject | undefined {
  const path = keyIn(entry, "path");
  if (isFolder(entry)) return undefined;
  const name = plain(path);
  const facts = defined({
    file_size: responseText(entry, "file_size") ?? "0",
    modification_time: responseText(entry, "modification_time"),
  });
  return withUnknownFields({ id: remoteId(name), name, values: {}, facts }, {}, entry, READ_ONLY);
}

/** Whether a folder contains a state of this program (`--state workspace:/folder`). */
function holdsState(entries: readonly { readonly path: string }[]): boolean {
  const names = entries.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  return [/^lock\.\d+$/, /^(state(\.\d+){2}|journal(\.\d+){4})$/].every((pattern) =>
    names.some((name) => pattern.test(name)),
  );
}

export const files = defineProvider({
  kind: "files",
  singular: "file",
  description: "Files in the workspace's file system, written from files in the spec's folder.",
  fields,
  severity: "availability",
  ...PATH_IDENTITY,
  tree: { root: "files", folders: false },

  planning: {
    validate: (_values, name) => pathProblems(name, "file"),
    steps: () => [{ operation: "write" }],
    content: {
      text: textOf,
      partialUploadName: partOf,
    },
  },

  operations: {
    async list(api, scope) {
      const list = async (path: string) => {
        const all = objectsIn(await api.read("fs/list", { path }), "files");
        const entries = all.map((entry) => ({ ...entry, path: plain(keyIn(entry, "path")) }));
        return holdsState(entries) ? entries.filter((entry) => scope.names.has(entry.path)) : entries;
      };
      const entries = await entriesFor(scope, list, isFolder, (entry) => !isFolder(entry));
      return entries.flatMap((entry) => toLive(entry) ?? []);
    },
    /** Independent of the spec, so that two reads of an unchanged file are equal. */
    async readDetails(api, live) {
      const size = Number(live.facts.file_size);
      const content = sizeAndDigest(size, await summed(api, live.name, size));
      return { ...live, values: { ...live.values, content } };
    },
    readContent: (api, live) => rangesOf(api, live.name, Number(live.facts.file_size)),
    read: (api, id) => liveIfPresent(() => api.read("fs/get-status", { path: id }), toLive),
    async create(api, task) {
      await upload(api, task, false);
      return remoteId(task.name);
    },
    update: (api, task) => upload(api, task, true),
    delete: (api, task) => ignoreMissing(() => api.write("fs/delete", { path: task.id, recursive: false })),
  },
});
