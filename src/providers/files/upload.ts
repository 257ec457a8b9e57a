// Writes a file: in one request up to a megabyte, beyond that in blocks to a path beside it, looked at, then moved.

import { digest } from "../../core/canonical.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { Refused } from "../../core/outcome.ts";
import type { Acting, Task } from "../../resource/provider.ts";
import { textIn, unlessGone } from "../answer.ts";
import { contentBytes } from "../payload.ts";
import { MEGABYTE, summed } from "./content.ts";

export async function upload(api: Acting, task: Task, overwrite: boolean): Promise<void> {
  const bytes = contentBytes(task);
  if (bytes.length <= MEGABYTE) await api.write("fs/put", { path: task.name, contents: bytes, overwrite });
  else await uploadLarge(api, task, bytes, overwrite);
}

async function uploadLarge(api: Acting, task: Task, bytes: Uint8Array, overwrite: boolean): Promise<void> {
  const part = partOf(task.name, task.token);
  await writeBlocks(api, part, bytes);
  await verify(api, task, part, bytes);
  if (overwrite) await unlessGone(() => api.write("fs/delete", { path: task.name, recursive: false }));
  try {
    await api.write("fs/move", { source_path: part, destination_path: task.name });
  } catch (refusal) {
    if (refusal instanceof Refused)
      await unlessGone(() => api.write("fs/delete", { path: part, recursive: false }));
    throw refusal;
  }
}

/** Where a large file is put together. What a cut upload leaves there is found again by its token. */
export const partOf = (path: string, token: string): string => `${path}.${token}.part`;

/** A block cannot be sent again: whatever fails fails the upload, and the file appears only when it is closed. */
async function writeBlocks(api: Acting, path: string, bytes: Uint8Array): Promise<void> {
  const { handle } = await api.write("fs/create", { path, overwrite: true });
  if (handle === undefined)
    throw new Failure(error("API_PROTOCOL", `the service opened ${path} and did not say under which handle`));
  for (let offset = 0; offset < bytes.length; offset += MEGABYTE)
    await api.write("fs/add-block", { handle, data: bytes.subarray(offset, offset + MEGABYTE) });
  await api.write("fs/close", { handle });
}

/** Length first, then content: a block that was lost must not become a file that is wrong. */
async function verify(api: Acting, task: Task, part: string, bytes: Uint8Array): Promise<void> {
  const size = Number(textIn(await api.read("fs/get-status", { path: part }), "file_size"));
  if (size === bytes.length && (await summed(api, part, size)) === digest(bytes)) return;
  await unlessGone(() => api.write("fs/delete", { path: part, recursive: false }));
  throw new Failure(
    error("APPLY_VERIFY", `what arrived of ${task.name} is not what was sent`, {
      address: task.address,
      hint: "nothing was changed; apply again",
    }),
  );
}
