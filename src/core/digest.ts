// SHA-256 and HMAC-SHA-256 as 64 hex digits, also of canonical JSON (sorted members), and one encrypted block.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
} from "node:crypto";
import { parseJson, stringifyJson } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { setMember } from "./pointer.ts";

/** JSON text with the members of every object in code-unit order; equal values give equal text. */
export function canonicalJson(value: Json): string {
  return stringifyJson(sorted(value));
}

/**
 * The canonical JSON of a value in pieces, which joined are `canonicalJson`: members and items down to `depth` are one piece each, so that the
 * text of a large document is never in memory as a whole. `toPlain`: for values that JSON changes, such as undefined members.
 */
export function* canonicalPieces(
  value: unknown,
  depth: number,
  toPlain: (part: unknown) => Json = plainJson,
): Generator<string> {
  if (depth === 0 || value === null || typeof value !== "object") {
    yield canonicalJson(toPlain(value));
    return;
  }
  if (Array.isArray(value)) {
    yield "[";
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ",";
      yield* canonicalPieces(item ?? null, depth - 1, toPlain);
    }
    yield "]";
    return;
  }
  yield "{";
  let separator = "";
  const object = value as { readonly [key: string]: unknown };
  // An object has keys that are numbers first, in their order, so the text of the whole value has them there, too.
  const sortedKeys = Object.keys(object)
    .sort()
    .map((key) => [key, true] as const);
  for (const key of Object.keys(Object.fromEntries(sortedKeys))) {
    if (object[key] === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* canonicalPieces(object[key], depth - 1, toPlain);
    separator = ",";
  }
  yield "}";
}

/** What a reader of the JSON text of a value gets. */
function plainJson(value: unknown): Json {
  return value === null || typeof value !== "object" ? (value as Json) : parseJson(stringifyJson(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const object = value as { readonly [key: string]: Json };
  const out: { [key: string]: Json } = {};
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) setMember(out, key, sorted(member));
  }
  return out;
}

/** SHA-256 of the canonical JSON of a value, as 64 hex digits. */
export function fingerprint(value: Json): string {
  return digest(canonicalJson(value));
}

/** SHA-256 of bytes or of UTF-8 text, as 64 hex digits. */
export function digest(data: string | Uint8Array): string {
  return hash("sha256", data);
}

/** A digest of data that arrives in pieces. */
interface RunningDigest {
  add(piece: string | Uint8Array): void;
  /** SHA-256 of all pieces, as 64 hex digits. */
  end(): string;
}

export function startDigest(): RunningDigest {
  const running = createHash("sha256");
  return { add: (piece) => void running.update(piece), end: () => running.digest("hex") };
}

/** `keyedDigest` with the key of a state. */
export type KeyedDigest = (value: string | Uint8Array) => string;

/** HMAC-SHA-256 as 64 hex digits: shows that a secret changed, but not its value. */
export function keyedDigest(key: Uint8Array, data: string | Uint8Array | Iterable<string>): string {
  const hmac = createHmac("sha256", keyObject(key));
  if (typeof data === "string" || data instanceof Uint8Array) return hmac.update(data).digest("hex");
  for (const piece of data) hmac.update(piece);
  return hmac.digest("hex");
}

const keyObjects = new WeakMap<Uint8Array, KeyObject>();

/** Keys are prepared once, because preparing one takes most of the time of a digest. */
function keyObject(key: Uint8Array): KeyObject {
  const prepared = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, prepared);
  return prepared;
}

/** 32 hex digits as 32 others, by AES-128 under a key of 32 hex digits. Pairs of results do not show whether pairs of blocks are alike. */
export function encryptedBlock(key: string, block: string): string {
  const cipher = createCipheriv("aes-128-ecb", Buffer.from(key, "hex"), null).setAutoPadding(false);
  return cipher.update(block, "hex", "hex") + cipher.final("hex");
}

export function decryptedBlock(key: string, block: string): string {
  const cipher = createDecipheriv("aes-128-ecb", Buffer.from(key, "hex"), null).setAutoPadding(false);
  return cipher.update(block, "hex", "hex") + cipher.final("hex");
}
