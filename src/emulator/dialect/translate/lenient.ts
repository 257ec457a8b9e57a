// What the vendor's parser accepts: numbers as strings, and elements of SCIM lists without a value.

import { parseJson } from "../../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../../core/json.ts";
import type { DialectSchemas } from "./schema.ts";

/** The value for strict validation; other values are not changed, and validation refuses them. */
export function lenient(schemas: DialectSchemas, schema: JsonObject, value: Json): Json {
  const { marks, fields } = schemas.follow(schema);
  if (typeof value === "string") return numberIn(marks.type, value);
  if (Array.isArray(value)) {
    const items = objectIn(marks.items);
    const list = marks["x-drop-empty"] === true ? value.filter(hasValue) : value;
    return list.map((member) => lenient(schemas, items, member));
  }
  if (!isObject(value)) return value;
  const rest = objectIn(marks.additionalProperties);
  const read = (name: string, member: Json) => lenient(schemas, fields?.get(name) ?? rest, member);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, read(name, member)]));
}

/** `[{}]` and `[{"value": ""}]` say that a list is empty. */
export function hasValue(member: Json): boolean {
  return !isObject(member) || (member.value !== undefined && member.value !== "");
}

function numberIn(type: Json | undefined, text: string): Json {
  if (type === "integer" && /^-?\d{1,19}$/.test(text)) return parseJson(String(BigInt(text)));
  if (type === "number" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
}
