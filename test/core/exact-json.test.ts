// JSON in and out, digit for digit.

import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";

test("an integer beyond 2^53 keeps every digit, both ways", () => {
  const text = '{"spark_context_id":5558306221970383001,"small":12,"negative":-9007199254740993}';
  expect(parseJson(text)).toEqual({
    spark_context_id: 5558306221970383001n,
    small: 12,
    negative: -9007199254740993n,
  });
  expect(stringifyJson(parseJson(text))).toBe(text);
});

test("digits inside a string stay a string, and fractions stay numbers", () => {
  expect(parseJson('["5558306221970383001", 0.1234567890123456789]')).toEqual([
    "5558306221970383001",
    0.12345678901234568,
  ]);
});

test("any 64-bit integer goes through unchanged", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      expect(stringifyJson(parseJson(`[${value}]`))).toBe(`[${value}]`);
    }),
  );
});

test("text that is not JSON throws", () => {
  expect(() => parseJson("{")).toThrow(SyntaxError);
  expect(() => parseJson("1234567890123456789,")).toThrow(SyntaxError);
});
