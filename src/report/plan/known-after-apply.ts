// What a change makes of a resource's values: live before, live after, what only an apply can tell, and the patch between them.
// The change of a resource's values as an RFC 6902 patch.

import jsonPatch from "fast-json-patch";
import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { setMember, valueAt, withValueAt } from "../../core/pointer.ts";
import type { Change, Create } from "../../planner/model/change.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import { maskedValues, schemaAt } from "../text/masked.ts";

/** Sensitive values are masked, sets stand in one order: `patch`, applied to `before`, gives `after` wherever that is known. */
interface ResultValues {
  readonly before: JsonObject | undefined;
  /** Live as it will be; what is not known is left out, and null as a member of a list. */
  readonly after: JsonObject | undefined;
  readonly unknown: JsonObject;
  readonly patch: readonly JsonObject[];
}

export function resultValues(change: Change, fields: FieldTable): ResultValues {
  const reached = resultOf(change, fields);
  if (!("before" in change)) return { before: undefined, patch: [], ...afterOf(reached, fields) };
  const before = shown(fields, change.before);
  if (reached === change.before) return { before, after: before, unknown: {}, patch: [] };
  const patch =
    "diffs" in change ? patchOf(before, told(shown(fields, withDiffs(change, fields))) as JsonObject) : [];
  return { before, patch, ...afterOf(reached, fields) };
}

function afterOf(reached: Values | undefined, fields: FieldTable): Pick<ResultValues, "after" | "unknown"> {
  if (reached === undefined) return { after: undefined, unknown: {} };
  const marked = shown(fields, reached);
  return { after: without(marked) as JsonObject, unknown: (shapeOf(marked) ?? {}) as JsonObject };
}

function shown(fields: FieldTable, values: Values): JsonObject {
  return inOneOrder({ properties: fields }, maskedValues(fields, values)) as JsonObject;
}

/** Live values as the change leaves them, with a mark wherever only an apply can tell. */
function resultOf(change: Change, fields: FieldTable): Values | undefined {
  switch (change.action) {
    case "create":
      return asMade(fields, marking(change.after, change.unresolved), change.after);
    case "update":
      return withDiffs(change, fields);
    case "replace":
      return asMade(fields, withDiffs(change, fields), change.after);
    case "adopt":
    case "noop":
    case "report":
      return change.before;
    case "delete":
    case "forget":
      return undefined;
  }
  return change satisfies never;
}

type Changing = Extract<Change, { readonly diffs: unknown }>;

function withDiffs(change: Changing, fields: FieldTable): Values {
  let after: Json | undefined = change.before;
  for (const { path, after: reached } of change.diffs)
    after = withValueAt(after, path, reached ?? (isServers(schemaAt(fields, path)) ? MARK : undefined));
  return marking(after as Values, unresolvedOf(change));
}

/** References in values to be written. A reference inside an unchanged value is not listed. */
function unresolvedOf(change: Changing): Create["unresolved"] {
  return change.unresolved.filter(({ path }) =>
    change.diffs.some(
      (diff) => diff.unknown === true && diff.path.every((key, at) => String(key) === String(path[at])),
    ),
  );
}

/** A new object has the documented defaults where the spec says nothing, and what the service decides. */
function asMade(fields: FieldTable, values: Values, set: Values): Values {
  const made: { [key: string]: Json } = { ...values };
  for (const [name, schema] of Object.entries(fields)) {
    if (set[name] !== undefined || schema.readOnly === true || schema.source === true) continue;
    if (schema.default !== undefined) made[name] ??= schema.default;
    // Whether the service has a field of one dialect only is not known here.
    else if (isServers(schema) && schema.dialect === undefined) made[name] = MARK;
  }
  return made;
}

function isServers({ serverDefault, whenAbsent }: FieldSchema): boolean {
  return serverDefault === true || whenAbsent === "unmanaged";
}

/** No string of a spec or a service begins like this, because neither may contain this character. */
const MARK = "\u0000later:";

function marking(values: Values, references: Create["unresolved"]): Values {
  let marked: Json | undefined = values;
  for (const { path } of references)
    marked = withValueAt(marked, path, `${MARK}${String(valueAt(values, path) ?? "")}`);
  return marked as Values;
}

function isMarked(value: Json): value is string {
  return typeof value === "string" && value.startsWith(MARK);
}

/** Sorts sets, so that order alone makes no difference and positions match on both sides. */
function inOneOrder(schema: FieldSchema, value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => inOneOrder(schema.items ?? {}, item));
    return schema.list === undefined || schema.list === "ordered" ? items : items.sort(byText);
  }
  return isObject(value)
    ? mapped(value, (member, key) => inOneOrder(memberSchema(schema, key), member))
    : value;
}

function byText(a: Json, b: Json): number {
  const [x, y] = [canonicalJson(a), canonicalJson(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** References as text in place of the marks; what the service decides is left out. */
function told(value: Json): Json | undefined {
  if (isMarked(value)) return value === MARK ? undefined : value.slice(MARK.length);
  if (Array.isArray(value)) return value.map((item) => told(item) ?? null);
  return isObject(value) ? mapped(value, told) : value;
}

function without(value: Json): Json | undefined {
  if (isMarked(value)) return undefined;
  if (Array.isArray(value)) return value.map((item) => without(item) ?? null);
  return isObject(value) ? mapped(value, without) : value;
}

/** `true` at each mark; in a list, `false` at its other members. */
function shapeOf(value: Json): Json | undefined {
  if (isMarked(value)) return true;
  if (Array.isArray(value)) {
    const items = value.map(shapeOf);
    return items.some((item) => item !== undefined) ? items.map((item) => item ?? false) : undefined;
  }
  if (!isObject(value)) return undefined;
  const shape = mapped(value, shapeOf);
  return Object.keys(shape).length === 0 ? undefined : shape;
}

function mapped(value: JsonObject, of: (member: Json, key: string) => Json | undefined): JsonObject {
  const out: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const found = of(member, key);
    if (found !== undefined) setMember(out, key, found);
  }
  return out;
}

/** Operations that turn `before` into `after`. Integers beyond 2^53 stay exact. */
function patchOf(before: JsonObject, after: JsonObject): readonly JsonObject[] {
  const big = new Map<string, bigint>();
  const [from, to] = [plain(before, big), plain(after, big)] as [object, object];
  return jsonPatch.compare(from, to).map((step) => restored(step as unknown as Json, big) as JsonObject);
}

/** The library clones through JSON text, which has no bigint: they travel as marked text. */
function plain(value: Json, big: Map<string, bigint>): Json {
  if (typeof value === "bigint") {
    const mark = `\u0000bigint:${value}`;
    big.set(mark, value);
    return mark;
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, big));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member, big)]));
}

function restored(value: Json, big: ReadonlyMap<string, bigint>): Json {
  if (typeof value === "string") return big.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => restored(item, big));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, restored(member, big)]));
}
