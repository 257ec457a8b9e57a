// Natural names and remote ids of the same things, both ways, wherever a field says that it names something.

import type { RemoteId } from "../core/address.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { setMember } from "../core/pointer.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../resource/fields.ts";
import type { Live } from "../resource/live.ts";
import { foldName } from "../resource/names.ts";
import type { Registry } from "../resource/registry.ts";

/** Who is called what. Grows while an apply creates things. */
export interface NameBook {
  idOf(kind: string, name: string): RemoteId | undefined;
  nameOf(kind: string, id: string): string | undefined;
  add(kind: string, name: string, id: RemoteId): void;
}

export function nameBook(registry: Registry, live: Live): NameBook {
  const ids = new Map<string, RemoteId>();
  const names = new Map<string, string>();
  const add = (kind: string, name: string, id: RemoteId): void => {
    ids.set(`${kind}\n${foldName(registry.get(kind), name)}`, id);
    names.set(`${kind}\n${id}`, name);
  };
  for (const [kind, found] of live)
    if (found.readable) for (const object of found.objects) add(kind, object.name, object.id);
  return {
    idOf: (kind, name) => ids.get(`${kind}\n${foldName(registry.get(kind), name)}`),
    nameOf: (kind, id) => names.get(`${kind}\n${id}`),
    add,
  };
}

/** Gives the other form of a text in a field that names things of `kind`; undefined leaves it as it is. */
export type Translation = (kind: string, text: string) => string | undefined;

/** The values with every text in a `names` field translated. */
export function translated(fields: FieldTable, values: Values, translate: Translation): Values {
  if (kindsNamedBy(fields).size === 0) return values;
  return translatedMembers(values, (key) => fields[key] ?? {}, translate);
}

export function toNames(fields: FieldTable, values: Values, book: NameBook): Values {
  return translated(fields, values, (kind, id) => book.nameOf(kind, id));
}

/** The kinds that fields of a table name; empty for most. */
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
  for (const inner of Object.values(schema.properties ?? {})) collect(inner, kinds);
  if (schema.items !== undefined) collect(schema.items, kinds);
  if (typeof schema.additionalProperties === "object") collect(schema.additionalProperties, kinds);
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
    const items = schema.items ?? {};
    const inner = schema.names === undefined ? items : { ...items, names: schema.names };
    return value.map((item: Json) => translatedValue(inner, item, translate));
  }
  return isObject(value) ? translatedMembers(value, (key) => memberSchema(schema, key), translate) : value;
}
