// Reads `field=value` arguments as the input of an operation, and checks it against the contract before it is sent.

import { Ajv2020 } from "ajv/dist/2020.js";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { type Path, valueAt, withValueAt } from "../../core/pointer.ts";
import { shortened } from "../../core/sentences.ts";
import { suggester } from "../../core/suggest.ts";
import { utf8Text } from "../../core/utf8.ts";
import { schemaMessages } from "../../spec/schema/error-messages.ts";
import { toSchemaErrors } from "../../spec/schema/validate.ts";
import type { CatalogOperation, OperationCatalog } from "./api-catalog.ts";

/** Reads a file, or stdin for `-`. */
type ReadFile = (path: string) => Promise<Uint8Array>;

/** Throws Failure with CLI_USAGE. Unknown fields are reported by `inputProblems`. */
export async function inputOf(
  catalog: OperationCatalog,
  operation: CatalogOperation,
  words: readonly string[],
  whole: JsonObject,
  read: ReadFile,
): Promise<JsonObject> {
  let input = whole;
  const names = new Set<string>();
  for (const word of words) {
    const { name, value: text, isJson } = split(operation, word);
    const { path, schema } = placeOf(catalog, operation, name);
    const value = isJson ? jsonOf(name, text) : await valueGiven(name, schema, text, read);
    const isItem = !isJson && !Array.isArray(value) && takesItems(schema);
    if (names.has(name) && !isItem)
      throw failureOf("CLI_USAGE", `duplicate field ${name}`, {
        hint: "set it once; for a list, repeat it for each item, or pass the list as JSON",
      });
    names.add(name);
    input = (isItem ? withItem(input, path, value) : withValueAt(input, path, value)) as JsonObject;
  }
  return input;
}

function split(
  operation: CatalogOperation,
  word: string,
): { readonly name: string; readonly value: string; readonly isJson: boolean } {
  const equals = word.indexOf("=");
  const isJson = word[equals - 1] === ":";
  const name = word.slice(0, isJson ? equals - 1 : equals);
  if (equals > 0 && name !== "") return { name, value: word.slice(equals + 1), isJson };
  throw failureOf("CLI_USAGE", `"${word}" is not field=value`, {
    hint: `to list its fields, run \`workspace api ${operation.id} --help\``,
  });
}

/** Follows `autoscale.min_workers` into an object, and `spark_conf.spark.speculation` to a key of a map. */
function placeOf(
  catalog: OperationCatalog,
  operation: CatalogOperation,
  name: string,
): { readonly path: Path; readonly schema: JsonObject } {
  const whole = operation.fields.find((field) => field.name === name);
  if (whole !== undefined) return { path: [name], schema: whole.schema };
  const outer = operation.fields.find((field) => name.startsWith(`${field.name}.`));
  if (outer === undefined) return { path: [name], schema: {} };
  const path: string[] = [outer.name];
  let { schema } = outer;
  for (let rest = name.slice(outer.name.length + 1); rest !== ""; ) {
    const inner = objectIn(schema.properties);
    const key = Object.keys(inner).find((key) => rest === key || rest.startsWith(`${key}.`)) ?? rest;
    path.push(key);
    schema = catalog.follow(inner[key] ?? schema.additionalProperties);
    rest = rest.slice(key.length + 1);
  }
  return { path, schema };
}

async function valueGiven(name: string, schema: JsonObject, text: string, read: ReadFile): Promise<Json> {
  if (!text.startsWith("@")) return typed(name, schema, text);
  const bytes = await read(text.slice(1));
  if (schema.format === "byte") return Buffer.from(bytes).toString("base64");
  return typed(name, schema, textOf(name, bytes));
}

function textOf(name: string, bytes: Uint8Array): string {
  const text = utf8Text(bytes);
  if (text === undefined) throw failureOf("CLI_USAGE", `the file for ${name} is not UTF-8 text`);
  return text;
}

/** A value that is not of the type stays a string, so that the check can report it. */
function typed(name: string, schema: JsonObject, text: string): Json {
  const types = [schema.type].flat();
  if (types.includes("string")) return text;
  if (types.includes("array")) return typedItem(name, schema, text);
  if (types.includes("object") || objectIn(schema.properties) === schema.properties)
    return jsonOf(name, text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  const isNumber = types.includes("integer") || types.includes("number");
  if (isNumber && /^-?\d+(\.\d+)?$/.test(text)) return parseJson(text);
  return text;
}

function typedItem(name: string, schema: JsonObject, text: string): Json {
  if (text.trimStart().startsWith("[")) return jsonOf(name, text);
  const items = objectIn(schema.items);
  return text.trimStart().startsWith("{") ? jsonOf(name, text) : typed(name, items, text);
}

function jsonOf(name: string, text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw failureOf("CLI_USAGE", `the value of ${name} is not JSON: ${shortened(text, 60)}`, {
      hint: `in a shell, quote it: '${name}:={"key": "value"}'`,
    });
  }
}

const takesItems = (schema: JsonObject): boolean => [schema.type].flat().includes("array");

function withItem(input: JsonObject, path: Path, item: Json): Json {
  const before = valueAt(input, path);
  return withValueAt(input, path, [...(Array.isArray(before) ? before : []), item]) ?? {};
}

/** The JSON object in a file, or in stdin for `-`. Throws Failure with CLI_USAGE. */
export async function inputObject(path: string, read: ReadFile): Promise<JsonObject> {
  try {
    const value = parseJson(new TextDecoder().decode(await read(path)));
    if (isObject(value)) return value;
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
  }
  throw failureOf("CLI_USAGE", `${path} does not contain a JSON object`);
}

/** Returns every violation of the contract, in the words of the spec validation. */
export function inputProblems(
  catalog: OperationCatalog,
  operation: CatalogOperation,
  input: JsonObject,
): readonly Diagnostic[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false });
  ajv.addFormat("int32", { type: "number", validate: (value: number) => Math.abs(value + 0.5) <= 2 ** 31 });
  ajv.addFormat("int64", { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 63 });
  ajv.addFormat("byte", /^[A-Za-z0-9+/_-]*={0,2}$/);
  for (const format of ["float", "double"])
    ajv.addFormat(format, { type: "number", validate: Number.isFinite });
  const validate = ajv.compile(schemaOf(catalog, operation) as object);
  const value = measured(input);
  if (validate(value)) return [];
  const suggest = suggester();
  return schemaMessages(toSchemaErrors(validate.errors ?? [], value), operation.id, suggest).map(
    ({ message, hint }) =>
      error("CLI_USAGE", message, {
        hint: hint ?? `to list its fields, run \`workspace api ${operation.id} --help\``,
      }),
  );
}

/** The contract accepts unknown fields. They are reported here, because they are usually typos. */
function schemaOf({ components }: OperationCatalog, { fields }: CatalogOperation): Json {
  return closed({
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    required: fields.filter((field) => field.required).map(({ name }) => name),
    components: { schemas: components },
  });
}

function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  const out: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(schema as JsonObject))
    out[key] = key === "default" || key === "example" ? value : closed(value);
  const isObject = out.properties !== undefined && Object.keys(objectIn(out.properties)).length > 0;
  const isPart = listIn(out.allOf).length > 0 || out.$ref !== undefined;
  return isObject && !isPart && out.additionalProperties === undefined
    ? { ...out, additionalProperties: false }
    : out;
}

/** The validator does not support bigint. A number of about the same size has the same limits. */
function measured(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(measured);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, value]) => [key, measured(value)]),
  );
}
