// Keys made of WORKSPACE_STATE_KEY: random bytes are expanded, a passphrase is stretched, so that each guess of it costs time and memory.

import { hkdfSync, scryptSync } from "node:crypto";
import type { KeyText } from "./key-text.ts";

const KEY_BYTES = 32;
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

/** `use` separates keys of different uses. */
export function derive({ kdf, bytes }: KeyText, salt: Uint8Array | string, use: string): Uint8Array {
  if (kdf === "hkdf") return new Uint8Array(hkdfSync("sha256", bytes, salt, use, KEY_BYTES));
  const stretched = scryptSync(bytes, salt, KEY_BYTES, SCRYPT);
  return new Uint8Array(hkdfSync("sha256", stretched, "", use, KEY_BYTES));
}
