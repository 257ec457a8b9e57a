// Multi-line strings are shown as a diff; schedules are described in words.

import { expect, test } from "vitest";
import { fieldBlock } from "../../../src/report/format/change-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import { diffLines, textDiff, wordsFor } from "../../../src/report/view/field-lines.ts";
import { shortPair } from "../../../src/report/view/word-differences.ts";
import type { FieldTable } from "../../../src/resource/field-schema.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";

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

const query = (table: string, limit = 500) =>
  `SELECT customer_id, region, sum(amount) AS total FROM ${table} WHERE day > 30 AND status NOT IN ('cancelled', 'refunded') LIMIT ${limit}`;

test("of a long value in which a few words change, the pair has these words with what is next to them", () => {
  expect(shortPair(query("raw_orders"), query("clean_orders"))).toEqual([
    "…m(amount) AS total FROM raw_orders WHERE day > 30 AND stat…",
    "…m(amount) AS total FROM clean_orders WHERE day > 30 AND stat…",
  ]);
  const [was] = shortPair(query("raw_orders"), query("clean_orders", 7));
  expect(was).toMatch(/^….* raw_orders .* 500$/);
});

test("a short pair, and one of values that have little in common, is exact", () => {
  for (const [was, now] of [
    ["14.3.x-scala2.12", "15.4.x-scala2.12"],
    [query("a"), "x ".repeat(90)],
  ] as const)
    expect(shortPair(was, now)).toEqual([was, now]);
});

test("two values that differ only behind the end of what is shown of a long value show their difference", () => {
  const field = { name: { type: "string" } } as const;
  const [before, after] = [1, 2].map((end) => `${"word ".repeat(200)}${end}`);
  const diff = { path: ["name"], before, after, cause: "spec", replaces: false } as const;
  const [line] = diffLines(field, diff, "spec", "other");
  expect(line?.was).toMatch(/^….*word 1"$/);
  expect(line?.text).toMatch(/^….*word 2"$/);
});

test("two long values that are equal once they are hidden show their beginning", () => {
  const field = { name: { type: "string" } } as const;
  const before = `${"word ".repeat(200)}(sensitive)`;
  const diff = { path: ["name"], before, after: before, cause: "spec", replaces: false } as const;
  const [line] = diffLines(field, diff, "spec", "other");
  expect(line?.was).toMatch(/^"word word word/);
  expect(line?.text).toBe(line?.was);
  expect(shortPair(before, before)).toEqual([before, before]);
});

const CHANGED = { cause: "spec", replaces: false } as const;
const long = "z".repeat(500);

test.each([
  ["long words that differ at their end", `${long}2`, `${long}3`, /^….*z2$/, /^….*z3$/],
  ["long words that differ in the middle", `${long}2${long}`, `${long}3${long}`, /^…z+2z+…$/, /^…z+3z+…$/],
  [
    "a start and an end that differ",
    `a2 ${long} tt`,
    `a3 ${long} qq`,
    /a2 .*more characters\)|a2.*tt/,
    /a3 .*more characters\)|a3.*qq/,
  ],
])("%s are shown with what differs, or with how much is missing", (_, before, after, was, text) => {
  const field = { name: { type: "string" } } as const;
  const [line] = diffLines(field, { path: ["name"], before, after, ...CHANGED }, "spec", "other");
  expect(line?.was).toMatch(was);
  expect(line?.text).toMatch(text);
  expect(fieldBlock([line ?? { label: "", text: "" }], colorsFor(false)).join("")).toContain(
    `${line?.was} → ${line?.text}`,
  );
});

test("members of a list that look alike when shortened are shown with what differs", () => {
  const field = { scripts: { type: "array", list: "ordered", items: { type: "object" } } } as const;
  const [before, after] = [2, 3].map((end) => [
    { destination: `/a${"b".repeat(450)}${end}` },
    { destination: "/c" },
  ]);
  const diff = { path: ["scripts"], before, after, ...CHANGED } as unknown as FieldDiff;
  const [line, ...others] = diffLines(field as unknown as FieldTable, diff, "spec", "other");
  expect(others).toEqual([]);
  expect([line?.was, line?.text]).toEqual([
    expect.stringMatching(/^….*b2 \}$/),
    expect.stringMatching(/^….*b3 \}$/),
  ]);
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
