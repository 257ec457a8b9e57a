// Translates the names in values, wherever a field is declared to contain names.

import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { setMember } from "../core/pointer.ts";
import {
  type FieldSchema,
  type FieldTable,
  itemSchema,
  memberSchema,
  schemasInside,
  type Values,
} from "./field-schema.ts";

/** Returns the other form of a string in a field that refers to `kind`; undefined keeps the string. */
export type Translation = (kind: string, text: string) => string | undefined;

/** The values with every text in a `names` field translated. */
export function translateNames(fields: FieldTable, values: Values, translate: Translation): Values {
  if (kindsNamedBy(fields).size === 0) return values;
  return translatedMembers(values, (key) => fields[key] ?? {}, translate);
}

/** The kinds that fields of a table name. Cached: a search takes 6 µs for jobs, and each object needs it several times. */
export function kindsNamedBy(fields: FieldTable): ReadonlySet<string> {
  const known = namedKinds.get(fields);
  if (known !== undefined) return known;
  const kinds = new Set<string>();
  for (const schema of Object.values(fields)) collect(schema, kinds);
  namedKinds.set(fields, kinds);
  return kinds;
}

const namedKinds = new WeakMap<FieldTable, ReadonlySet<string>>();

function collect(schema: FieldSchema, kinds: Set<string>): void {
  if (schema.names !== undefined) kinds.add(schema.names);
  for (const inner of schemasInside(schema)) collect(inner, kinds);
}

function translatedMembers(
  object: JsonObject,
  schemaOf: (key: string) => FieldSchema,
  translate: Translation,
): JsonObject {
  const out: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(object))
    setMember(out, key, translatedValue(schemaOf(key), value, translate));
  return out;
}

function translatedValue(schema: FieldSchema, value: Json, translate: Translation): Json {
  if (typeof value === "string") {
    const other = schema.names === undefined ? undefined : translate(schema.names, value);
    return other ?? value;
  }
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    const inner = schema.names === undefined ? items : { ...items, names: schema.names };
    return value.map((item: Json) => translatedValue(inner, item, translate));
  }
  return isObject(value) ? translatedMembers(value, (key) => memberSchema(schema, key), translate) : value;
}

/** The live values without memberships in objects that cannot be managed. */
export function withoutUnmanageable(
  fields: FieldTable,
  values: Values,
  isUnmanageable: (kind: string, id: string) => boolean,
): Values {
  let out = values;
  for (const key of Object.keys(values)) {
    const { writtenToNamed, items } = fields[key] ?? {};
    if (writtenToNamed !== true) continue;
    const kind = items?.names;
    const list = values[key];
    if (kind === undefined || !Array.isArray(list)) continue;
    const stays = (one: Json): boolean => typeof one !== "string" || !isUnmanageable(kind, one);
    if (!list.every(stays)) out = { ...out, [key]: list.filter(stays) };
  }
  return out;
}

export function withoutNames(fields: FieldTable, values: Values, kinds: ReadonlySet<string>): Values {
  if (kinds.size === 0) return values;
  const out: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(values)) {
    const schema = fields[key] ?? {};
    const named = schema.names ?? schema.items?.names;
    if (named !== undefined && kinds.has(named)) continue;
    const { properties } = schema;
    setMember(
      out,
      key,
      properties !== undefined && isObject(value) ? withoutNames(properties, value, kinds) : value,
    );
  }
  return out;
}
