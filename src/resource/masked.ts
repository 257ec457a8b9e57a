// Masks sensitive values for renderers and rules. The field table defines which values are sensitive.

import { type Json, type JsonObject, objectIn } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import { hasDigest } from "../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../core/sensitive/texts.ts";
import { type FieldSchema, type FieldTable, schemaAt } from "./field-schema.ts";
import { mapValue, tableSchema } from "./walk.ts";

/** Whether the value at a path, or anything above it, is sensitive. */
export function isSensitive(fields: FieldTable, path: Path): boolean {
  return path.some((_key, at) => schemaAt(fields, path.slice(0, at + 1)).sensitive === true);
}

/** A copy in which sensitive values are `(sensitive)`. */
export function maskedValues(fields: FieldTable, values: JsonObject): JsonObject {
  return maskedValue(tableSchema(fields), values) as JsonObject;
}

export function maskedValue(schema: FieldSchema, value: Json): Json {
  const masked = mapValue(schema, value, ({ sensitive }, _value, inside) =>
    sensitive === true ? SENSITIVE_TEXT : inside(),
  );
  return masked ?? null;
}

/** The shape of the sensitive places: `true` where a value is masked, `false` for other entries of its list; undefined where none is. */
export function sensitiveShape(schema: FieldSchema, value: Json): Json | undefined {
  return mapValue(schema, value, ({ sensitive }, value, inside, key) => {
    if (sensitive === true || (typeof value === "string" && hasDigest(value))) return true;
    const shape = typeof value === "object" ? inside() : undefined;
    const isMasked = Array.isArray(shape)
      ? shape.some((item) => item !== false)
      : Object.keys(objectIn(shape)).length > 0;
    if (isMasked) return shape;
    return typeof key === "number" ? false : undefined;
  });
}
