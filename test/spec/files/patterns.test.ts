import { expect, it } from "vitest";
import { filePatternProblem } from "../../../src/spec/files/spec-folder.ts";
import { load } from "../folder.ts";

it.each(["*.yaml", "teams/**/*.yaml", "**/*.{yaml,yml}", "a?c/[a-z]*.yaml", "**"])(
  "%s may be asked for",
  (pattern) => {
    expect(filePatternProblem(pattern)).toBeUndefined();
  },
);

it.each(["/etc/*", "../*", "a/../../*", "{..,a}/*", "{,../}*", "..\\*", "c:/*", "{1..99999}"])(
  "%s leads out, or may",
  (pattern) => {
    expect(filePatternProblem(pattern)?.leadsOut).toBe(true);
  },
);

it.each([
  "(a+)+b*",
  "!(a)*",
  "!*.yaml",
  "@(a|b)*",
  "*a*a*a",
  "**/**/**/x",
  "{a}{b}{c}{d}{e}",
  "x".repeat(300),
])("%s could be matched for ever, and is refused", (pattern) => {
  expect(filePatternProblem(pattern)?.leadsOut).toBe(false);
});

it("refuses such a pattern where it is written", async () => {
  const { told } = await load({
    "workspace.yaml": "include: '(a+)+*.yaml'\nfiles: { /a: { source_dir: d, exclude: ['**/**/**/**'] } }",
    [`${"a".repeat(200)}.yml`]: "",
  });
  expect(told).toEqual([
    'SPEC_INCLUDE 1:10 the include "(a+)+*.yaml" contains more than *, **, ?, [a-z], and {a,b}',
    "SPEC_NOT_FOUND 2:28 files./a: d is not a folder",
  ]);
});
