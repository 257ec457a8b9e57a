// The schemas of outputs (schemas/*.schema.json), as users get them, and closed ones that accept only the members and the values that they name.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Json, JsonObject } from "../src/core/json.ts";

const FOLDER = join(import.meta.dirname, "../schemas");
/** Schemas of files that users write. */
const INPUTS = ["workspace", "test", "prices"];

export const OUTPUT_SCHEMAS: readonly string[] = globSync("*.schema.json", { cwd: FOLDER })
  .map((file) => basename(file, ".schema.json"))
  .filter((name) => !INPUTS.includes(name))
  .sort();

export function outputSchema(name: string): JsonObject {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), "utf8"));
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
const closedAjv = new Ajv2020({ strict: false });
formats.default(ajv);
formats.default(closedAjv);

/** The shipped schema: it accepts the members and the values of later versions. */
export const openValidator = once((name) => {
  const { $id: _id, ...schema } = outputSchema(name);
  return ajv.compile(schema);
});

/** Accepts only what the schema names: the output of this version has no member that the schema does not describe. */
export const closedValidator = once((name) => {
  const { $id: _id, ...schema } = outputSchema(name);
  const { $defs = {}, ...rest } = schema;
  const definitions = Object.entries($defs as JsonObject).map(
    ([key, definition]) => [key, closedMembers(definition ?? null)] as const,
  );
  return closedAjv.compile({ ...(closedAt(rest) as JsonObject), $defs: Object.fromEntries(definitions) });
});

/** A schema is compiled for the first output of a run. */
function once(compile: (name: string) => ValidateFunction): typeof compile {
  const compiled = new Map<string, ValidateFunction>();
  return (name) => {
    const validate = compiled.get(name) ?? compile(name);
    compiled.set(name, validate);
    return validate;
  };
}

/** `properties` of a definition stay open: the place that refers to it closes them, also where it adds some. */
function closedMembers(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closedAt);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).map(([keyword, value]): readonly [string, Json] => {
    if (value === undefined) return [keyword, null];
    if (keyword === "properties")
      return [
        keyword,
        Object.fromEntries(Object.entries(value as JsonObject).map(([k, v]) => [k, closedAt(v ?? null)])),
      ];
    if (keyword === "allOf") return [keyword, value];
    if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.filter(isNamed).map(closedAt)];
    if (["items", "additionalProperties", "oneOf", "prefixItems"].includes(keyword))
      return [keyword, closedAt(value)];
    return [keyword, value];
  });
  return Object.fromEntries(members);
}

function closedAt(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closedAt);
  if (!isObject(schema)) return schema;
  const closed = closedMembers(schema) as JsonObject;
  const hasMembers = ["properties", "$ref", "allOf"].some((keyword) => keyword in closed);
  return hasMembers && !("additionalProperties" in closed)
    ? { ...closed, unevaluatedProperties: false }
    : closed;
}

/** Without the branch for values, and the one for events, of later versions. */
function isNamed(branch: Json, _at: number, all: readonly Json[]): boolean {
  if (!isObject(branch)) return true;
  if (typeof branch.$ref === "string") return !branch.$ref.startsWith("#/$defs/later_");
  const isOpen = Object.keys(branch).every((keyword) => keyword === "type" || keyword === "items");
  return !(isOpen && all.some((other) => isObject(other) && "enum" in other));
}
