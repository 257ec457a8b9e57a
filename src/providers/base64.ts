// BYTES of the contract as they come: base64 text of an answer, as bytes.

import { error, Failure } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";

const BASE64 = /^[A-Za-z0-9+/\s]*(={1,2}\s*)?$/;

/** The bytes of a member of an answer. Throws Failure (API_PROTOCOL) where it is no base64. */
export function bytesIn(answer: JsonObject, key: string): Uint8Array {
  const value = answer[key] ?? "";
  // Not atob(): contents are megabytes, and a letter at a time that takes a hundred times as long.
  if (typeof value === "string" && BASE64.test(value)) return new Uint8Array(Buffer.from(value, "base64"));
  throw new Failure(error("API_PROTOCOL", `the service answered with ${key} that is not base64`));
}
