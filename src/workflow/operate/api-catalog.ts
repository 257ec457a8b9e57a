// The operations of schemas/openapi.yaml for `workspace api`: by name, with their fields and the schema of their input; and their calls through the client.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import {
  OPERATIONS,
  type OperationName,
  type ReadOperation,
  type WriteOperation,
} from "../../api/contract/operations.ts";
import type { WriteInput } from "../../api/contract/reader.ts";
import { type Diagnostic, error, failureOf, warning } from "../../core/diagnostic.ts";
import { type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { Sensitive } from "../../core/sensitive-texts.ts";
import { nearestHint } from "../../core/suggest.ts";
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

export function readOperationCatalog(): OperationCatalog {
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
  const own = objectIn(schema);
  const { $ref, allOf, ...rest } = own;
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
