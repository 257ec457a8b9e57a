// Converts an operation and its input to an HTTP request. The only place that reveals secrets.

import { stringifyJson } from "../../core/exact-json.ts";
import { utf8Text } from "../../core/utf8.ts";
import type { OperationFacts } from "../contract/operations.ts";
import type { SecretValue, WriteInput } from "../contract/reader.ts";

type Fields = { readonly [field: string]: WriteInput[string] | undefined };

export interface PreparedRequest {
  readonly method: string;
  /** Path below the host, with its query string. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  /** Where it is not the operation's own. */
  readonly contentType?: string;
  /** The secrets that the body carries, so that no message repeats them. */
  readonly secrets: readonly Uint8Array[];
}

/** Fields of type BYTES: base64 on the wire (contract A conventions). A secret in any other field is sent as UTF-8 text. */
const BYTES_FIELDS: ReadonlySet<string> = new Set(["bytes_value", "content", "contents", "data"]);

export function prepareRequest(operation: OperationFacts, input: WriteInput): PreparedRequest {
  const rest: { [field: string]: WriteInput[string] } = { ...input };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest[field];
    delete rest[field];
    return segment(field, value);
  });
  const { method } = operation;
  if (method === "GET") return { method, path: path + queryOf(rest), secrets: [] };
  if (method === "DELETE") return { method, path, secrets: [] };
  if (operation.file !== undefined) {
    const { [operation.file.field]: content, ...others } = rest;
    if (content instanceof Uint8Array && base64Length(content) > operation.file.above) {
      const form = multipartForm(textsOf(others), { field: operation.file.field, content });
      return { method, path, ...form, secrets: [] };
    }
  }
  const secrets: Uint8Array[] = [];
  const fields: { [field: string]: unknown } = {};
  for (const field of Object.keys(rest)) fields[field] = wireValue(field, rest[field], secrets);
  return { method, path, body: stringifyJson(fields), secrets };
}

/** An id that would change the path's shape never reaches the wire: `DELETE /Users/` is not `DELETE /Users/{id}`. */
function segment(field: string, value: WriteInput[string] | undefined): string {
  const text =
    typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? `${value}` : "";
  if (text === "" || text === "." || text === "..")
    throw new Error(`the path parameter ${field} is empty or not an ID`);
  return encodeURIComponent(text);
}

/** Spaces are written as `+` (filters, contract A 4.1). */
function queryOf(fields: Fields): string {
  const text = new URLSearchParams(textsOf(fields)).toString();
  return text === "" ? "" : `?${text}`;
}

function textsOf(fields: Fields): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "object") throw new Error(`the field ${field} is not a single value`);
    texts[field] = `${value}`;
  }
  return texts;
}

function wireValue(field: string, value: WriteInput[string] | undefined, secrets: Uint8Array[]): unknown {
  if (value instanceof Uint8Array) return base64(value);
  if (!isSecret(value)) return value;
  const bytes = value.reveal();
  secrets.push(bytes);
  return BYTES_FIELDS.has(field) ? base64(bytes) : utf8(field, bytes);
}

function isSecret(value: WriteInput[string] | undefined): value is SecretValue {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<SecretValue>).reveal === "function"
  );
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

const base64Length = (bytes: Uint8Array): number => Math.ceil(bytes.length / 3) * 4;

function utf8(field: string, bytes: Uint8Array): string {
  const text = utf8Text(bytes, "kept");
  if (text === undefined) throw new Error(`the secret for ${field} is not UTF-8 text; use a field of bytes`);
  return text;
}

interface MultipartForm {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** String fields first, then the file; the contract has no line breaks in string fields here. */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file: { readonly field: string; readonly content: Uint8Array },
): MultipartForm {
  const boundary = boundaryFor(file.content);
  const part = (name: string, rest: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`;
  const head = Object.entries(fields).map(([name, value]) => `${part(name, "")}\r\n\r\n${value}\r\n`);
  const announce = `${part(file.field, '; filename="content"')}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(head.join("") + announce),
    file.content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function boundaryFor(content: Uint8Array): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (let n = 0; ; n++) {
    const boundary = `workspace-form-${n}`;
    if (!bytes.includes(`--${boundary}`)) return boundary;
  }
}
