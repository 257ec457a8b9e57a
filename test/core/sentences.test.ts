import { expect, test } from "vitest";
import { count, firstFew, grouped, listed } from "../../src/core/sentences.ts";

test("a count of one is singular, all others are plural", () => {
  expect([count(1, "user"), count(0, "user"), count(2, "child", "children"), count(1_000, "change")]).toEqual(
    ["1 user", "0 users", "2 children", "1,000 changes"],
  );
});

test("large numbers are written in groups of three digits", () => {
  expect([grouped(12), grouped(999), grouped(1_234_567)]).toEqual(["12", "999", "1,234,567"]);
});

test("a list is joined by its last word", () => {
  expect([listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")]).toEqual([
    "",
    "a",
    "a and b",
    "a, b or c",
  ]);
});

test("the rest of a long list is counted", () => {
  expect(listed(["a", "b", "c"], "and", 2)).toBe("a, b and 1 more");
  const thirteen = Array.from({ length: 13 }, (_, at) => `n${at}`);
  expect(listed(thirteen)).toMatch(/^n0, .*, n11 and 1 more$/);
});

test("the first items of a long list are named, and the others are counted", () => {
  expect(firstFew(["a", "b"], 2)).toBe("a, b");
  expect(firstFew(["a", "b", "c"], 2)).toBe("a, b, and 1 more");
  expect(firstFew(Array.from({ length: 1_001 }), 1, () => "a")).toBe("a, and 1,000 more");
});
