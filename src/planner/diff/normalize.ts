// The normal form in which values are compared, and the fingerprints of live objects.

import { canonicalJson, fingerprint } from "../../core/digest.ts";
import { compareKeys, isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Path, toDottedPath, valueAt, withValueAt } from "../../core/pointer.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldCase } from "../../resource/names.ts";
import { anyField, mapValue, type ValueMap } from "../../resource/walk.ts";
import { type ObjectChange, removes } from "../model/change.ts";
import type { RecordedValues } from "../model/context.ts";

/** The normal form of a value; undefined for what is the same as absent (null, `{}`, `[]`). */
export function normalForm(schema: FieldSchema, value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : mapValue(schema, value, normalValue);
}

const normalValue: ValueMap = (schema, value, inside, key) => {
  if (value === null || typeof value !== "object") {
    if (value === null) return typeof key === "number" ? null : undefined;
    return schema.ignoreCase === true && typeof value === "string" ? foldCase(value) : value;
  }
  const normal = inside();
  const present = Array.isArray(normal) ? inRule(schema, normal) : withoutDefaults(schema, objectIn(normal));
  const isEmpty = Array.isArray(present) ? present.length === 0 : Object.keys(present).length === 0;
  if (isEmpty) return typeof key === "number" ? null : undefined;
  return present;
};

function withoutDefaults(schema: FieldSchema, value: JsonObject): JsonObject {
  const out: { [key: string]: Json } = Object.create(null);
  for (const key of Object.keys(value)) {
    const inner = memberSchema(schema, key);
    if (!sameNormal(value[key], normalForm(inner, inner.default))) out[key] = value[key] ?? null;
  }
  return out;
}

/** The items in an order that their rule makes meaningless. */
function inRule(schema: FieldSchema, items: readonly Json[]): readonly Json[] {
  if (schema.list === undefined || schema.list === "ordered") return items;
  const keyed = items.map((item) => [sortKey(schema, item), item] as const);
  keyed.sort(compareKeys);
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
  return ignored.some(
    (ignoredPath) =>
      text === ignoredPath || text.startsWith(`${ignoredPath}.`) || text.startsWith(`${ignoredPath}[`),
  );
}

/** Ignored fields keep their live value, so that a write for another field does not undo them. */
export function withIgnoredFromLive(values: Values, live: Values, ignored: readonly string[]): Values {
  let withLive = values;
  for (const path of ignored) {
    const keys = path.split(".");
    withLive = (withValueAt(withLive, keys, valueAt(live, keys)) ?? {}) as Values;
  }
  return withLive;
}

/**
 * Unmanaged fields count only if `after` sets them. Without `after` (a delete), every field counts except unmanaged
 * memberships, because other changes of the same plan alter those, as when a user leaves with its group. Witnesses of
 * values that cannot be read count too. `live.values` must contain names where fields have `names`.
 */
export function liveFingerprint(
  fields: FieldTable,
  live: Pick<LiveObject, "values" | "facts">,
  after: Values | undefined,
): string {
  const parts: { [key: string]: Json } = {};
  for (const [name, schema] of Object.entries(fields)) {
    if (schema.readOnly === true || schema.source === true) continue;
    if (
      schema.whenAbsent === "unmanaged" &&
      after?.[name] === undefined &&
      (after !== undefined || namesOthers(schema))
    )
      continue;
    const value =
      schema.writeOnly === true ? live.facts[schema.witness ?? ""] : normalForm(schema, live.values[name]);
    if (value !== undefined) parts[name] = value;
  }
  return fingerprint(parts);
}

/**
 * Whether an object is the one that a change rests on. A change that removes it also accepts one that came to rest since, which does less
 * than the plan showed. With `sensitive`, the fingerprint may be keyed.
 */
export function isAsPlanned(
  provider: PlannedKind,
  object: LiveObject,
  change: ObjectChange,
  sensitive?: Pick<SensitiveValues, "keyed">,
): boolean {
  const { fields } = provider;
  const after = "after" in change ? change.after : undefined;
  const live = comparable(provider, object, after);
  const values = removes(change) ? withoutRest(fields, live.values, change.before) : live.values;
  const print = liveFingerprint(fields, { ...live, values }, after);
  return print === change.fingerprint || sensitive?.keyed(print) === change.fingerprint;
}

/** The values, with those from before of the fields whose value says that the object rests. */
function withoutRest(fields: FieldTable, live: Values, before: Values): Values {
  const resting = Object.entries(fields).flatMap(([name, { atRest }]) => {
    const value = atRest !== undefined && live[name] === atRest ? before[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...live, ...Object.fromEntries(resting) };
}

const namesOthers = anyField(({ names }) => names !== undefined);

/** What a spec declares, as the kind wants it compared: the natural name filled in, without what the kind itself leaves out. */
export function declaredForm(provider: PlannedKind, name: string, values: Values): Values {
  const field = provider.nameField;
  const named = field === undefined || values[field] !== undefined ? values : { ...values, [field]: name };
  return provider.planning.normalize?.(named, named) ?? named;
}

/** The live object, normalized by its kind; where two forms say the same, as in `like`. Takes about 2 µs for a job, so the result is not cached. */
export function comparable(provider: PlannedKind, live: LiveObject, like?: Values): LiveObject {
  if (provider.planning.normalize === undefined) return live;
  return { ...live, values: provider.planning.normalize(live.values, like) };
}

/** Values with what is live in ignored fields, in the kind's form: a cluster that others moved to a pool has the pool's node type. */
export function withIgnored(
  { planning }: PlannedKind,
  values: Values,
  live: Values,
  ignored: readonly string[],
): Values {
  if (ignored.length === 0) return values;
  const withLive = withIgnoredFromLive(values, live, ignored);
  return planning.normalize?.(withLive, values) ?? withLive;
}

export function recordedWithIgnored(
  provider: PlannedKind,
  recorded: RecordedValues,
  live: Values,
  ignored: readonly string[],
): RecordedValues {
  const ignoring = (values: Values): Values => withIgnored(provider, values, live, ignored);
  return { applied: ignoring(recorded.applied), seen: ignoring(recorded.seen) };
}

/** Why the service itself gave a field its live value; undefined if it did not, or does not say so. */
export function changedByService(schema: FieldSchema, live: Pick<LiveObject, "facts">): string | undefined {
  const why = schema.changedByService === undefined ? undefined : live.facts[schema.changedByService];
  return typeof why === "string" ? why : undefined;
}
