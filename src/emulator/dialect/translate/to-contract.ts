// Requests of a dialect: what its parser accepts, and the translation to the contract: names, values, and URIs.

import { parseJson } from "../../../core/exact-json.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import { EXTRA } from "../../world/operation.ts";
import {
  type DialectSchemas,
  onCloud,
  type ResolvedSchema,
  renames,
  type SchemaTranslation,
  Translator,
} from "./schema.ts";

/** A value in two parts: what the contract knows, in its form, and what the dialect adds, in its own. */
interface Parts {
  readonly known?: Json;
  readonly extra?: Json;
}

export const toContract: SchemaTranslation = (schemas, cloud, schema, input) =>
  objectIn(new Inward(schemas, cloud).parts(schema, input).known);

class Inward extends Translator {
  parts(schema: JsonObject, value: Json): Parts {
    const followed = this.schemas.follow(schema);
    if (typeof value === "string") return { known: textInContract(followed.marks, value) };
    if (Array.isArray(value)) return this.#list(followed, value);
    if (isObject(value) && followed.fields !== undefined)
      return this.#object(followed, followed.fields, value);
    return { known: value };
  }

  /** A list with an added field anywhere in it is kept whole; the contract sees the elements that it knows. */
  #list({ marks }: ResolvedSchema, list: readonly Json[]): Parts {
    const parts = list.map((member) => this.parts(objectIn(marks.items), member));
    const known = parts.flatMap((part) => (part.known === undefined ? [] : [part.known]));
    return parts.every((part) => part.extra === undefined) ? { known } : { known, extra: list };
  }

  #object(followed: ResolvedSchema, fields: ReadonlyMap<string, JsonObject>, value: JsonObject): Parts {
    const known: Record<string, Json> = {};
    const extra: Record<string, Json> = {};
    for (const [name, member] of Object.entries(value)) {
      const field = fields.get(name);
      const marks = field === undefined ? undefined : this.schemas.follow(field);
      // Unknown fields, and those of another cloud, are ignored.
      if (field === undefined || marks === undefined || !onCloud(marks, this.cloud)) continue;
      if (marks.marks["x-added"] === true) {
        extra[name] = member;
        continue;
      }
      const parts = this.parts(field, member);
      if (parts.known !== undefined) known[String(marks.marks["x-contract-name"] ?? name)] = parts.known;
      if (parts.extra !== undefined) extra[name] = parts.extra;
    }
    return this.#joined(followed.marks, known, extra);
  }

  #joined(marks: JsonObject, known: JsonObject, extra: JsonObject): Parts {
    const added = Object.keys(extra).length > 0;
    if (added && marks["x-keeps"] === true) return { known: Object.assign({}, known, { [EXTRA]: extra }) };
    const shown = marks["x-variants"] === true && Object.keys(known).length === 0 ? {} : { known };
    return added ? { ...shown, extra } : shown;
  }
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
  if (typeof value === "string") return numberIn(marks.type, value);
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

function numberIn(type: Json | undefined, text: string): Json {
  if (type === "integer" && /^-?\d{1,19}$/.test(text)) return parseJson(String(BigInt(text)));
  if (type === "number" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
}
