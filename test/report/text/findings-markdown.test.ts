// A check's findings as a comment: nothing in a spec can steer it, and it fits.

import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import { SPACIOUS } from "../../../src/report/text/comment-room.ts";
import { findingSections, validationMarkdown } from "../../../src/report/text/findings-markdown.ts";

test("each finding has its place, its hint and the lines around it, in a block that they cannot close", () => {
  const frame = "> 1 | a: ```\n    | ^";
  const found = error("SPEC_VALUE", "jobs.a is @all <b>", {
    at: { file: "a`.yaml", line: 1, column: 4, frame },
    hint: "write it as [x](y)",
  });
  expect(
    validationMarkdown({ sentence: undefined, diagnostics: [found, warning("SPEC_EMPTY", "nothing\u202e")] })
      .text,
  ).toBe(
    [
      "<!-- workspace:default -->",
      "",
      "## The spec is not valid: 1 error, 1 warning",
      "",
      "- **error** `SPEC_VALUE` jobs.a is <span>&#64;</span>all &#60;b&#62;",
      "  - at ``a`.yaml:1:4``",
      "  - hint: write it as &#91;x&#93;&#40;y&#41;",
      "",
      "  ````",
      "  > 1 | a: ```",
      "      | ^",
      "  ````",
      "",
      "- **warning** `SPEC_EMPTY` nothing&#92;u202e",
      "",
    ].join("\n"),
  );
});

test("a valid spec is one line, and what does not fit a comment is counted", () => {
  expect(validationMarkdown({ sentence: "Valid: 2 resources", diagnostics: [] })).toEqual({
    text: "<!-- workspace:default -->\n\n## Valid: 2 resources\n",
    cut: false,
  });
  const many = Array.from({ length: 100 }, (_, at) => error("SPEC_VALUE", `number ${at} is wrong`));
  const cut = validationMarkdown({ sentence: undefined, diagnostics: many }, undefined, {
    limit: 2000,
    unit: "characters",
  }).text;
  expect(cut.length).toBeLessThanOrEqual(2000);
  expect(cut).toMatch(/\*\*Shortened to fit\*\*: \d+ findings left out\./);
});

const broken = (rule: string, severity: string, names: readonly string[]) =>
  names.map((name) =>
    error("GUARD_RULE", `${rule} says no to ${name}`, {
      address: addressOf("pools", name),
      rule: { name: rule, severity, at: { file: "workspace.yaml", line: 1, column: 1 } },
    }),
  );

test("findings of a rule are one line with the first message and the rule, those of security first, and the rest names its rules", () => {
  const all = ["big", "idle", "late", "open"].flatMap((rule) =>
    broken(rule, rule === "open" ? "security" : "cost", ["a", "b", "c"]),
  );
  const [{ blocks }] = findingSections(all, "error", undefined, { ...SPACIOUS, errors: 2 });
  expect(blocks.map(({ text }) => text.trim())).toEqual([
    "> **3 errors** `GUARD_RULE` open says no to a (rule `open`), and 2 more: `pools.a`, `pools.b`, `pools.c`",
    "> **3 errors** `GUARD_RULE` big says no to a (rule `big`), and 2 more: `pools.a`, `pools.b`, `pools.c`",
    "> **6 more errors** `idle`, `late`",
  ]);
});

test("findings of a code with different messages are one line with the first message, and the others are counted", () => {
  const of = (...names: readonly string[]) =>
    names.map((name) =>
      error("PLAN_IMMUTABLE", `${name} cannot change`, { address: addressOf("pools", name) }),
    );
  const lineOf = (found: ReturnType<typeof of>) =>
    findingSections(found, "error", undefined)[0].blocks.map(({ text }) => text.trim());
  expect(lineOf(of("a", "b", "c"))).toEqual([
    "> **3 errors** `PLAN_IMMUTABLE` a cannot change, and 2 more: `pools.a`, `pools.b`, `pools.c`",
  ]);
  const same = of("a", "b", "c").map((found) => ({ ...found, message: "it cannot change" }));
  expect(lineOf(same)).toEqual([
    "> **3 errors** `PLAN_IMMUTABLE` it cannot change: `pools.a`, `pools.b`, `pools.c`",
  ]);
});
