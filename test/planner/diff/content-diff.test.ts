// Differences of contents in lines.

import { expect, test } from "vitest";
import { contentDiff } from "../../../src/planner/diff/drift.ts";

test("changed lines stand among their neighbours, and are counted", () => {
  expect(contentDiff("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual({
    lines: ["@@ -1,3 +1,4 @@", " a", "-b", "+B", " c", "+d"],
    added: 2,
    removed: 1,
  });
});

test("equal contents have no difference", () => {
  expect(contentDiff("a\n", "a\n")).toBeUndefined();
});

test("contents that differ in thousands of lines are not compared line by line", () => {
  const lines = (mark: string) => Array.from({ length: 5000 }, (_, at) => `${mark}${at}\n`).join("");
  expect(contentDiff(lines("a"), lines("b"))).toBeUndefined();
});
