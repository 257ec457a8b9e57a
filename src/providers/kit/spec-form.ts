// Converts responses of the service to spec form: only declared fields, one type each, with defaults and without empty values.

import { isObject, type Json, type JsonObject, sharedIfSame } from "../../core/json.ts";
import { setMember } from "../../core/pointer.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";

const INTEGER = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/** The declared fields of a live object in one form, with defaults for absent fields. */
export function normalizeLive(fields: FieldTable, answer: JsonObject): Values {
  return read(fields, answer, true);
}

/** Desired values in the same form; nothing is filled in, and the text of references stays. Empty is not unmanaged. */
export function normalizeDesired(fields: FieldTable, values: Values): Values {
  return read(fields, values, false);
}

function read(fields: FieldTable, from: JsonObject, fill: boolean): Values {
  const out: { [field: string]: Json } = {};
  for (const name in fields) {
    const schema = fields[name];
    if (schema === undefined) continue;
    const raw = from[name];
    const value = raw !== undefined && Object.hasOwn(from, name) ? readValue(schema, raw, fill) : undefined;
    if (value !== undefined) out[name] = value;
    else if (!fill && schema.whenAbsent === "unmanaged" && isContainer(raw))
      out[name] = Array.isArray(raw) ? [] : {};
    else if (fill && isFilled(schema)) out[name] = schema.default;
  }
  return sharedIfSame(from, out);
}

function isFilled(schema: FieldSchema): schema is FieldSchema & { readonly default: Json } {
  return schema.default !== undefined && !isEmpty(schema.default);
}

const isContainer = (value: Json | undefined): boolean => typeof value === "object" && value !== null;

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

function readValue(schema: FieldSchema, value: Json | undefined, fill: boolean): Json | undefined {
  if (value === undefined || value === null || (fill && isUnset(schema, value))) return undefined;
  if (schema.properties !== undefined)
    return isObject(value) ? nonEmpty(read(schema.properties, value, fill)) : value;
  if (typeof schema.additionalProperties === "object")
    return readMap(schema.additionalProperties, value, fill);
  if (schema.items !== undefined) return readList(schema.items, value, fill);
  return readScalar(schema, value);
}

/** Some services write an empty string for a value that is not set. */
const isUnset = ({ minLength, enum: choices }: FieldSchema, value: Json): boolean =>
  value === "" && (minLength !== undefined || choices !== undefined);

const nonEmpty = <T extends Json>(value: T): T | undefined => (isEmpty(value) ? undefined : value);

/** A map, also where the service writes it as a list of keys and values (facts 4.7). */
function readMap(schema: FieldSchema, value: Json, fill: boolean): Json | undefined {
  const entries = Array.isArray(value) ? value.map(pairOf) : isObject(value) ? Object.entries(value) : [];
  const out: { [key: string]: Json } = {};
  for (const entry of entries) {
    const member = entry === undefined ? undefined : readValue(schema, entry[1], fill);
    if (entry === undefined || member === undefined) continue;
    setMember(out, entry[0], member);
  }
  return nonEmpty(isObject(value) ? sharedIfSame(value, out) : out);
}

function pairOf(item: Json): readonly [string, Json] | undefined {
  return isObject(item) && typeof item.key === "string" ? [item.key, item.value ?? ""] : undefined;
}

function readList(schema: FieldSchema, value: Json, fill: boolean): Json | undefined {
  if (!Array.isArray(value)) return value;
  const out: Json[] = [];
  for (const item of value as readonly Json[]) {
    const read = readValue(schema, item, fill);
    if (read !== undefined) out.push(read);
  }
  return nonEmpty(sharedIfSame(value as readonly Json[], out));
}

/** Each field has one type, also where the service sends numbers in strings. */
function readScalar(schema: FieldSchema, value: Json): Json {
  if (schema.type === "integer" && typeof value === "string" && INTEGER.test(value)) return Number(value);
  if (schema.type === "number" && typeof value === "string" && NUMBER.test(value)) return Number(value);
  if (schema.type === "boolean" && (value === "true" || value === "false")) return value === "true";
  const isText = schema.type === "string" || Array.isArray(schema.type);
  return isText && typeof value !== "string" && typeof value !== "object" ? String(value) : value;
}
