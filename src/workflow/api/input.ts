// Reads `field=value` arguments as the input of an operation. The contract gives the type of each field.

import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Path, valueAt, withValueAt } from "../../core/pointer.ts";
import type { CatalogOperation, OperationCatalog } from "./catalog.ts";

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
    const { name, value, isJson } = split(operation, word);
    const { path, schema } = placeOf(catalog, operation, name);
    const given = isJson ? jsonOf(name, value) : await valueGiven(name, schema, value, read);
    const isItem = !isJson && !Array.isArray(given) && takesItems(schema);
    if (names.has(name) && !isItem) throw new Failure(duplicateField(name));
    names.add(name);
    input = (isItem ? withItem(input, path, given) : withValueAt(input, path, given)) as JsonObject;
  }
  return input;
}

function duplicateField(name: string): Diagnostic {
  return error("CLI_USAGE", `duplicate field ${name}`, {
    hint: "set it once; for a list, repeat it for each item, or pass the list as JSON",
  });
}

function split(
  operation: CatalogOperation,
  word: string,
): { readonly name: string; readonly value: string; readonly isJson: boolean } {
  const equals = word.indexOf("=");
  const isJson = word[equals - 1] === ":";
  const name = word.slice(0, isJson ? equals - 1 : equals);
  if (equals > 0 && name !== "") return { name, value: word.slice(equals + 1), isJson };
  throw new Failure(
    error("CLI_USAGE", `"${word}" is not field=value`, {
      hint: `to list its fields, run \`workspace api ${operation.id} --help\``,
    }),
  );
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
    const key = Object.keys(inner).find((one) => rest === one || rest.startsWith(`${one}.`)) ?? rest;
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
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(error("CLI_USAGE", `the file for ${name} is not UTF-8 text`));
  }
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

/** A list as JSON, or one item of it. */
function typedItem(name: string, schema: JsonObject, text: string): Json {
  if (text.trimStart().startsWith("[")) return jsonOf(name, text);
  const items = objectIn(schema.items);
  return text.trimStart().startsWith("{") ? jsonOf(name, text) : typed(name, items, text);
}

function jsonOf(name: string, text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Failure(
      error("CLI_USAGE", `the value of ${name} is not JSON: ${text.slice(0, 60)}`, {
        hint: `in a shell, quote it: '${name}:={"key": "value"}'`,
      }),
    );
  }
}

const takesItems = (schema: JsonObject): boolean => [schema.type].flat().includes("array");

/** Appends to a list. */
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
  throw new Failure(error("CLI_USAGE", `${path} does not contain a JSON object`));
}
