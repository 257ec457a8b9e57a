// The values of a resource before and after a change, which of them are known only after the apply, and the RFC 6902 patch.

import jsonPatch from "fast-json-patch";
import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { withoutDigests } from "../../core/sensitive-values.ts";
import type { Change } from "../../planner/model/change.ts";
import {
  isMarkedLater,
  mapMembers,
  markedDiffs,
  markedResult,
  withReferenceTexts,
} from "../../planner/model/result-values.ts";
import {
  type FieldSchema,
  type FieldTable,
  itemSchema,
  memberSchema,
  type Values,
} from "../../resource/field-schema.ts";
import { maskedValues } from "../../resource/masked.ts";

/** Sensitive values are masked, sets stand in one order: `patch`, applied to `before`, gives `after` wherever that is known. */
interface ResultValues {
  readonly before: JsonObject | undefined;
  /** Live as it will be; what is not known is left out, and null as a member of a list. */
  readonly after: JsonObject | undefined;
  readonly unknown: JsonObject;
  readonly patch: readonly JsonObject[];
}

export function resultValues(change: Change, fields: FieldTable): ResultValues {
  const reached = markedResult(change, fields);
  if (!("before" in change)) return { before: undefined, patch: [], ...afterOf(reached, fields) };
  const before = shown(fields, change.before);
  if (reached === change.before) return { before, after: before, unknown: {}, patch: [] };
  // Digests show that a sensitive value changes.
  const patch =
    "diffs" in change
      ? patchOf(before, withReferenceTexts(shown(fields, markedDiffs(change, fields))) as JsonObject)
      : [];
  return { before, patch: withoutDigests(patch), ...afterOf(reached, fields) };
}

function afterOf(reached: Values | undefined, fields: FieldTable): Pick<ResultValues, "after" | "unknown"> {
  if (reached === undefined) return { after: undefined, unknown: {} };
  const marked = shown(fields, reached);
  return { after: without(marked) as JsonObject, unknown: (shapeOf(marked) ?? {}) as JsonObject };
}

function shown(fields: FieldTable, values: Values): JsonObject {
  return inOneOrder({ properties: fields }, maskedValues(fields, values)) as JsonObject;
}

/** Sorts sets, so that order alone makes no difference and positions match on both sides. */
function inOneOrder(schema: FieldSchema, value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => inOneOrder(itemSchema(schema), item));
    return schema.list === undefined || schema.list === "ordered" ? items : items.sort(byText);
  }
  return isObject(value)
    ? mapMembers(value, (member, key) => inOneOrder(memberSchema(schema, key), member))
    : value;
}

function byText(a: Json, b: Json): number {
  const [x, y] = [canonicalJson(a), canonicalJson(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function without(value: Json): Json | undefined {
  if (isMarkedLater(value)) return undefined;
  if (Array.isArray(value)) return value.map((item) => without(item) ?? null);
  return isObject(value) ? mapMembers(value, without) : value;
}

/** `true` at each mark; in a list, `false` at its other members. */
function shapeOf(value: Json): Json | undefined {
  if (isMarkedLater(value)) return true;
  if (Array.isArray(value)) {
    const items = value.map(shapeOf);
    return items.some((item) => item !== undefined) ? items.map((item) => item ?? false) : undefined;
  }
  if (!isObject(value)) return undefined;
  const shape = mapMembers(value, shapeOf);
  return Object.keys(shape).length === 0 ? undefined : shape;
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
  return isObject(value) ? mapMembers(value, (member) => plain(member, big)) : value;
}

function restored(value: Json, big: ReadonlyMap<string, bigint>): Json {
  if (typeof value === "string") return big.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => restored(item, big));
  return isObject(value) ? mapMembers(value, (member) => restored(member, big)) : value;
}
