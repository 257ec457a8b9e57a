// What WORKSPACE_STATE_KEY may hold: 32 bytes in hex or base64, or a passphrase.

import { error, Failure } from "../core/diagnostic.ts";

export interface KeyText {
  /** How a key is made of it: a passphrase is stretched, random bytes need not be. */
  readonly kdf: "hkdf" | "scrypt";
  readonly bytes: Uint8Array;
}

const SHORTEST = 16;
const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Throws STATE_KEY for a text that is too short to be a secret; the text is in no message. */
export function readKeyText(text: string): KeyText {
  const trimmed = text.trim();
  if (trimmed.length < SHORTEST) throw tooShort();
  if (HEX.test(trimmed)) return { kdf: "hkdf", bytes: fromHex(trimmed) };
  if (BASE64.test(trimmed)) return { kdf: "hkdf", bytes: fromBase64(trimmed) };
  return { kdf: "scrypt", bytes: new TextEncoder().encode(trimmed.normalize("NFC")) };
}

function tooShort(): Failure {
  return new Failure(
    error("STATE_KEY", `WORKSPACE_STATE_KEY is shorter than ${SHORTEST} characters`, {
      hint: "use 32 random bytes, for example the output of: openssl rand -hex 32",
    }),
  );
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function fromBase64(text: string): Uint8Array {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
}
