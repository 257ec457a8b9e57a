// The three-way comparison of one field: desired, live, and recorded.

import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { diffResource } from "../../../src/planner/diff/diff.ts";
import { changedByService } from "../../../src/planner/diff/normalize.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";
import { object } from "../build.ts";

const one = (value: Json | undefined): JsonObject => (value === undefined ? {} : { f: value });

interface Case {
  readonly about: string;
  readonly schema?: FieldSchema;
  readonly desired?: Json;
  readonly live?: Json;
  readonly applied?: Json;
  readonly seen?: Json;
  /** Undefined: no difference. */
  readonly gives?: {
    readonly before?: Json;
    readonly after?: Json;
    readonly cause: string;
    readonly replaces?: true;
  };
}

const TEXT: FieldSchema = { type: "string" };

const OBJECT: FieldSchema = {
  type: "object",
  properties: {
    low: { type: "integer", default: 0 },
    high: { type: "integer" },
    served: { type: "integer", serverDefault: true },
    loose: { type: "string", whenAbsent: "unmanaged" },
    id: { type: "string", readOnly: true },
    deep: { type: "object", properties: { inner: { type: "integer" } } },
  },
};

const CASES: readonly Case[] = [
  { about: "equal on all sides", desired: "x", live: "x", applied: "x" },
  {
    about: "the spec changed",
    desired: "y",
    live: "x",
    applied: "x",
    gives: { before: "x", after: "y", cause: "spec" },
  },
  {
    about: "the live object changed",
    desired: "x",
    live: "y",
    applied: "x",
    gives: { before: "y", after: "x", cause: "drift" },
  },
  {
    about: "both changed",
    desired: "z",
    live: "y",
    applied: "x",
    gives: { before: "y", after: "z", cause: "both" },
  },
  { about: "both changed to the same value", desired: "y", live: "y", applied: "x" },
  {
    about: "the spec no longer sets what the last apply set",
    live: "x",
    applied: "x",
    gives: { before: "x", cause: "spec" },
  },
  { about: "the default is live and the spec is silent", schema: { type: "integer", default: 1 }, live: 1 },
  {
    about: "the server decides a field that the spec never set",
    schema: { type: "string", serverDefault: true },
    live: "x",
    seen: "x",
  },
  {
    about: "an immutable field changed in the spec",
    schema: { type: "string", onChange: "replace" },
    desired: "y",
    live: "x",
    applied: "x",
    gives: { before: "x", after: "y", cause: "spec", replaces: true },
  },
  {
    about: "a set is in another order",
    schema: { type: "array", list: "set", items: TEXT },
    desired: ["a", "b"],
    live: ["b", "a"],
    applied: ["a", "b"],
  },
  {
    about: "an ordered list is in another order",
    schema: { type: "array", list: "ordered", items: TEXT },
    desired: ["a", "b"],
    live: ["b", "a"],
    applied: ["a", "b"],
    gives: { before: ["b", "a"], after: ["a", "b"], cause: "drift" },
  },
  {
    about: "a field that nobody manages when absent",
    schema: { type: "array", list: "set", whenAbsent: "unmanaged", items: TEXT },
    live: ["a"],
  },
  {
    about: "a name in another case",
    schema: { type: "string", ignoreCase: true },
    desired: "Ada",
    live: "ada",
  },
  { about: "a field that only the service sets", schema: { type: "string", readOnly: true }, live: "x" },
  { about: "a field that only the spec has", schema: { type: "string", source: true }, desired: "x" },
  {
    about: "a default that the service leaves out",
    schema: { type: "integer", default: 1 },
    desired: 1,
  },
  {
    about: "a value in place of a default that the service leaves out",
    schema: { type: "integer", default: 1 },
    desired: 2,
    gives: { before: 1, after: 2, cause: "spec" },
  },
  {
    about: "a server default of the last apply that the spec no longer sets",
    schema: { type: "integer", serverDefault: true },
    live: 5,
    applied: 5,
    gives: { before: 5, cause: "spec" },
  },
  {
    about: "a server default of the last apply that is gone",
    schema: { type: "integer", serverDefault: true },
    applied: 5,
  },
  {
    about: "a server default that the service took away",
    schema: { type: "integer", serverDefault: true },
    seen: 60,
    gives: { after: 60, cause: "drift" },
  },
  { about: "a server default of an object that is not recorded", schema: { serverDefault: true }, live: 5 },
  {
    about: "an unmanaged field that the spec begins to set",
    schema: { type: "string", whenAbsent: "unmanaged" },
    desired: "y",
    live: "x",
    gives: { before: "x", after: "y", cause: "spec" },
  },
  {
    about: "an unmanaged field that the last apply set",
    schema: { type: "string", whenAbsent: "unmanaged" },
    desired: "y",
    live: "x",
    applied: "y",
    gives: { before: "x", after: "y", cause: "drift" },
  },
  {
    about: "an unmanaged field that the last apply saw",
    schema: { type: "string", whenAbsent: "unmanaged" },
    desired: "y",
    live: "x",
    seen: "y",
    gives: { before: "x", after: "y", cause: "drift" },
  },
  {
    about: "members that the service may add",
    schema: { type: "object", additionalProperties: TEXT, addedByService: { a: "1" } },
    live: { a: "1" },
  },
  {
    about: "a member that the service may add, with another value",
    schema: { type: "object", additionalProperties: TEXT, addedByService: { a: "1" } },
    live: { a: "2" },
    gives: { before: { a: "2" }, cause: "spec" },
  },
  {
    about: "an optional object with nothing in it",
    schema: OBJECT,
    live: { low: 0, served: 5, loose: "x", id: "i" },
  },
  {
    about: "an optional object with a value of its own",
    schema: OBJECT,
    live: { low: 0, high: 1 },
    gives: { before: { low: 0, high: 1 }, cause: "spec" },
  },
  {
    about: "an optional object with a member that is not its default",
    schema: OBJECT,
    live: { low: 2 },
    gives: { before: { low: 2 }, cause: "spec" },
  },
  {
    about: "an optional object with a value deep inside",
    schema: OBJECT,
    live: { deep: { inner: 1 } },
    gives: { before: { deep: { inner: 1 } }, cause: "spec" },
  },
  { about: "an optional object with an empty one inside", schema: OBJECT, live: { deep: {} } },
  {
    about: "a value of a type that the schema does not expect",
    schema: OBJECT,
    live: "text",
    gives: { before: "text", cause: "spec" },
  },
  {
    about: "an object without known members",
    schema: { type: "object" },
    desired: { a: 1 },
    live: { a: 2 },
    gives: { before: { a: 2 }, after: { a: 1 }, cause: "spec" },
  },
  {
    about: "an object where the service has text",
    schema: OBJECT,
    desired: { high: 1 },
    live: "text",
    gives: { before: "text", after: { high: 1 }, cause: "spec" },
  },
];

describe("diffResource", () => {
  test.each(CASES)("$about", ({ schema = TEXT, desired, live, applied, seen, gives }) => {
    const recorded =
      applied === undefined && seen === undefined ? undefined : { applied: one(applied), seen: one(seen) };
    const found = diffResource({ f: schema }, one(desired), object("i", "n", one(live)), recorded);
    expect(found).toEqual(
      gives === undefined
        ? []
        : [{ path: ["f"], before: undefined, after: undefined, replaces: false, ...gives }],
    );
  });
});

/** The differences of one field, as `path: before → after (cause)`. */
function shown(
  schema: FieldSchema,
  desired: Json | undefined,
  live: Json | undefined,
  more: Recorded = {},
): string[] {
  const { applied, witnesses, isRecorded = applied !== undefined, facts = {}, unknown = [] } = more;
  const recorded = isRecorded ? { applied: one(applied), seen: { ...witnesses } } : undefined;
  const found = diffResource(
    { f: schema },
    one(desired),
    object("i", "n", one(live), facts),
    recorded,
    new Set(unknown),
  );
  return found.map((diff) => {
    const [before, after] = [diff.before, diff.after].map((value) => JSON.stringify(value) ?? "nothing");
    const marks = [diff.unknown === true ? " unknown" : "", diff.replaces ? " replaces" : ""].join("");
    return `${diff.path.join(".")}: ${before} → ${after} (${diff.cause}${marks})`;
  });
}

interface Recorded {
  readonly applied?: Json;
  /** Absent: if something was applied. */
  readonly isRecorded?: boolean;
  readonly witnesses?: JsonObject;
  readonly facts?: JsonObject;
  readonly unknown?: readonly string[];
}

describe("the members of an object", () => {
  test("are compared one by one: known ones in their order, then those of the spec, then live ones", () => {
    const schema: FieldSchema = { properties: { z: TEXT, y: TEXT }, additionalProperties: TEXT };
    const desired = { y: "1", d: "2", c: "3", same: "s" };
    const live = { b: "4", a: "5", z: "6", same: "s" };
    expect(shown(schema, desired, live)).toEqual([
      'f.z: "6" → nothing (spec)',
      'f.y: nothing → "1" (spec)',
      'f.c: nothing → "3" (spec)',
      'f.d: nothing → "2" (spec)',
      'f.a: "5" → nothing (spec)',
      'f.b: "4" → nothing (spec)',
    ]);
  });

  test("of a map are the server's to decide where the spec does not set them and the field is", () => {
    const map: FieldSchema = { type: "object", serverDefault: true, additionalProperties: TEXT };
    const recorded = { applied: { a: "1" } };
    expect(shown(map, { a: "1" }, { a: "1", b: "2" }, recorded)).toEqual([]);
    const known: FieldSchema = { type: "object", serverDefault: true, properties: { a: TEXT, b: TEXT } };
    expect(shown(known, { a: "1" }, { a: "1", b: "2" }, recorded)).toEqual(['f.b: "2" → nothing (drift)']);
  });

  test("inherit that a change replaces the object, and that nothing managed them before", () => {
    const schema: FieldSchema = {
      properties: { a: TEXT, b: { properties: { c: TEXT } } },
      onChange: "replace",
    };
    expect(shown(schema, { a: "1", b: { c: "2" } }, { a: "0", b: { c: "0" } })).toEqual([
      'f.a: "0" → "1" (spec replaces)',
      'f.b.c: "0" → "2" (spec replaces)',
    ]);
    const unmanaged: FieldSchema = { properties: { a: TEXT }, whenAbsent: "unmanaged" };
    expect(shown(unmanaged, { a: "1" }, { a: "0" }, { isRecorded: true })).toEqual(['f.a: "0" → "1" (spec)']);
    expect(shown(unmanaged, { a: "1" }, { a: "0" }, { applied: { a: "1" } })).toEqual([
      'f.a: "0" → "1" (drift)',
    ]);
  });

  test("that are objects compare as such, also when they are the same object", () => {
    const schema: FieldSchema = { properties: { a: { type: "object", additionalProperties: TEXT } } };
    const same = { x: "1" };
    expect(shown(schema, { a: same }, { a: same })).toEqual([]);
    expect(shown(schema, { a: { x: "1" } }, { a: { x: "2" } })).toEqual(['f.a.x: "2" → "1" (spec)']);
  });

  test("that an object inherits are not its members", () => {
    const schema: FieldSchema = { properties: { toString: TEXT } };
    expect(shown(schema, {}, {})).toEqual([]);
    expect(shown(schema, { toString: "x" }, {})).toEqual(['f.toString: nothing → "x" (spec)']);
  });
});

describe("a value that the service never returns", () => {
  const secret: FieldSchema = { type: "string", writeOnly: true, witness: "at" };
  const plain: FieldSchema = { type: "string", writeOnly: true };
  const recorded = { applied: "d1", witnesses: { at: 5 } };

  test.each<readonly [string, FieldSchema, Json | undefined, Recorded, readonly string[]]>([
    ["is unchanged while digest and witness stay", secret, "d1", { ...recorded, facts: { at: 5 } }, []],
    ["compares witnesses as text", secret, "d1", { ...recorded, facts: { at: "5" } }, []],
    ["changed in the spec", secret, "d2", { ...recorded, facts: { at: 5 } }, ['f: "d1" → "d2" (spec)']],
    ["was written by others", secret, "d1", { ...recorded, facts: { at: 6 } }, ['f: nothing → "d1" (drift)']],
    ["changed in both", secret, "d2", { ...recorded, facts: { at: 6 } }, ['f: nothing → "d2" (both)']],
    ["has no witness in the record", secret, "d1", { applied: "d1", facts: { at: 6 } }, []],
    ["has no witness in the workspace", secret, "d1", recorded, []],
    [
      "has no witness anywhere",
      plain,
      "d1",
      { ...recorded, facts: { undefined: 6 }, witnesses: { undefined: 5 } },
      [],
    ],
    ["is not declared", secret, undefined, { ...recorded, facts: { at: 6 } }, []],
    ["is not declared and was never recorded", secret, undefined, {}, []],
    ["is written when it was never recorded", secret, "d1", {}, ['f: nothing → "d1" (spec)']],
    [
      "is written when it was never recorded, without a witness too",
      plain,
      "d1",
      {},
      ['f: nothing → "d1" (spec)'],
    ],
    [
      "that only a request has is not written for an object without a record",
      { ...plain, requestOption: true },
      "d1",
      {},
      [],
    ],
  ])("%s", (_, schema, desired, more, gives) => {
    expect(shown(schema, desired, undefined, more)).toEqual(gives);
  });

  test("replaces the object when the field does", () => {
    expect(
      shown({ ...secret, onChange: "replace" }, "d2", undefined, { ...recorded, facts: { at: 5 } }),
    ).toEqual(['f: "d1" → "d2" (spec replaces)']);
  });
});

describe("a value that is known only after apply", () => {
  const list: FieldSchema = { type: "array", items: TEXT };

  test.each<readonly [string, FieldSchema, Json, readonly string[], readonly string[]]>([
    ["is marked", TEXT, "${x}", ["/f"], ['f: "a" → "${x}" (spec unknown)']],
    ["marks the list that has it", list, ["${x}"], ["/f/0"], ['f: "a" → ["${x}"] (spec unknown)']],
    ["marks no other field", TEXT, "b", ["/g", "/ff", "/f2/0"], ['f: "a" → "b" (spec)']],
  ])("%s", (_, schema, desired, unknown, gives) => {
    expect(shown(schema, desired, "a", { unknown })).toEqual(gives);
  });
});

test("a value that the service changed is not drift, and gives the reason", () => {
  const schema: FieldSchema = { type: "integer", changedByService: "why" };
  const given = { applied: 1 };
  expect(shown(schema, 1, 2, { ...given, facts: { why: "scaled" } })).toEqual(["f: 2 → 1 (spec)"]);
  expect(shown(schema, 1, 2, { ...given, facts: { why: 5 } })).toEqual(["f: 2 → 1 (drift)"]);
  expect(shown({ type: "integer" }, 1, 2, { ...given, facts: { undefined: "scaled" } })).toEqual([
    "f: 2 → 1 (drift)",
  ]);
  expect(changedByService(schema, object("i", "n", {}, { why: "scaled" }))).toBe("scaled");
  expect(changedByService(schema, object("i", "n", {}, { why: 5 }))).toBeUndefined();
  expect(changedByService({}, object("i", "n", {}, { undefined: "scaled" }))).toBeUndefined();
});
