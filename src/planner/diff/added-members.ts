// Members of maps that the service adds by its own rules.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";

/** The live value without members of a map that the service added. */
export function withoutAdded(
  { addedByService: added }: FieldSchema,
  desired: Json | undefined,
  live: Json,
): Json | undefined {
  if (added === undefined || !isObject(live)) return live;
  const isAdded = (key: string, value: Json): boolean =>
    Object.hasOwn(added, key) && added[key] === value && !(isObject(desired) && Object.hasOwn(desired, key));
  const own = Object.entries(live).filter(([key, value]) => !isAdded(key, value));
  return own.length === 0 ? undefined : (Object.fromEntries(own) as JsonObject);
}
