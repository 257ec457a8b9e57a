// Masks sensitive values for renderers and rules. The field table defines which values are sensitive.

import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import { SENSITIVE_TEXT } from "../core/sensitive.ts";
import { hasDigest } from "../core/sensitive-values.ts";
import { type FieldSchema, type FieldTable, itemSchema, memberSchema, schemaAt } from "./field-schema.ts";

/** Whether the value at a path, or anything above it, is sensitive. */
export function isSensitive(fields: FieldTable, path: Path): boolean {
  return path.some((_key, at) => schemaAt(fields, path.slice(0, at + 1)).sensitive === true);
}

/** A copy in which sensitive values are `(sensitive)`. */
export function maskedValues(fields: FieldTable, values: JsonObject): JsonObject {
  return maskedValue({ properties: fields }, values) as JsonObject;
}

export function maskedValue(schema: FieldSchema, value: Json): Json {
  if (schema.sensitive === true) return SENSITIVE_TEXT;
  if (Array.isArray(value)) return value.map((item) => maskedValue(itemSchema(schema), item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, maskedValue(memberSchema(schema, key), member)]),
  );
}

/** The shape of the sensitive places: `true` where a value is masked, `false` for other entries of its list; undefined where none is. */
export function sensitiveShape(schema: FieldSchema, value: Json): Json | undefined {
  if (schema.sensitive === true || (typeof value === "string" && hasDigest(value))) return true;
  if (Array.isArray(value)) {
    const items = value.map((item) => sensitiveShape(itemSchema(schema), item));
    return items.some((item) => item !== undefined) ? items.map((item) => item ?? false) : undefined;
  }
  if (!isObject(value)) return undefined;
  const shape = Object.entries(value).flatMap(([key, member]) => {
    const inner = sensitiveShape(memberSchema(schema, key), member);
    return inner === undefined ? [] : [[key, inner] as const];
  });
  return shape.length === 0 ? undefined : Object.fromEntries(shape);
}
