// Values that are equal without normalization.

import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../../src/core/canonical.ts";
import type { Json } from "../../../src/core/json.ts";
import { isIdentical, isSameValue } from "../../../src/planner/diff/normalize.ts";

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
