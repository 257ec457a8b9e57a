// BYTES of the contract as they come: base64 text of an answer, as bytes.

import { error, Failure } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";

/** The bytes of a member of an answer. Throws Failure (API_PROTOCOL) where it is no base64. */
export function bytesIn(answer: JsonObject, key: string): Uint8Array {
  const value = answer[key] ?? "";
  try {
    if (typeof value !== "string") throw new TypeError("not a text");
    return Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Failure(error("API_PROTOCOL", `the service answered with ${key} that is not base64`));
  }
}
