// Translates answers of the contract to a dialect: names, values, URIs, maps, and added fields.

import { isObject, type Json, type JsonObject, objectIn } from "../../../core/json.ts";
import { type DialectSchemas, type ResolvedSchema, renames, reversed } from "./schema.ts";

export const fromContract = (schemas: DialectSchemas, schema: JsonObject, json: JsonObject): JsonObject =>
  objectIn(valueInDialect(schemas, schema, json));

function valueInDialect(schemas: DialectSchemas, schema: JsonObject, value: Json): Json {
  const followed = schemas.follow(schema);
  const { marks } = followed;
  if (typeof value === "string") return textInDialect(marks, value);
  if (marks["x-tags"] === true || marks["x-keys"] !== undefined) return mapInDialect(marks, value);
  if (Array.isArray(value))
    return value.map((member) => valueInDialect(schemas, objectIn(marks.items), member));
  return isObject(value) ? objectInDialect(schemas, followed, value) : value;
}

function objectInDialect(
  schemas: DialectSchemas,
  { marks, fields }: ResolvedSchema,
  value: JsonObject,
): Json {
  if (fields === undefined) return value;
  const { extra, ...members } = value;
  const keeps = marks["x-keeps"] === true;
  const names = namesInDialect(schemas, fields);
  const own = Object.entries(keeps ? members : value).map(([contractName, member]): [string, Json] => {
    const name = names.get(contractName) ?? contractName;
    const field = fields.get(name);
    return [name, field === undefined ? member : valueInDialect(schemas, field, member)];
  });
  return withAdded(Object.fromEntries(own), keeps ? extra : undefined);
}

/** From the contract's name of a field to the one here. */
function namesInDialect(
  schemas: DialectSchemas,
  fields: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, field] of fields) {
    const followed = schemas.follow(field);
    const contractName = followed.marks["x-contract-name"];
    if (typeof contractName === "string" && schemas.isHere(followed)) names.set(contractName, name);
  }
  return names;
}

/** Objects member by member; anything else that was kept counts. */
function withAdded(value: Json, extra: Json | undefined): Json {
  if (extra === undefined) return value;
  if (!isObject(value) || !isObject(extra)) return extra;
  const merged = Object.entries(extra).map(([name, member]): [string, Json] => [
    name,
    Object.hasOwn(value, name) ? withAdded(value[name] ?? null, member) : member,
  ]);
  return { ...value, ...Object.fromEntries(merged) };
}

function textInDialect(marks: JsonObject, text: string): Json {
  const value = reversed(renames(marks["x-values"]))[text];
  if (value !== undefined) return value;
  if (marks["x-lower"] === true) return text.toLowerCase();
  return marks["x-uri"] === true ? text.replace(/^fs:/, "dbfs:") : text;
}

function mapInDialect(marks: JsonObject, value: Json): Json {
  const map = Array.isArray(value)
    ? Object.fromEntries(value.map(objectIn).map(({ key, value: text }) => [String(key), text ?? ""]))
    : objectIn(value);
  const names = reversed(renames(marks["x-keys"]));
  const constants = objectIn(marks["x-constants"]);
  const dropped = Array.isArray(marks["x-drop"]) ? marks["x-drop"] : [];
  return Object.fromEntries(
    Object.entries(map)
      .filter(([key]) => !dropped.includes(key))
      .map(([key, text]) => [names[key] ?? key, constants[key] ?? text]),
  );
}
