// The three-way comparison of one field: desired, live, and recorded.

import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { diffResource } from "../../../src/planner/diff/diff.ts";
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
];

describe("diffResource", () => {
  test.each(CASES)("$about", ({ schema = TEXT, desired, live, applied, seen, gives }) => {
    const recorded =
      applied === undefined && seen === undefined ? undefined : { applied: one(applied), seen: one(seen) };
    const found = diffResource({ f: schema }, one(desired), object("i", "n", one(live)), recorded);
    expect(found).toMatchObject(gives === undefined ? [] : [{ path: ["f"], replaces: false, ...gives }]);
    expect(found).toHaveLength(gives === undefined ? 0 : 1);
  });
});
