// JSON that was imported: nothing about its shape is known.

import type { Json, JsonObject } from "../../core/json.ts";
import { toText } from "./notebook.ts";

/** The value as an object; an empty one when it is something else. */
export function objectOf(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The object in a JSON text, or undefined when the text is not JSON. */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(toText(bytes)) as Json);
  } catch {
    return undefined;
  }
}
