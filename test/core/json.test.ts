// Objects among JSON values, and the strings in a value.

import { expect, test } from "vitest";
import { collectTexts, isObject, type Json, objectIn, sharedIfSame } from "../../src/core/json.ts";

test("a list, null, and undefined are not objects", () => {
  const values: readonly (Json | undefined)[] = [{}, { a: 1 }, [], null, undefined, "a", 1, 2n];
  expect(values.filter(isObject)).toEqual([{}, { a: 1 }]);
});

test("a value that is not an object becomes an empty object", () => {
  expect([{ a: 1 }, ["a"], null, undefined].map(objectIn)).toEqual([{ a: 1 }, {}, {}, {}]);
});

test("all strings of a value are found, however deep, without keys", () => {
  expect([...collectTexts({ a: ["x", { b: "y" }], c: 1, d: null })].sort()).toEqual(["x", "y"]);
});

test("only a value with the same members in the same order is shared", () => {
  const inside = [1];
  const known = { a: 1, b: inside };
  expect(sharedIfSame<object>(known, { a: 1, b: inside })).toBe(known);
  const others: readonly { readonly [key: string]: Json }[] = [
    { b: inside, a: 1 },
    { a: 1 },
    { a: 2, b: inside },
    { a: 1, b: [1] },
    { a: 1, c: inside },
  ];
  for (const other of others) expect(sharedIfSame<typeof other>(known, other)).toBe(other);
  const list: readonly Json[] = [];
  expect(sharedIfSame<object>({}, list)).toBe(list);
});
