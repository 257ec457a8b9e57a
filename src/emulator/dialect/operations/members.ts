// Members of JSON values: a list that may be missing, an object without some members or with some alone.

import type { Json, JsonObject } from "../../../core/json.ts";

export function listMember(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

export function only(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
