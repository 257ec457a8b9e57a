// JSON that was imported: nothing about its shape is known.

import { assertShallow } from "../../core/exact-json.ts";
import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { notebookText } from "./notebook.ts";

/** The object in a JSON text, or undefined when the text is not JSON. */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = notebookText(bytes);
    assertShallow(text);
    return objectIn(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}
