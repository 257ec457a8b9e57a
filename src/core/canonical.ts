// Canonical JSON (sorted members) and its digest.

import { digest } from "./digest.ts";
import { stringifyJson } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { setMember } from "./pointer.ts";

/** JSON text with the members of every object in code-unit order; equal values give equal text. */
export function canonicalJson(value: Json): string {
  return stringifyJson(sorted(value));
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
