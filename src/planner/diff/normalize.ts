// Normalizes values for comparison: sets sorted, empty and default members dropped, case folded. Also applies ignore_changes.

import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, toDottedPath, valueAt, withValueAt } from "../../core/pointer.ts";
import { type FieldSchema, itemSchema, memberSchema, type Values } from "../../resource/field-schema.ts";
import { foldCase } from "../../resource/names.ts";

/** The normal form of a value; undefined for what is the same as absent (null, `{}`, `[]`). */
export function normalForm(schema: FieldSchema, value: Json | undefined): Json | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return normalList(schema, value);
  if (isObject(value)) return normalObject(schema, value);
  return schema.ignoreCase === true && typeof value === "string" ? foldCase(value) : value;
}

function normalObject(schema: FieldSchema, value: JsonObject): Json | undefined {
  const out: { [key: string]: Json } = Object.create(null);
  let empty = true;
  for (const key of Object.keys(value)) {
    const inner = memberSchema(schema, key);
    const normal = normalForm(inner, value[key]);
    if (normal === undefined || sameNormal(normal, normalForm(inner, inner.default))) continue;
    out[key] = normal;
    empty = false;
  }
  return empty ? undefined : out;
}

function normalList(schema: FieldSchema, value: readonly Json[]): Json | undefined {
  if (value.length === 0) return undefined;
  const items = value.map((item) => normalForm(itemSchema(schema), item) ?? null);
  if (schema.list === undefined || schema.list === "ordered") return items;
  const keyed = items.map((item) => [sortKey(schema, item), item] as const);
  keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const unique = schema.list === "set" ? keyed.filter(([key], at) => key !== keyed[at - 1]?.[0]) : keyed;
  return unique.map(([, item]) => item);
}

function sortKey(schema: FieldSchema, item: Json): string {
  const rule = schema.list;
  const key = typeof rule === "object" && isObject(item) ? item[rule.key] : item;
  return canonicalJson(key ?? item);
}

function sameNormal(a: Json | undefined, b: Json | undefined): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

/** Whether two values are equal member by member, whatever the order of members; what is identical means the same under every schema. */
export function isIdentical(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item: Json, at) => isIdentical(item, b[at]));
  return isObject(a) && isObject(b) && identicalObjects(a, b);
}

function identicalObjects(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) if (!Object.hasOwn(b, key) || !isIdentical(a[key], b[key])) return false;
  return true;
}

export function isSameValue(schema: FieldSchema, a: Json | undefined, b: Json | undefined): boolean {
  // Most values are identical, and normalizing costs far more than this comparison.
  if (isIdentical(a, b)) return true;
  return sameNormal(normalForm(schema, a), normalForm(schema, b));
}

export function isIgnored(path: Path, ignored: readonly string[]): boolean {
  const text = toDottedPath(path);
  return ignored.some((one) => text === one || text.startsWith(`${one}.`) || text.startsWith(`${one}[`));
}

/** Ignored fields keep their live value, so that a write for another field does not undo them. */
export function withIgnoredFromLive(values: Values, live: Values, ignored: readonly string[]): Values {
  let kept = values;
  for (const path of ignored) {
    const keys = path.split(".");
    kept = (withValueAt(kept, keys, valueAt(live, keys)) ?? {}) as Values;
  }
  return kept;
}
