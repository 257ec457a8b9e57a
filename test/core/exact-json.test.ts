// JSON in and out, digit for digit.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assertShallow,
  JSON_DEPTH,
  JsonTooDeep,
  parseJson,
  stringifyJson,
} from "../../src/core/exact-json.ts";

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

test("a long integer keeps its digits wherever it stands in the text", () => {
  for (let before = 0; before < 40; before++)
    for (const digits of ["9007199254740993", "12345678901234567", "-9223372036854775807"]) {
      const text = `{"${"a".repeat(before)}":${digits}}`;
      expect(stringifyJson(parseJson(text))).toBe(text);
    }
});

test("text that is not JSON throws", () => {
  expect(() => parseJson("{")).toThrow(SyntaxError);
  expect(() => parseJson("1234567890123456789,")).toThrow(SyntaxError);
});

const nested = (depth: number, [open, close]: readonly [string, string] = ["[", "]"]): string =>
  open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);

test("JSON as deep as the limit is parsed, and one level more is refused before it is parsed", () => {
  for (const pair of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    expect(stringifyJson(parseJson(nested(JSON_DEPTH, pair)))).toBe(nested(JSON_DEPTH, pair));
    expect(() => parseJson(nested(JSON_DEPTH + 1, pair))).toThrow(JsonTooDeep);
  }
});

test("millions of open brackets are refused although the text never ends", () => {
  expect(() => parseJson("[".repeat(5_000_000))).toThrow(JsonTooDeep);
  expect(() => parseJson('{"a":['.repeat(1_000_000))).toThrow(JsonTooDeep);
});

test("brackets inside strings do not count, whatever is escaped there", () => {
  const texts = [
    "[".repeat(1000),
    `${'"'}${"{".repeat(1000)}`,
    `\\${"[".repeat(1000)}`,
    `\\\\"${"[".repeat(500)}`,
  ];
  for (const text of texts)
    expect(parseJson(JSON.stringify([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
});

test("depth counts open brackets, not all brackets", () => {
  const wide = `[${Array.from({ length: 10_000 }, () => "[[{}]]").join(",")}]`;
  expect(parseJson(wide)).toHaveLength(10_000);
});

test("any value is judged by its own depth", () => {
  const depthOf = (value: unknown): number =>
    value === null || typeof value !== "object" ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 7 }), (value, limit) => {
      const text = JSON.stringify(value);
      if (depthOf(value) <= limit) expect(() => assertShallow(text, limit)).not.toThrow();
      else expect(() => assertShallow(text, limit)).toThrow(JsonTooDeep);
    }),
  );
});
