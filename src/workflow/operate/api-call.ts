// The operations of schemas/openapi.yaml for `workspace api`: by name, with their fields; the input from `field=value` arguments, checked against the
// contract before it is sent; and the calls through the client.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import {
  OPERATIONS,
  type OperationName,
  type ReadOperation,
  type WriteOperation,
} from "../../api/contract/operations.ts";
import type { WriteInput } from "../../api/contract/reader.ts";
import { type Diagnostic, error, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { type Path, valueAt, withValueAt } from "../../core/pointer.ts";
import { changedScalars } from "../../core/scalars.ts";
import { Sensitive } from "../../core/sensitive/texts.ts";
import { shortened } from "../../core/sentences.ts";
import { nearestHint, suggester } from "../../core/suggest.ts";
import { utf8Text } from "../../core/utf8.ts";
import { schemaMessages } from "../../spec/schema/error-messages.ts";
import { toSchemaErrors } from "../../spec/schema/validate.ts";
import type { Connection } from "../session/connect.ts";
import { pages } from "./paging.ts";

interface CatalogField {
  readonly name: string;
  readonly required: boolean;
  /** With its reference followed. */
  readonly schema: JsonObject;
}

export interface CatalogOperation {
  /** As the contract calls it. */
  readonly id: string;
  /** As the client calls it. */
  readonly name: OperationName;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly adminOnly: boolean;
  readonly fields: readonly CatalogField[];
}

export interface OperationCatalog {
  readonly operations: readonly CatalogOperation[];
  /** Follows the references of a schema, and joins the parts of `allOf`. */
  follow(schema: Json | undefined): JsonObject;
  /** Schemas that others refer to as `#/components/schemas/NAME`. */
  readonly components: JsonObject;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

let catalog: OperationCatalog | undefined;

export function operationCatalog(): OperationCatalog {
  catalog ??= readCatalog();
  return catalog;
}

function readCatalog(): OperationCatalog {
  const text = readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8");
  const openapi = objectIn(parse(text) as Json);
  const components = objectIn(objectIn(openapi.components).schemas);
  const follow = (schema: Json | undefined): JsonObject => followed(schema, components);
  const operations = Object.entries(objectIn(openapi.paths)).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = objectIn(item)[method];
      return described === undefined
        ? []
        : operationOf(method.toUpperCase(), path, objectIn(described), follow);
    }),
  );
  return { operations: operations.sort((a, b) => (a.id < b.id ? -1 : 1)), follow, components };
}

function operationOf(
  method: string,
  path: string,
  described: JsonObject,
  follow: OperationCatalog["follow"],
): readonly CatalogOperation[] {
  const id = String(described.operationId);
  const name = nameOf(id);
  if (name === undefined) return [];
  return [
    {
      id,
      name,
      method,
      path,
      summary: textIn(described.summary).replace(/\.$/, ""),
      description: textIn(described.description),
      adminOnly: described["x-admin-only"] === true,
      fields: [...parametersOf(described, follow), ...bodyOf(described, follow)],
    },
  ];
}

/** Only one operation concerns the caller, so its name has no verb. */
function nameOf(id: string): OperationName | undefined {
  const name = Object.hasOwn(OPERATIONS, id) ? id : id.replace(/\/get$/, "");
  return Object.hasOwn(OPERATIONS, name) ? (name as OperationName) : undefined;
}

function parametersOf(
  { parameters }: JsonObject,
  follow: OperationCatalog["follow"],
): readonly CatalogField[] {
  return listIn(parameters)
    .map(objectIn)
    .map((parameter) => ({
      name: textIn(parameter.name),
      required: parameter.required === true,
      schema: described(
        follow(parameter.schema),
        parameter.description,
        parameter.in === "path" ? "Part of the path." : undefined,
      ),
    }));
}

function described(schema: JsonObject, ...words: readonly (Json | undefined)[]): JsonObject {
  const description = [...words, schema.description].find((word) => typeof word === "string");
  return description === undefined ? schema : { ...schema, description };
}

/** A multipart form does the same as the JSON body wherever there is one. */
function bodyOf({ requestBody }: JsonObject, follow: OperationCatalog["follow"]): readonly CatalogField[] {
  const content = Object.entries(objectIn(objectIn(requestBody).content));
  const json = content.find(([type]) => type.endsWith("json"));
  if (json === undefined) return [];
  const body = follow(objectIn(json[1]).schema);
  const required = new Set(listIn(body.required));
  return Object.entries(objectIn(body.properties)).map(([name, schema]) => ({
    name,
    required: required.has(name),
    schema: follow(schema),
  }));
}

const REFERENCE = "#/components/schemas/";

function followed(schema: Json | undefined, components: JsonObject): JsonObject {
  const { $ref, allOf, ...rest } = objectIn(schema);
  const target =
    typeof $ref === "string" ? followed(components[$ref.slice(REFERENCE.length)], components) : {};
  const parts = [target, ...listIn(allOf).map((part) => followed(part, components)), rest];
  return parts.reduce<JsonObject>((whole, part) => joined(whole, part), {});
}

function joined(schema: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...objectIn(schema.properties), ...objectIn(other.properties) };
  const required = [...listIn(schema.required), ...listIn(other.required)];
  return {
    ...schema,
    ...other,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Throws Failure with CLI_USAGE. */
export function findOperation({ operations }: OperationCatalog, name: string): CatalogOperation {
  const catalogOperation = operations.find((operation) => operation.id === name || operation.name === name);
  if (catalogOperation !== undefined) return catalogOperation;
  const related = operations.filter(({ id }) => id.split("/").at(-1) === name || id.startsWith(`${name}/`));
  const hint =
    related.length > 0
      ? `did you mean ${related.map(({ id }) => id).join(", ")}?`
      : nearestHint(
          name,
          operations.map((operation) => operation.id),
          "to list operations, run `workspace api --list`",
          "words",
        );
  throw failureOf("CLI_USAGE", `the API has no operation "${name}"`, { hint });
}

function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Fields whose values no message may contain. */
const SECRETS = ["string_value", "bytes_value"] as const;

export function isWrite({ name }: CatalogOperation): boolean {
  return OPERATIONS[name].kind === "write";
}

export async function call(
  { direct }: Pick<Connection, "direct">,
  operation: CatalogOperation,
  input: JsonObject,
  all: boolean,
): Promise<JsonObject> {
  if (isWrite(operation)) return direct.write(operation.name as WriteOperation, guarded(input));
  const read = (page: JsonObject) => direct.read(operation.name as ReadOperation, page);
  return all ? pages(operation.name, input, read) : read(input);
}

function guarded(input: JsonObject): WriteInput {
  const out: { [field: string]: WriteInput[string] } = { ...input };
  const { string_value: text, bytes_value: base64 } = input;
  if (typeof text === "string") out.string_value = new Sensitive(new TextEncoder().encode(text));
  if (typeof base64 === "string") out.bytes_value = new Sensitive(Buffer.from(base64, "base64"));
  return out;
}

/** An error for an answer that is not JSON, and a warning for secrets in arguments. */
export function remarks(words: readonly string[], input: JsonObject): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  if (input.direct_download === true)
    diagnostics.push(
      error("CLI_USAGE", "direct_download returns the raw file, and this command prints JSON", {
        hint: "omit it; content then contains the file in base64",
      }),
    );
  for (const name of SECRETS)
    if (words.some((word) => word.startsWith(`${name}=`) && !word.startsWith(`${name}=@`)))
      diagnostics.push(
        warning("CLI_USAGE", `the value of ${name} is visible in the process list and in the shell history`, {
          hint: `read it from a file (${name}=@FILE) or from stdin (${name}=@-)`,
        }),
      );
  return diagnostics;
}

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
    const isItem = !isJson && !Array.isArray(value) && [schema.type].flat().includes("array");
    if (names.has(name) && !isItem)
      throw failureOf("CLI_USAGE", `duplicate field ${name}`, {
        hint: "set it once; for a list, repeat it for each item, or pass the list as JSON",
      });
    names.add(name);
    const items = isItem ? [...listIn(valueAt(input, path)), value] : value;
    input = withValueAt(input, path, items) as JsonObject;
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
  const content = utf8Text(bytes);
  if (content === undefined) throw failureOf("CLI_USAGE", `the file for ${name} is not UTF-8 text`);
  return typed(name, schema, content);
}

/** A value that is not of the type stays a string, so that the check can report it. */
function typed(name: string, schema: JsonObject, text: string): Json {
  const types = [schema.type].flat();
  if (types.includes("string")) return text;
  if (types.includes("array")) {
    const isJson = /^\s*[[{]/.test(text);
    return isJson ? jsonOf(name, text) : typed(name, objectIn(schema.items), text);
  }
  if (types.includes("object") || objectIn(schema.properties) === schema.properties)
    return jsonOf(name, text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  const isNumber = types.includes("integer") || types.includes("number");
  if (isNumber && /^-?\d+(\.\d+)?$/.test(text)) return parseJson(text);
  return text;
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
  const ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, verbose: true, logger: false },
    // Compiling the schema of schemas takes longer than the rest of the command.
    validateSchema: false,
  });
  ajv.addFormat("int32", { type: "number", validate: (value: number) => Math.abs(value + 0.5) <= 2 ** 31 });
  ajv.addFormat("int64", { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 63 });
  ajv.addFormat("byte", /^[A-Za-z0-9+/_-]*={0,2}$/);
  for (const format of ["float", "double"])
    ajv.addFormat(format, { type: "number", validate: Number.isFinite });
  const validate = ajv.compile(schemaOf(catalog, operation) as object);
  const value = measured(input);
  if (validate(value)) return [];
  const suggest = suggester();
  return schemaMessages(toSchemaErrors(validate.errors ?? [], value), { name: operation.id }, suggest).map(
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
const measured = (value: Json): Json =>
  changedScalars(value, [], (scalar) => (typeof scalar === "bigint" ? Number(scalar) : scalar));
