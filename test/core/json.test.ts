// What is an object among JSON values, and the texts in one.

import { expect, test } from "vitest";
import { collectTexts, isObject, objectIn } from "../../src/core/json.ts";

test("a list, null and what is not there are no objects", () => {
  expect([{}, { a: 1 }, [], null, undefined, "a", 1, 2n].filter(isObject)).toEqual([{}, { a: 1 }]);
});

test("in place of what is no object stands an empty one", () => {
  expect([{ a: 1 }, ["a"], null, undefined].map(objectIn)).toEqual([{ a: 1 }, {}, {}, {}]);
});

test("all texts of a value are found, however deep, and no name of a member", () => {
  expect([...collectTexts({ a: ["x", { b: "y" }], c: 1, d: null })].sort()).toEqual(["x", "y"]);
});
