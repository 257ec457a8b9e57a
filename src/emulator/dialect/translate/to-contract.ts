// Requests of a dialect: what its parser accepts, and the translation to the contract: names, values, and URIs.

import { isObject, type Json, type JsonObject, objectIn } from "../../../core/json.ts";
import { numberInText } from "../../http/input.ts";
import { invalidValue } from "../../world/errors.ts";
import { EXTRA } from "../../world/operation.ts";
import { type DialectSchemas, type ResolvedSchema, renames } from "./schema.ts";

/** A value in two parts: what the contract knows, in its form, and what the dialect adds, in its own. */
interface Parts {
  readonly known?: Json;
  readonly extra?: Json;
}

export const toContract = (schemas: DialectSchemas, schema: JsonObject, input: JsonObject): JsonObject =>
  objectIn(partsOf(schemas, schema, input).known);

function partsOf(schemas: DialectSchemas, schema: JsonObject, value: Json): Parts {
  const followed = schemas.follow(schema);
  if (typeof value === "string") return { known: textInContract(followed.marks, value) };
  if (Array.isArray(value)) return partsOfList(schemas, followed, value);
  return isObject(value) ? partsOfObject(schemas, followed, value) : { known: value };
}

/** A list with an added field anywhere in it is kept whole; the contract sees the elements that it knows. */
function partsOfList(schemas: DialectSchemas, { marks }: ResolvedSchema, list: readonly Json[]): Parts {
  const parts = list.map((member) => partsOf(schemas, objectIn(marks.items), member));
  const known = parts.flatMap((part) => (part.known === undefined ? [] : [part.known]));
  return parts.every((part) => part.extra === undefined) ? { known } : { known, extra: list };
}

function partsOfObject(schemas: DialectSchemas, { marks, fields }: ResolvedSchema, value: JsonObject): Parts {
  if (fields === undefined) return { known: value };
  const known: Record<string, Json> = {};
  const extra: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = fields.get(name);
    const followed = field === undefined ? undefined : schemas.follow(field);
    // Unknown fields, and those of another cloud, are ignored.
    if (field === undefined || followed === undefined || !schemas.isHere(followed)) continue;
    if (followed.marks["x-added"] === true) {
      extra[name] = member;
      continue;
    }
    const parts = partsOf(schemas, field, member);
    if (parts.known !== undefined) known[String(followed.marks["x-contract-name"] ?? name)] = parts.known;
    if (parts.extra !== undefined) extra[name] = parts.extra;
  }
  const added = Object.keys(extra).length > 0;
  if (added && marks["x-keeps"] === true) return { known: Object.assign({}, known, { [EXTRA]: extra }) };
  const shown = marks["x-variants"] === true && Object.keys(known).length === 0 ? {} : { known };
  return added ? { ...shown, extra } : shown;
}

const CONTRACT_SCHEME = /^fs:/;
const SCHEME = /^dbfs:/;

function textInContract(marks: JsonObject, text: string): Json {
  const value = renames(marks["x-values"])[text];
  if (value !== undefined) return value;
  if (marks["x-uri"] !== true && marks["x-path"] !== true) return text;
  if (CONTRACT_SCHEME.test(text))
    throw invalidValue(`Unsupported scheme in '${text.slice(0, 100)}': use dbfs:/`);
  return text.replace(SCHEME, "fs:");
}

/** The value for strict validation; other values are not changed, and validation refuses them. */
export function lenient(schemas: DialectSchemas, schema: JsonObject, value: Json): Json {
  const { marks, fields } = schemas.follow(schema);
  if (typeof value === "string") return numberInText(marks.type, value) ?? value;
  if (Array.isArray(value)) {
    const items = objectIn(marks.items);
    const list = marks["x-drop-empty"] === true ? value.filter(hasValue) : value;
    return list.map((member) => lenient(schemas, items, member));
  }
  if (!isObject(value)) return value;
  const rest = objectIn(marks.additionalProperties);
  const read = (name: string, member: Json) => lenient(schemas, fields?.get(name) ?? rest, member);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, read(name, member)]));
}

/** `[{}]` and `[{"value": ""}]` say that a list is empty. */
export function hasValue(member: Json): boolean {
  return !isObject(member) || (member.value !== undefined && member.value !== "");
}
