// The change of a resource's values as an RFC 6902 patch; sets are put in one order first, so that order alone changes nothing.

import jsonPatch from "fast-json-patch";
import { canonicalJson } from "../core/canonical.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, memberSchema } from "../planner/normal.ts";
import type { FieldSchema, FieldTable } from "../resource/fields.ts";

/** Operations that turn `before` into `after`. Integers beyond 2^53 stay exact. */
export function patchOf(fields: FieldTable, before: JsonObject, after: JsonObject): readonly JsonObject[] {
  const schema: FieldSchema = { properties: fields };
  const big = new Map<string, bigint>();
  const [from, to] = [plain(schema, before, big), plain(schema, after, big)] as [object, object];
  return jsonPatch.compare(from, to).map((step) => restored(step as unknown as Json, big) as JsonObject);
}

/** The library clones through JSON text, which has no bigint: they travel as marked text. */
function plain(schema: FieldSchema, value: Json, big: Map<string, bigint>): Json {
  if (typeof value === "bigint") {
    const mark = `\u0000bigint:${value}`;
    big.set(mark, value);
    return mark;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(schema.items ?? {}, item, big));
    return schema.list === undefined || schema.list === "ordered" ? items : items.sort(byText);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, plain(memberSchema(schema, key), member, big)]),
  );
}

function byText(a: Json, b: Json): number {
  const [x, y] = [canonicalJson(a), canonicalJson(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function restored(value: Json, big: ReadonlyMap<string, bigint>): Json {
  if (typeof value === "string") return big.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => restored(item, big));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, restored(member, big)]));
}
