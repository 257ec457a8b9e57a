// The API's operations as the contract describes them: for calling them by name, with checked fields and help.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { OPERATIONS, type OperationName } from "../api/operations.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { parseJson } from "../core/exact-json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { type Contract, type OperationSpec, readContract } from "../emulator/contract.ts";
import { ApiError } from "../emulator/errors.ts";
import { makeValidator } from "../emulator/validation.ts";
import { nearest } from "./nearest.ts";

export interface Operation {
  readonly name: OperationName;
  readonly summary: string;
  readonly spec: OperationSpec;
  /** Fields of the input, path parameters included. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly required: ReadonlySet<string>;
}

export interface Operations {
  readonly contract: Contract;
  readonly all: readonly Operation[];
}

export function readOperations(): Operations {
  const openapi = parse(
    readFileSync(new URL("../../schemas/openapi.yaml", import.meta.url), "utf8"),
  ) as JsonObject;
  const contract = readContract(openapi);
  const summaries = summariesIn(openapi);
  const all = contract.operations.flatMap((spec) => {
    if (!isOperation(spec.id)) return [];
    return [
      { name: spec.id, summary: summaries.get(spec.id) ?? "", spec, ...fieldsOf(spec, contract.schemas) },
    ];
  });
  return { contract, all: all.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function isOperation(id: string): id is OperationName {
  return Object.hasOwn(OPERATIONS, id);
}

function summariesIn(openapi: JsonObject): ReadonlyMap<string, string> {
  const methods = Object.values(object(openapi.paths)).flatMap((item) => Object.values(object(item)));
  return new Map(methods.map(object).map((one) => [String(one.operationId), String(one.summary ?? "")]));
}

function fieldsOf(spec: OperationSpec, schemas: JsonObject): Pick<Operation, "fields" | "required"> {
  const input = deref(spec.input, schemas);
  const places = [...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const own = Object.entries(object(input.properties)).map(
    ([name, schema]) => [name, deref(schema, schemas)] as const,
  );
  const inPath = places.map((name) => [name, { type: "string", description: "Part of the path." }] as const);
  const required = Array.isArray(input.required) ? input.required.map(String) : [];
  return { fields: Object.fromEntries([...inPath, ...own]), required: new Set([...places, ...required]) };
}

/** A schema with its own reference, and those of `allOf`, followed. */
function deref(schema: Json | undefined, schemas: JsonObject): JsonObject {
  const own = object(schema);
  const name = typeof own.$ref === "string" ? own.$ref.split("/").at(-1) : undefined;
  const target = name === undefined ? {} : deref(schemas[name], schemas);
  const parts = Array.isArray(own.allOf) ? own.allOf.map((part) => deref(part, schemas)) : [];
  const all = [target, ...parts, own];
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map((part) => object(part.properties))),
    required: all.flatMap((part) => list(part.required)),
  };
}

function object(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Throws Failure with CLI_USAGE. */
export function findOperation({ all }: Operations, name: string): Operation {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  const hint = near === undefined ? "see: workspace api" : `did you mean "${near}"?`;
  throw new Failure(error("CLI_USAGE", `the API has no operation "${name}"`, { hint }));
}

/** The input that `field=value` words spell; a value is read as the field's type. Throws Failure with CLI_USAGE. */
export function inputOf(operation: Operation, words: readonly string[], body: JsonObject): JsonObject {
  const input: { [field: string]: Json } = { ...body };
  for (const word of words) {
    const [, name, value = ""] = /^([^=]+)=([\s\S]*)$/.exec(word) ?? [];
    if (name === undefined)
      throw new Failure(error("CLI_USAGE", `"${word}" is not field=value`, { hint: fieldsHint(operation) }));
    input[name] = fieldValue(operation, name, value);
  }
  for (const name of Object.keys(input))
    if (operation.fields[name] === undefined) throw unknownField(operation, name);
  return input;
}

function fieldValue(operation: Operation, name: string, text: string): Json {
  const schema = operation.fields[name];
  if (schema === undefined) throw unknownField(operation, name);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "object"];
  if (types.includes("string")) return text;
  try {
    return parseJson(text);
  } catch {
    throw new Failure(
      error("CLI_USAGE", `${name} takes ${types.join(" or ")}, not "${text}"`, {
        hint: `see: workspace api ${operation.name} --help`,
      }),
    );
  }
}

function unknownField(operation: Operation, name: string): Failure {
  const near = nearest(name, Object.keys(operation.fields));
  const hint = near === undefined ? fieldsHint(operation) : `did you mean "${near}"?`;
  return new Failure(error("CLI_USAGE", `${operation.name} has no field "${name}"`, { hint }));
}

function fieldsHint(operation: Operation): string {
  const names = Object.keys(operation.fields);
  return names.length === 0 ? `${operation.name} takes no fields` : `fields: ${names.join(", ")}`;
}

/** Checks an input as the service would. Throws Failure with CLI_USAGE. */
export function checkInput({ contract }: Operations, operation: Operation, input: JsonObject): void {
  const places = new Set([...operation.spec.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const missing = [...operation.required].filter((name) => input[name] === undefined);
  if (missing.length > 0)
    throw new Failure(
      error("CLI_USAGE", `${operation.name} needs ${missing.join(", ")}`, {
        hint: `see: workspace api ${operation.name} --help`,
      }),
    );
  try {
    makeValidator(contract)(
      operation.spec,
      Object.fromEntries(Object.entries(input).filter(([name]) => !places.has(name))),
    );
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    throw new Failure(
      error("CLI_USAGE", `${operation.name}: ${problem.message}`, {
        hint: `see: workspace api ${operation.name} --help`,
      }),
    );
  }
}
