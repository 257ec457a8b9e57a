// The change of a resource's values as an RFC 6902 patch.

import jsonPatch from "fast-json-patch";
import { isObject, type Json, type JsonObject } from "../core/json.ts";

/** Operations that turn `before` into `after`. Integers beyond 2^53 stay exact. */
export function patchOf(before: JsonObject, after: JsonObject): readonly JsonObject[] {
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
