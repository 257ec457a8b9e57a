// Values that are equal without normalization.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../src/core/digest.ts";
import type { Json } from "../../../src/core/json.ts";
import {
  isIdentical,
  isIgnored,
  isSameValue,
  normalForm,
  withIgnoredFromLive,
} from "../../../src/planner/diff/normalize.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

test("values are equal exactly if their canonical strings are", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(isIdentical(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
    }),
  );
});

test("the order of members does not matter, the order of items does", () => {
  expect(isIdentical({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
  expect(isIdentical([1, 2], [2, 1])).toBe(false);
});

test("a member that is missing is not one that is there, whatever the object inherits", () => {
  expect(isIdentical({ toString: 1 }, { valueOf: 1 })).toBe(false);
  expect(isIdentical({ a: undefined } as unknown as Json, { b: 1 })).toBe(false);
});

test("sets in another order are the same, and not identical", () => {
  expect(isIdentical(["a", "b"], ["b", "a"])).toBe(false);
  expect(isSameValue({ list: "set" }, ["a", "b"], ["b", "a"])).toBe(true);
});

test.each<readonly [string, Json, Json, boolean]>([
  ["null and an object", null, {}, false],
  ["null and null", null, null, true],
  ["an object and null", {}, null, false],
  ["a list and an object", [], {}, false],
  ["an object and a list", {}, [], false],
  ["a list and a longer one", [1], [1, 2], false],
  ["a list and another", [1, 2], [1, 3], false],
  ["lists of equal objects", [{ a: 1 }], [{ a: 1 }], true],
  ["an object and one with a member more", { a: 1 }, { a: 1, b: 2 }, false],
  ["text and an object", "a", {}, false],
  ["an object and text", {}, "a", false],
  ["a number and its text", 1, "1", false],
])("%s are identical or not", (_, a, b, gives) => {
  expect(isIdentical(a, b)).toBe(gives);
});

describe("the normal form of a value", () => {
  test.each<readonly [string, FieldSchema, Json | undefined, Json | undefined]>([
    ["of nothing is nothing", {}, undefined, undefined],
    ["of null is nothing", {}, null, undefined],
    ["of an empty list is nothing", {}, [], undefined],
    ["of an empty object is nothing", {}, {}, undefined],
    ["of an object with nothing in it is nothing", {}, { a: null, b: {} }, undefined],
    ["leaves out members with nothing", {}, { a: null, b: 1 }, { b: 1 }],
    [
      "leaves out members with their default",
      { properties: { a: { default: 1 }, b: {} } },
      { a: 1, b: 1 },
      { b: 1 },
    ],
    [
      "has nothing for a member that is null, also instead of a default",
      { properties: { a: { default: 1 } } },
      { a: null },
      undefined,
    ],
    ["keeps members that are not their default", { properties: { a: { default: 1 } } }, { a: 2 }, { a: 2 }],
    [
      "compares defaults in normal form",
      { properties: { a: { default: { x: [2, 1] }, properties: { x: { list: "set" } } }, b: {} } },
      { a: { x: [1, 2] }, b: 1 },
      { b: 1 },
    ],
    ["keeps text", {}, "Ada", "Ada"],
    ["folds the case of names", { ignoreCase: true }, "Ada", "ada"],
    ["folds the case of names in lists", { items: { ignoreCase: true } }, ["Ada"], ["ada"]],
    ["keeps numbers of fields that ignore case", { ignoreCase: true }, 5, 5],
    ["keeps the order of a list", {}, [2, 1], [2, 1]],
    ["keeps the order of an ordered list", { list: "ordered" }, [2, 1, 2], [2, 1, 2]],
    ["keeps the places of items with nothing", {}, [1, null], [1, null]],
    ["sorts a set and drops what it has twice", { list: "set" }, [3, 1, 2, 1, 3], [1, 2, 3]],
    [
      "sorts a list by the key of its items and keeps items with the same key",
      { list: { key: "k" } },
      [
        { k: "b", v: 1 },
        { k: "a", v: 2 },
        { k: "b", v: 0 },
      ],
      [
        { k: "a", v: 2 },
        { k: "b", v: 1 },
        { k: "b", v: 0 },
      ],
    ],
    [
      "sorts items without the key by themselves",
      { list: { key: "k" } },
      [{ v: 2 }, { v: 1 }],
      [{ v: 1 }, { v: 2 }],
    ],
    ["sorts items that are no objects by themselves", { list: { key: "k" } }, ["b", "a"], ["a", "b"]],
  ])("%s", (_, schema, value, gives) => {
    expect(normalForm(schema, value)).toEqual(gives);
  });
});

test.each<readonly [string, FieldSchema, Json | undefined, Json | undefined, boolean]>([
  ["nothing and nothing", {}, undefined, undefined, true],
  ["nothing and an empty list", {}, undefined, [], true],
  ["nothing and a value", {}, undefined, 1, false],
  ["a value and nothing", {}, 1, undefined, false],
  ["two values", {}, 1, 2, false],
  [
    "objects that differ in a default",
    { properties: { a: { default: 1 }, b: {} } },
    { a: 1, b: 2 },
    { b: 2 },
    true,
  ],
])("%s mean the same or not", (_, schema, a, b, gives) => {
  expect(isSameValue(schema, a, b)).toBe(gives);
});

test("an ignored path includes everything in it", () => {
  const ignored = ["tags", "limits.low"];
  const is = (...path: (string | number)[]) => isIgnored(path, ignored);
  expect([is("tags"), is("tags", "a"), is("tags", 0), is("limits", "low")]).toEqual([true, true, true, true]);
  expect([is("tagsets"), is("limits"), is("limits", "high"), is("size")]).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(isIgnored(["tags"], [])).toBe(false);
});

test("ignored fields have their live values, or none", () => {
  const values = { a: { x: 1, y: 2 }, b: 3, c: 4 };
  expect(withIgnoredFromLive(values, { a: { x: 9 }, b: 8 }, ["a.x", "b"])).toEqual({
    a: { x: 9, y: 2 },
    b: 8,
    c: 4,
  });
  expect(withIgnoredFromLive(values, {}, ["c"])).toEqual({ a: { x: 1, y: 2 }, b: 3 });
  expect(withIgnoredFromLive(values, {}, ["d.e"])).toEqual(values);
  expect(withIgnoredFromLive(values, { b: 1 }, [])).toBe(values);
});
