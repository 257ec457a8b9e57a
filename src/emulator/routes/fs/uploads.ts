// Uploads in blocks: a handle that collects a file until it is closed or idle for too long
// (contract A 3, contract A 4.5 rules 1, 3, 4).

import type { JsonObject } from "../../../core/json.ts";
import { decodeBase64, pathOfSegments } from "../../world/encoding.ts";
import { ApiError, notFound } from "../../world/errors.ts";
import { FILES } from "../../world/limits.ts";
import type { Operations } from "../../world/operation.ts";
import type { Collection, World } from "../../world/world.ts";
import { checkFree, fileSegments, fileTree, makeDirectories, putFile } from "./files.ts";

interface Upload {
  readonly path: string;
  readonly overwrite: boolean;
  readonly blob: string;
  readonly used: number;
}

const uploadsOf = (world: World): Collection<Upload> => world.collection("files.uploads");

export const EXPIRE = "fs/expire";

export const uploadOperations: Operations = {
  "fs/create": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const overwrite = input.overwrite === true;
    checkFree(fileTree(world).find(segments), segments, overwrite);
    makeDirectories(world, segments.slice(0, -1));
    const handle = world.next("files.uploads");
    const path = pathOfSegments(segments);
    const upload: Upload = { path, overwrite, blob: world.blobs.create(), used: world.now };
    uploadsOf(world).set(String(handle), upload);
    watch(world, String(handle), upload);
    return { json: { handle } };
  },

  "fs/add-block": ({ input }, world) => {
    const { handle, upload } = openUpload(world, input);
    const data = decodeBase64("data", String(input.data));
    checkBlock("data", data);
    world.blobs.append(upload.blob, data);
    uploadsOf(world).set(handle, { ...upload, used: world.now });
  },

  "fs/close": ({ input }, world) => {
    const { handle, upload } = openUpload(world, input);
    putFile(world, fileSegments(upload.path), upload.blob, upload.overwrite);
    uploadsOf(world).delete(handle);
    world.timers.cancel(timerOf(handle));
  },
};

/** One block, or one whole file, is at most 1 MB before encoding (contract A 8). */
export function checkBlock(field: string, data: Uint8Array): void {
  if (data.length > FILES.block_bytes)
    throw new ApiError(
      "MAX_BLOCK_SIZE_EXCEEDED",
      `The '${field}' data cannot exceed ${FILES.block_bytes} bytes. Found: ${data.length} bytes.${field === "contents" ? " You might want to use streaming upload instead." : ""}`,
    );
}

function openUpload(world: World, input: JsonObject): { readonly handle: string; readonly upload: Upload } {
  const handle = String(input.handle);
  const upload = uploadsOf(world).get(handle);
  if (upload === undefined || expiry(upload) <= world.now)
    throw notFound(`No such stream with handle: ${handle}.`);
  return { handle, upload };
}

const expiry = (upload: Upload): number => upload.used + FILES.handle_idle_ms;
const timerOf = (handle: string): string => `${EXPIRE}/${handle}`;

/** One timer for each handle: when it comes due, it checks whether the handle was used since. */
function watch(world: World, handle: string, upload: Upload): void {
  world.timers.set(timerOf(handle), expiry(upload), EXPIRE, { handle });
}

export function expireUpload(world: World, payload: JsonObject, at: number): void {
  const handle = String(payload.handle);
  const upload = uploadsOf(world).get(handle);
  if (upload === undefined) return;
  if (expiry(upload) > at) {
    watch(world, handle, upload);
    return;
  }
  uploadsOf(world).delete(handle);
  world.blobs.delete(upload.blob);
}
