// Canonical JSON (sorted members), and digests of it.

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { stringifyJson } from "./exact-json.ts";
import type { Json } from "./json.ts";

/** JSON text with the members of every object in code-unit order; equal values give equal text. */
export function canonicalJson(value: Json): string {
  return stringifyJson(sorted(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const object = value as { readonly [key: string]: Json };
  const out: { [key: string]: Json } = Object.create(null);
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) out[key] = sorted(member);
  }
  return out;
}

/** SHA-256 and HMAC-SHA-256 as 64 hex digits; strings count as their UTF-8 bytes. */
export interface Digests {
  sha256(data: string | Uint8Array): string;
  hmac(key: Uint8Array, data: string | Uint8Array): string;
}

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === "string" ? utf8ToBytes(data) : data;

let digests: Digests = {
  sha256: (data) => bytesToHex(sha256(bytesOf(data))),
  hmac: (key, data) => bytesToHex(hmac(sha256, key, bytesOf(data))),
};

/** SHA-256 of bytes or of UTF-8 text, as 64 hex digits. */
export function digest(data: string | Uint8Array): string {
  return digests.sha256(data);
}

/** Lends the process's own digests, which are ten times as fast and the same. */
export function digestWith(native: Digests): void {
  digests = native;
}

/** SHA-256 of the canonical JSON of a value, as 64 hex digits. */
export function fingerprint(value: Json): string {
  return digest(canonicalJson(value));
}

/**
 * HMAC-SHA-256 under a key that never leaves this machine, as 64 hex digits: shows that a secret changed, but not its
 * value.
 */
export function keyedDigest(key: Uint8Array, data: string | Uint8Array): string {
  return digests.hmac(key, data);
}
