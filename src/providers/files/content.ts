// How the content of a live file is read: by ranges of a megabyte.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { error, Failure } from "../../core/diagnostic.ts";
import type { Reader } from "../../resource/verbs.ts";
import { bytesIn } from "../base64.ts";

/** The most that one request reads or writes (part A, 8). */
export const MEGABYTE = 1024 * 1024;

/** SHA-256 of a live file of this size. Never holds more than a range of it. */
export async function summed(api: Reader, path: string, size: number): Promise<string> {
  const hash = sha256.create();
  for await (const piece of rangesOf(api, path, size)) hash.update(piece);
  return bytesToHex(hash.digest());
}

/** A live file of this size, range by range. */
export async function* rangesOf(api: Reader, path: string, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size; ) {
    const length = Math.min(MEGABYTE, size - offset);
    const bytes = bytesIn(await api.read("fs/read", { path, offset, length }), "data");
    if (bytes.length === 0)
      throw new Failure(
        error("API_PROTOCOL", `${path} ended at ${offset} of ${size} bytes while it was read`),
      );
    yield bytes;
    offset += bytes.length;
  }
}

/** The bytes as text; undefined where they are not UTF-8 or hold a NUL. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
