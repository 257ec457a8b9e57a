// The key for digests of secrets: from WORKSPACE_STATE_KEY, or kept privately beside the state and made on first use.

import { keyedDigest } from "../core/canonical.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { derive } from "./derive.ts";
import { fromHex, readKeyText } from "./key-text.ts";

const KEPT = /^[0-9a-f]{64}\n?$/;

/** Tells two keys apart without telling either. */
export function keyCheck(key: Uint8Array): string {
  return keyedDigest(key, "workspace state key").slice(0, 16);
}

/** The key that WORKSPACE_STATE_KEY stands for, the same wherever it is asked for: plans are made before there is a state. */
export function keyFromText(text: string): Uint8Array {
  return derive(readKeyText(text), "workspace state digests", "workspace state digests");
}

/** The key that a place keeps. */
export function keptKey(text: string, name: string): Uint8Array {
  if (!KEPT.test(text)) throw new Failure(error("STATE_KEY", `${name} holds no key`));
  return fromHex(text.trim());
}

export function keyToHex(key: Uint8Array): string {
  return [...key].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function otherKey(given: boolean, name: string): Failure {
  return new Failure(
    error(
      "STATE_KEY",
      given ? "the key is not the one that this state was written with" : "the state's key is missing",
      { hint: `set WORKSPACE_STATE_KEY to the key of this state, or put back ${name}` },
    ),
  );
}
