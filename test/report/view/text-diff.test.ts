// Multi-line strings are shown as a diff; schedules are described in words.

import { expect, test } from "vitest";
import { diffLines, textDiff, wordsFor } from "../../../src/report/view/field-lines.ts";

test("a changed line shows the old and the new one between its neighbours", () => {
  const lines = textDiff("a\nb\nc\n", "a\nB\nc\n");
  expect(lines.map((line) => `${line.sign ?? " "}${line.text}`)).toEqual([
    " line 1:",
    "   a",
    "-b",
    "+B",
    "   c",
  ]);
});

test("a long difference is truncated, with a note", () => {
  const text = Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n");
  expect(textDiff("", text).at(-1)?.text).toMatch(/^… \(\d+ more lines\)$/);
});

test("a cron expression is said in words, days counted as Quartz counts them", () => {
  expect(wordsFor(["schedule", "quartz_cron_expression"], "0 30 2 ? * 2")).toBe("at 02:30, only on Monday");
  expect(wordsFor(["schedule", "quartz_cron_expression"], "${var.x}")).toBe("");
  expect(wordsFor(["name"], "0 30 2 * * ?")).toBe("");
});

test("a key that every JavaScript object inherits is a key like any other", () => {
  const diff = { path: ["tags"], before: { a: "1" }, after: { a: "1", constructor: "x" } } as const;
  const tags = { tags: { type: "object", additionalProperties: { type: "string" } } } as const;
  expect(diffLines(tags, { ...diff, cause: "spec", replaces: false }, "spec", "other")).toEqual([
    { label: "tags.constructor", was: "(none)", text: "x" },
  ]);
});
