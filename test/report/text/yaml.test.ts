import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../../src/core/json.ts";
import { yamlText } from "../../../src/report/text/yaml.ts";
import { sampleOf } from "../../sample-size.ts";

const HOSTILE = [
  "a\u202eb",
  "\u0007bell",
  "line\nbreak",
  "\u{e0001}tag",
  "::set-output name=x::y",
  "##[group]",
  "##vso[task]",
  "yes",
  "null",
  "~",
  "0x1f",
  "1e3",
  "- a",
  "a: b",
  "a #b",
  "{x}",
  "*a",
  "&a",
  "!tag",
  "%d",
  "@a",
  "`a`",
  "'",
  '"',
  "\\",
  " lead",
  "trail ",
  "",
  "?",
  "---",
  "...",
  "<<",
];

test("any string reads back unchanged, as a key and as a value", () => {
  const text = yamlText(
    [{ key: "texts", members: HOSTILE.map((one) => ({ key: `k${one}`, value: [one] })) }],
    [],
  );
  expect(parse(text)).toEqual({ texts: Object.fromEntries(HOSTILE.map((one) => [`k${one}`, [one]])) });
});

test("a key << is a name, not a merge", () => {
  const text = yamlText([{ key: "<<", value: { "<<": { a: "<<" } } }], []);
  expect(parse(text, { merge: true })).toEqual({ "<<": { "<<": { a: "<<" } } });
});

test("any JSON reads back unchanged", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: "binary" }).filter((key) => key !== "__proto__"),
        fc.jsonValue(),
      ),
      (value) => {
        const members = Object.entries(value).map(([key, one]) => ({ key, value: one as Json }));
        expect(JSON.stringify(parse(yamlText(members, []))).replaceAll("-0", "0")).toBe(
          JSON.stringify(value).replaceAll("-0", "0"),
        );
      },
    ),
    { numRuns: sampleOf(300), seed: 7 },
  );
});

test("nothing in it is invisible, and no line is a command to a CI service", () => {
  const text = yamlText(
    [{ key: "a", above: ["::warning::\u202e"], members: HOSTILE.map((one) => ({ key: one, value: one })) }],
    ["from \u001b[31m"],
  );
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
  expect(text).not.toMatch(/::|##\w*\[/);
});

test("short maps take one line, sections are separated, comments are above their keys", () => {
  const text = yamlText(
    [
      { key: "pools", members: [{ key: "p", members: [{ key: "tags", value: { a: "1" } }] }] },
      {
        key: "jobs",
        members: [
          { key: "j", above: ["one of two"], value: { list: ["a", "b"] } },
          { key: "long", value: ["x".repeat(60), "y".repeat(60)] },
          { key: "none", members: [] },
        ],
      },
    ],
    ["From a test."],
  );
  expect(text).toBe(`# From a test.

pools:
  p: { tags: { a: "1" } }

jobs:
  # one of two
  j: { list: [a, b] }
  long:
    - ${"x".repeat(60)}
    - ${"y".repeat(60)}
  none: {}
`);
});

test("nothing at all is an empty map", () => {
  expect(yamlText([], ["Empty."])).toBe("# Empty.\n{}\n");
});
