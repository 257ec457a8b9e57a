// The keys of a state, derived from WORKSPACE_STATE_KEY or created on first use. Random bytes are expanded; a
// passphrase is stretched, so that each guess costs time and memory.

import { hkdfSync, scryptSync } from "node:crypto";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";

const KEPT = /^[0-9a-f]{64}\n?$/;

/** Distinguishes two keys without revealing them. */
export function keyCheck(key: Uint8Array): string {
  return keyedDigest(key, "workspace state key").slice(0, 16);
}

/** The key derived from WORKSPACE_STATE_KEY, the same for every state, because plans exist before a state does. */
export function keyFromText(text: string): Uint8Array {
  return derive(readKeyText(text), "workspace state digests", "workspace state digests");
}

export function keptKey(text: string, name: string): Uint8Array {
  if (!KEPT.test(text))
    throw failureOf("STATE_KEY", `${name} does not contain a key`, {
      hint: "restore it from a copy; if nothing has been applied yet, delete it",
    });
  return fromHex(text);
}

export function otherKey(given: boolean, name: string): Failure {
  return failureOf(
    "STATE_KEY",
    given ? "this state was written with another key" : "the state's key is missing",
    {
      hint: `set WORKSPACE_STATE_KEY to the key of this state, or restore ${name}`,
    },
  );
}

export interface KeyText {
  /** How a key is made of it: a passphrase is stretched, random bytes need not be. */
  readonly kdf: "hkdf" | "scrypt";
  readonly bytes: Uint8Array;
}

const SHORTEST = 16;
const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Throws STATE_KEY if the value is too short to be a secret; no message contains the value. */
export function readKeyText(text: string): KeyText {
  const trimmed = text.trim();
  if (trimmed.length < SHORTEST)
    throw failureOf("STATE_KEY", `WORKSPACE_STATE_KEY is shorter than ${SHORTEST} characters`, {
      hint: "use 32 random bytes, for example the output of `openssl rand -hex 32`",
    });
  if (HEX.test(trimmed)) return { kdf: "hkdf", bytes: fromHex(trimmed) };
  if (BASE64.test(trimmed)) return { kdf: "hkdf", bytes: fromBase64(trimmed) };
  return { kdf: "scrypt", bytes: new TextEncoder().encode(trimmed.normalize("NFC")) };
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function fromBase64(text: string): Uint8Array {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
}

const KEY_BYTES = 32;
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

/** `use` separates keys of different uses. */
export function derive({ kdf, bytes }: KeyText, salt: Uint8Array | string, use: string): Uint8Array {
  if (kdf === "hkdf") return new Uint8Array(hkdfSync("sha256", bytes, salt, use, KEY_BYTES));
  const stretched = scryptSync(bytes, salt, KEY_BYTES, SCRYPT);
  return new Uint8Array(hkdfSync("sha256", stretched, "", use, KEY_BYTES));
}
