// The input of an operation from a request: JSON body, query string, or form; strings become the types of the schema.

import { Busboy } from "@fastify/busboy";
import { JsonTooDeep, parseJson } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { ApiError, malformed, ScimError } from "../world/errors.ts";
import { REQUESTS } from "../world/limits.ts";
import type { FilePart } from "../world/world.ts";
import type { OperationSpec } from "./contract.ts";
import { type AppRequest, bodyText, bytesOf, queryOf } from "./message.ts";

export interface ReceivedInput {
  readonly fields: Json;
  readonly files: Readonly<Record<string, FilePart>>;
}

const NO_FILES = Object.freeze({});

/** Throws REQUEST_TOO_LARGE for a body above what the operation takes. */
export function checkSize(spec: OperationSpec, request: AppRequest): void {
  const { body } = request;
  if (body === undefined || body.length * 3 <= spec.maxBytes) return;
  const size = typeof body === "string" ? bytesOf(body).length : body.length;
  const limit = Math.min(REQUESTS.any_body_bytes, spec.maxBytes);
  if (size > limit)
    throw new ApiError(
      "REQUEST_TOO_LARGE",
      `The request is larger than ${limit} bytes. Found: ${size} bytes.`,
    );
}

/** SCIM's own type is what the contract requires; RFC 7644 (section 3.8) has servers take the general one too. */
const TYPES = ["application/scim+json", "application/json"];
const RANGES = new Set([...TYPES, "application/*", "*/*"]);

/** Throws 415 for a body, and 406 for a read, that does not name SCIM's media type. Other calls take any headers. `lenient`: a read need not say what it takes. */
export function checkMedia(spec: OperationSpec, { headers }: AppRequest, lenient: boolean): void {
  if (!spec.scim) return;
  if (spec.method === "GET") {
    if (!takes(headers.accept ?? (lenient ? "*/*" : "")))
      throw new ScimError(406, `A read needs the header Accept: ${TYPES[0]}.`);
  } else if (spec.method !== "DELETE" && !TYPES.includes(typeOf(headers["content-type"] ?? ""))) {
    throw new ScimError(415, `A write needs the header Content-Type: ${TYPES[0]}.`);
  }
}

function takes(accept: string): boolean {
  return accept
    .split(",")
    .some((range) => RANGES.has(typeOf(range)) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
}

function typeOf(text: string): string {
  return (text.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** True when the body must be taken apart before the operation runs, which only a form needs. */
export function isForm(request: AppRequest): boolean {
  return /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "");
}

/** Throws MALFORMED_REQUEST when the request cannot be read as what the operation takes. A loose reader accepts `True` and `False` in a query. */
export function readInput(spec: OperationSpec, request: AppRequest, loose = false): ReceivedInput {
  if (spec.raw) {
    const content = { name: "", content: bytesOf(request.body) };
    return { fields: readQuery(spec, queryOf(request), loose), files: { content } };
  }
  const body = readJson(request);
  if (spec.method !== "GET") return { fields: body === undefined ? {} : body, files: NO_FILES };
  const query = readQuery(spec, queryOf(request), loose);
  const whole = body === undefined || isObject(body) ? { ...body, ...query } : body;
  return { fields: whole, files: NO_FILES };
}

/** The typed fields of a form, and its files. A loose reader accepts `True` and `False`, as Python writes them. */
export async function readForm(
  spec: OperationSpec,
  request: AppRequest,
  loose = false,
): Promise<ReceivedInput> {
  const form = await parseForm(request.headers["content-type"] ?? "", bytesOf(request.body));
  const schemas = objectIn(spec.input.properties);
  const fields = Object.entries(form.fields).map(([name, text]): [string, Json] => {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    return [name, isObject(schema) ? fromText(name, flagText(text, schema, loose), schema) : text];
  });
  return { fields: Object.fromEntries(fields), files: form.files };
}

function readJson(request: AppRequest): Json | undefined {
  const json = parsed(request);
  if (json === undefined) return undefined;
  if (isText(json)) return withoutNulls(json);
  throw malformed(
    "Could not parse request object: the body holds half a character (a surrogate without its other half)",
  );
}

/** Half a character can be written in JSON, but not kept: two names that differ in it would become one. */
function isText(json: Json): boolean {
  if (typeof json === "string") return json.isWellFormed();
  if (json === null || typeof json !== "object") return true;
  return Object.entries(json).every(([name, member]) => name.isWellFormed() && isText(member));
}

/** A field that is null counts as absent, at any depth. An element of a list that is null stays, and is of the wrong type. */
function withoutNulls(json: Json): Json {
  if (json === null || typeof json !== "object") return json;
  if (Array.isArray(json)) return json.some(holdsObject) ? json.map(withoutNulls) : json;
  const members = Object.entries(json).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

const holdsObject = (json: Json): boolean => json !== null && typeof json === "object";

function parsed(request: AppRequest): Json | undefined {
  const text = bodyText(request.body);
  if (text === undefined) throw malformed("Could not parse request object: the body is not UTF-8 text");
  try {
    return text.trim() === "" ? undefined : parseJson(text);
  } catch (error) {
    // The text itself is not repeated: it may contain a secret.
    if (error instanceof JsonTooDeep)
      throw malformed("Could not parse request object: it is nested too deeply");
    throw malformed("Could not parse request object: the body is not JSON");
  }
}

function readQuery(spec: OperationSpec, query: string, loose: boolean): JsonObject {
  if (query === "") return {};
  const parameters = new URLSearchParams(query);
  const out: [string, Json][] = [];
  for (const [name, field] of Object.entries(objectIn(spec.input.properties))) {
    const texts = parameters.getAll(name);
    const [first, ...rest] = texts;
    if (first === undefined) continue;
    const schema = objectIn(field);
    if (schema.type === "array") {
      out.push([name, texts]);
      continue;
    }
    if (rest.length > 0) throw malformed(`Query parameter '${name}' is given more than once`);
    out.push([name, fromText(name, flagText(first, schema, loose), schema)]);
  }
  return Object.fromEntries(out);
}

/** A number of this JSON type, written as text; undefined if the text is none. */
export function numberInText(type: Json | undefined, text: string): Json | undefined {
  if (type === "integer" && /^-?\d{1,19}$/.test(text)) return parseJson(String(BigInt(text)));
  return type === "number" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** A flag in lower case where a loose reader takes others. */
function flagText(text: string, { type }: JsonObject, loose: boolean): string {
  return loose && type === "boolean" && /^(true|false)$/i.test(text) ? text.toLowerCase() : text;
}

function fromText(name: string, text: string, { type }: JsonObject): Json {
  if (type !== "integer" && type !== "number" && type !== "boolean") return text;
  const isFlag = type === "boolean" && (text === "true" || text === "false");
  const value = isFlag ? text === "true" : numberInText(type, text);
  if (value !== undefined) return value;
  throw malformed(
    `Could not parse request object: Expected ${type} for field '${name}', found "${text.slice(0, 100)}"`,
  );
}

interface Form extends ReceivedInput {
  readonly fields: Readonly<Record<string, string>>;
}

/** Parses a multipart body. Rejects with MALFORMED_REQUEST when it is not one. */
function parseForm(contentType: string, body: Uint8Array): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    const files = new Map<string, FilePart>();
    const refuse = () =>
      reject(
        malformed(
          "Could not parse the multipart form: it is incomplete, or its parts are not separated by the boundary of its Content-Type",
        ),
      );
    try {
      const parser = new Busboy({
        headers: { "content-type": contentType },
        limits: { fieldSize: body.length + 1, fileSize: body.length + 1, parts: 64, headerPairs: 100 },
        isPartAFile: (_name, _type, fileName) => fileName !== undefined,
      });
      parser.on("field", (name, value) => fields.set(name, value));
      parser.on("file", (name, stream, fileName) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("error", refuse);
        stream.on("end", () => files.set(name, { name: fileName, content: Buffer.concat(chunks) }));
      });
      parser.on("error", refuse);
      parser.on("finish", () =>
        resolve({ fields: Object.fromEntries(fields), files: Object.fromEntries(files) }),
      );
      parser.end(body);
    } catch {
      refuse();
    }
  });
}
