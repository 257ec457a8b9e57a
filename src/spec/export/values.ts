// Converts a live object to the fields of a spec that plans no change: no defaults, and references instead of IDs.

import { canonicalJson } from "../../core/digest.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { setMember } from "../../core/pointer.ts";
import { escaped } from "../../expressions/template.ts";
import { type FieldSchema, itemSchema, memberSchema, type Values } from "../../resource/field-schema.ts";
import { isContentField, type Provider } from "../../resource/kind.ts";
import { tableSchema, visitSchema } from "../../resource/walk.ts";
import { isOptional } from "../schema/json-schema.ts";

export interface ExportWriter {
  /** All values that a spec can contain, including those that are usually omitted. */
  readonly full: boolean;
  /** Also single values that a spec usually leaves unmanaged, and values that the service does not return. */
  readonly managed: boolean;
  /** The reference to an object of a kind by its ID; undefined if the export does not contain it. */
  reference(kind: string, id: string): string | undefined;
  /** The expression to write in place of a value, if it stands for one. */
  expressionOf?(text: string): string | undefined;
  /** Whether a list of names is written on the side of the named kind instead. */
  isWrittenAt(kind: string): boolean;
}

/** The fields of one live object, without its natural name. */
export function writtenValues(provider: Provider, live: Values, on: ExportWriter): Values {
  const values = provider.planning.normalize?.(live) ?? live;
  const filled = provider.planning.omittedByExport?.(values) ?? {};
  const out: { [field: string]: Json } = {};
  for (const [name, schema] of Object.entries(provider.fields)) {
    if (name === provider.nameField || isContentField(provider, name)) continue;
    const value = written(schema, values[name], filled[name], !isOptional(schema), on);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function written(
  schema: FieldSchema,
  value: Json | undefined,
  filled: Json | undefined,
  required: boolean,
  on: ExportWriter,
): Json | undefined {
  if (value === undefined || value === null || isHidden(schema, on) || isElsewhere(schema, on))
    return undefined;
  if (required) return form(schema, value, on) ?? value;
  const isExpression = typeof value === "string" && on.expressionOf?.(value) !== undefined;
  if (!isExpression && schema.enum !== undefined && !schema.enum.includes(saidAs(schema, value)))
    return undefined;
  if (!on.full && isLeftOut(schema, value, filled, on)) return undefined;
  const whole = form(schema, value, on);
  return !on.full && whole !== undefined && same(whole, schema.default) ? undefined : whole;
}

/** One value of a live object, or a part of one, as a spec writes it. */
export function writtenValue(schema: FieldSchema, value: Json, on: ExportWriter): Json {
  return form(schema, value, on) ?? value;
}

/** The value in the word of the dialect. */
function saidAs({ words = {} }: FieldSchema, value: Json): Json {
  return typeof value === "string" && Object.hasOwn(words, value) ? (words[value] ?? value) : value;
}

/** A tool that manages an object knows what the service does not return. */
function isHidden({ readOnly, writeOnly, source, secret }: FieldSchema, { managed }: ExportWriter): boolean {
  return readOnly === true || source === true || (writeOnly === true && (!managed || secret === true));
}

function isElsewhere(schema: FieldSchema, on: ExportWriter): boolean {
  const names = schema.items?.names;
  return names !== undefined && on.isWrittenAt(names);
}

/** Defaults, values that the service fills in, and single values that are usually unmanaged. */
function isLeftOut(
  schema: FieldSchema,
  value: Json,
  filled: Json | undefined,
  { managed }: ExportWriter,
): boolean {
  if (same(saidAs(schema, value), schema.default)) return true;
  if (schema.serverDefault === true && same(value, filled)) return true;
  return !managed && schema.whenAbsent === "unmanaged" && typeof value !== "object";
}

function same(value: Json, other: Json | undefined): boolean {
  return other !== undefined && canonicalJson(value) === canonicalJson(other);
}

function form(schema: FieldSchema, value: Json, on: ExportWriter): Json | undefined {
  if (typeof value === "string") return text(schema, value, on);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const all = value.map((item) => form(itemSchema(schema), item, on) ?? item);
    return all.length === 0 && !on.full ? undefined : all;
  }
  const out: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(value as JsonObject)) {
    const required = schema.properties === undefined || schema.required?.includes(key) === true;
    const member = written(memberSchema(schema, key), inner, undefined, required, on);
    if (member === undefined) continue;
    setMember(out, escaped(key), member);
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function text(schema: FieldSchema, value: string, on: ExportWriter): string {
  const reference = schema.refersTo === undefined ? undefined : on.reference(schema.refersTo, value);
  return reference ?? on.expressionOf?.(value) ?? escaped(String(saidAs(schema, value)));
}

export function namesKind({ fields }: Provider, kind: string): boolean {
  let names = false;
  visitSchema(tableSchema(fields), ({ items }) => {
    names ||= items?.names === kind;
  });
  return names;
}
