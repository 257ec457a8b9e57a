// A write that replaces an object keeps every field that the tables do not know, wherever it is, or is refused.

import fc from "fast-check";
import { expect, test } from "vitest";
import { DATABRICKS_TABLE } from "../../../src/api/dialect/databricks.ts";
import { FieldNotRepeatable, withCarried } from "../../../src/api/dialect/exchange.ts";
import type { WrittenField, WrittenFields } from "../../../src/api/dialect/table.ts";
import { canonicalJson } from "../../../src/core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { sampleOf } from "../../sample-size.ts";

const isUnknown = (name: string): boolean => name.startsWith("x-");

/** Objects with some of the known fields, and unknown fields at every depth. */
function objectOf(fields: WrittenFields): fc.Arbitrary<JsonObject> {
  const known = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, arbitraryOf(field)]));
  return fc
    .tuple(fc.record(known, { requiredKeys: [] }), fc.dictionary(fc.constantFrom("x-a", "x-b"), fc.nat(9)))
    .map(([some, more]) => ({ ...some, ...more }) as JsonObject);
}

function arbitraryOf(field: WrittenField): fc.Arbitrary<Json> {
  if (field === "written") return fc.nat(9);
  if (field.is === "object") return objectOf(field.fields);
  if (field.is === "keyed list") return keyedElements(field.key, field.fields);
  return fc.uniqueArray(objectOf(field.fields), {
    maxLength: 3,
    selector: (one) => canonicalJson(knownPart(one)),
  });
}

/** Elements with different keys, as the service has them. */
function keyedElements(key: string, fields: WrittenFields): fc.Arbitrary<Json> {
  return fc
    .array(objectOf(fields), { maxLength: 3 })
    .map((elements) => elements.map((element, at) => ({ ...element, [key]: `key-${at}` })));
}

/** Without unknown fields. */
function knownPart(value: Json): Json {
  if (Array.isArray(value)) return value.map(knownPart);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => !isUnknown(name));
  return Object.fromEntries(members.map(([name, member]) => [name, knownPart(member)]));
}

/** A request that changes one known field of an object, or removes it, or removes the first element of a list. */
function requestFor(live: JsonObject, pick: number, removes: boolean): JsonObject {
  const whole = knownPart(live) as JsonObject;
  const names = Object.keys(whole);
  const name = names[pick % Math.max(1, names.length)];
  if (name === undefined) return whole;
  const { [name]: value = 0, ...rest } = whole;
  if (Array.isArray(value)) return { ...rest, [name]: value.slice(1) };
  if (isObject(value) && !removes) return { ...rest, [name]: requestFor(value, pick, removes) };
  return removes ? rest : { ...rest, [name]: 10 };
}

/** Unknown fields of a live object that are missing in a result, except those of what the request removes. */
function lost(live: JsonObject, request: JsonObject, result: JsonObject, path = ""): readonly string[] {
  return Object.entries(live).flatMap(([name, value]): readonly string[] => {
    const at = `${path}${name}`;
    const [asked, found] = [request[name], result[name]];
    if (isUnknown(name)) return found === value ? [] : [at];
    if (isObject(value) && isObject(asked)) return lost(value, asked, isObject(found) ? found : {}, `${at}.`);
    return Array.isArray(value) && Array.isArray(asked) ? lostElements(value, asked, found, at) : [];
  });
}

function lostElements(
  live: readonly Json[],
  asked: readonly Json[],
  found: Json | undefined,
  at: string,
): readonly string[] {
  const wanted = new Set(asked.map(canonicalJson));
  const kept = new Set((Array.isArray(found) ? found : []).map((one: Json) => canonicalJson(one)));
  return live
    .filter((one) => wanted.has(canonicalJson(knownPart(one))) && !kept.has(canonicalJson(one)))
    .map(() => `${at}[]`);
}

test.each(Object.entries(DATABRICKS_TABLE.replaced))(
  "a write of a %s keeps every unknown field of the live object, or is refused",
  (_name, fields) => {
    fc.assert(
      fc.property(objectOf(fields), fc.nat(99), fc.boolean(), (live, pick, removes) => {
        const request = requestFor(live, pick, removes);
        try {
          expect(lost(live, request, withCarried(fields, live, request))).toEqual([]);
        } catch (problem) {
          if (!(problem instanceof FieldNotRepeatable)) throw problem;
        }
      }),
      { numRuns: sampleOf(300), seed: 11 },
    );
  },
);

test("a write keeps unknown fields with the names of an object's own members", () => {
  const odd = '"__proto__": { "a": 1 }, "constructor": { "b": 2 }, "toString": "c", "hasOwnProperty": [3]';
  const live = JSON.parse(`{
    ${odd},
    "schedule": { "timezone_id": "UTC", ${odd} },
    "email_notifications": { ${odd} },
    "libraries": [{ "jar": "dbfs:/a.jar", ${odd} }, { "whl": "dbfs:/b.whl" }]
  }`);
  const written = {
    name: "etl",
    schedule: { timezone_id: "CET" },
    libraries: [{ jar: "dbfs:/a.jar" }],
  };
  const body = JSON.parse(JSON.stringify(withCarried(DATABRICKS_TABLE.replaced.job, live, written)));
  const expected = JSON.parse(`{
    ${odd},
    "name": "etl",
    "schedule": { "timezone_id": "CET", ${odd} },
    "email_notifications": { ${odd} },
    "libraries": [{ "jar": "dbfs:/a.jar", ${odd} }]
  }`);
  expect(canonicalJson(body)).toBe(canonicalJson(expected));
});
