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

test.each(["", "[", "[1,", '{"a":', '{"a": ', "[\n", "[-", "[1,\t-"])(
  "the first integer that a double loses is found after %j",
  (before) => {
    const after = before.startsWith("[") ? "]" : before.startsWith("{") ? "}" : "";
    for (const digits of ["9007199254740993", "10000000000000001"])
      expect(stringifyJson(parseJson(`${before}${digits}${after}`)).replaceAll(/\s/g, "")).toBe(
        `${before}${digits}${after}`.replaceAll(/\s/g, ""),
      );
  },
);

test("text that is not JSON throws", () => {
  expect(() => parseJson("{")).toThrow(SyntaxError);
  expect(() => parseJson("1234567890123456789,")).toThrow(SyntaxError);
});
