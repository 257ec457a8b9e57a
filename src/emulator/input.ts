// The input of an operation out of a request: JSON body, query string, or form; text becomes the type that the schema names.

import { parseJson } from "../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { FilePart } from "./call.ts";
import type { OperationSpec, QueryField } from "./contract.ts";
import { ApiError } from "./errors.ts";
import { parseForm } from "./form.ts";
import { type AppRequest, bytesOf, queryOf, textOf } from "./message.ts";

export interface Input {
  readonly fields: Json;
  readonly files: Readonly<Record<string, FilePart>>;
}

const NO_FILES = Object.freeze({});

/** True when the body must be taken apart before the operation runs, which only a form needs. */
export function isForm(request: AppRequest): boolean {
  return /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "");
}

/** Throws MALFORMED_REQUEST when the request cannot be read as what the operation takes. */
export function readInput(spec: OperationSpec, request: AppRequest): Input {
  const body = readJson(request);
  if (spec.method !== "GET") return { fields: body === undefined ? {} : body, files: NO_FILES };
  const query = readQuery(spec.query, queryOf(request));
  if (body === undefined) return { fields: query, files: NO_FILES };
  if (!isObject(body)) return { fields: body, files: NO_FILES };
  return { fields: { ...body, ...query }, files: NO_FILES };
}

/** The text fields of a form, as the types that the schema of the JSON body names, and its files. */
export async function readForm(spec: OperationSpec, request: AppRequest): Promise<Input> {
  const form = await parseForm(request.headers["content-type"] ?? "", bytesOf(request.body));
  const properties = spec.input.properties;
  const schemas = isObject(properties) ? properties : {};
  const fields = Object.entries(form.fields).map(([name, text]): [string, Json] => {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    return [name, isObject(schema) ? fromText(name, text, schema) : text];
  });
  return { fields: Object.fromEntries(fields), files: form.files };
}

function readJson(request: AppRequest): Json | undefined {
  const json = parsed(request);
  if (json === undefined || isText(json)) return json;
  throw new ApiError(
    "MALFORMED_REQUEST",
    "Could not parse request object: the body holds half a character (a surrogate without its other half)",
  );
}

/** Half a character can be written in JSON, but not kept: two names that differ in it would become one. */
function isText(json: Json): boolean {
  if (typeof json === "string") return json.isWellFormed();
  if (json === null || typeof json !== "object") return true;
  return Object.entries(json).every(([name, member]) => name.isWellFormed() && isText(member));
}

function parsed(request: AppRequest): Json | undefined {
  try {
    const text = textOf(request.body);
    return text.trim() === "" ? undefined : parseJson(text);
  } catch (error) {
    // Nothing of the text itself: it may hold a secret.
    const why = error instanceof SyntaxError ? "the body is not JSON" : "the body is not UTF-8 text";
    throw new ApiError("MALFORMED_REQUEST", `Could not parse request object: ${why}`);
  }
}

function readQuery(fields: readonly QueryField[], query: string): JsonObject {
  if (query === "") return {};
  const given = new URLSearchParams(query);
  const out: [string, Json][] = [];
  for (const { name, schema } of fields) {
    const texts = given.getAll(name);
    const [first, ...rest] = texts;
    if (first === undefined) continue;
    if (schema.type === "array") {
      out.push([name, texts]);
      continue;
    }
    if (rest.length > 0)
      throw new ApiError("MALFORMED_REQUEST", `Query parameter '${name}' is given more than once`);
    out.push([name, fromText(name, first, schema)]);
  }
  return Object.fromEntries(out);
}

function fromText(name: string, text: string, schema: JsonObject): Json {
  switch (schema.type) {
    case "integer":
      if (/^-?\d{1,19}$/.test(text)) return parseJson(String(BigInt(text)));
      break;
    case "number":
      if (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return Number(text);
      break;
    case "boolean":
      if (text === "true" || text === "false") return text === "true";
      break;
    default:
      return text;
  }
  throw new ApiError(
    "MALFORMED_REQUEST",
    `Could not parse request object: Expected ${String(schema.type)} for field '${name}', found "${text.slice(0, 100)}"`,
  );
}
