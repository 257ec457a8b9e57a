// Expressions of rules: what is accepted, what is refused and where, and what they read.

import { describe, expect, test } from "vitest";
import { Meter, problemOf, ruleLanguage } from "../../src/expressions/language.ts";
import { messageParts, messageText } from "../../src/expressions/rule.ts";

const compileExpression = (text: string) => ruleLanguage("read").compile(text);

const CHANGE = {
  action: "update",
  cause: "spec",
  before: null,
  after: { size: 3n, ratio: 0.5, tags: { team: "ads" }, list: [{ k: 1n }, { k: 2n }] },
};
const VARIABLES = {
  address: "pools.a",
  kind: "pools",
  name: "a",
  change: CHANGE,
  plan: {
    summary: { create: 1n, delete: 2n },
    changes: [
      new Map<string, unknown>([
        ["kind", "pools"],
        ["after", new Map([["size", 3n]])],
        ["cost", new Map([["max_per_hour", 0.5]])],
      ]),
      new Map<string, unknown>([
        ["kind", "pools"],
        ["after", null],
        ["cost", new Map([["max_per_hour", 1.25]])],
      ]),
    ],
  },
  target: { name: "prod", protected: true },
};

function evaluated(text: string): unknown {
  const made = compileExpression(text);
  if (!("evaluate" in made)) return `${made.start}: ${made.message}`;
  try {
    return made.evaluate({ ...VARIABLES }, new Meter({ steps: 100_000, largest: 10_000 }));
  } catch (problem) {
    return `throws ${problemOf(problem).message}`;
  }
}

describe("an expression", () => {
  test.each([
    ["change.after.size > 2", true],
    ["change.after.size + 1 == 4", true],
    ["change.after.ratio < 1.0", true],
    ["change.before == null", true],
    ["has(change.after.tags.team) && !has(change.after.tags.owner)", true],
    ["has(change.before.size)", false],
    ['change.after.?tags.?owner.orValue("nobody")', "nobody"],
    ["change.after.list.exists(l, l.k > 1)", true],
    ["change.after.list.all(l, l.k > 1)", false],
    ['change.after.tags.all(t, change.after.tags[t] != "")', true],
    ['"team" in change.after.tags', true],
    ['address.matches("^pools[.]")', true],
    ["plan.summary.delete < 2", false],
    ['plan.changes.filter(c, c.kind == "pools" && c.after != null).map(c, c.after.size).sum() == 3', true],
    ["plan.changes.map(c, c.cost.max_per_hour).sum() <= 1.75", true],
    ["plan.changes.map(c, c.after.?size.orValue(0)).sum() == 3", true],
    ["[1, 2.5].sum()", 3.5],
    ["[].sum() == 0", true],
    ['target.name == "prod" && target.protected', true],
    ["cel.bind(t, change.after.tags, t.team)", "ads"],
  ])("%s is %j", (text, value) => {
    expect(evaluated(text)).toEqual(value);
  });

  test.each([
    ["change.after.", "13: the expression is incomplete"],
    ["chnge.after", "0: unknown variable: chnge"],
    ["change.afte.x", "7: no such key: afte"],
    ["plan.summary.removed > 0", "13: no such key: removed"],
    ['plan.changes.exists(c, c.kinds == "pools")', "25: no such key: kinds"],
    ["plan.changes.map(c, c.cost.per_hour).sum() > 1.0", "27: no such key: per_hour"],
    ['["a"].sum()', "throws sum takes a list of numbers, not a string"],
    ["address > 1", "0: no such overload: string > int"],
    ['target == "prod"', "0: no such overload: map == string"],
    [
      'address.matches("(")',
      "16: the regular expression is invalid: error parsing regexp: missing closing ): `(`",
    ],
    ["change.after.constructor.x", "throws no such key: constructor"],
    ["change.__proto__.x", "7: no such key: __proto__"],
    ["change.after.size.matches('x')", "throws the operands of matches cannot be (int, string)"],
  ])("%s is refused: %s", (text, told) => {
    expect(evaluated(text)).toBe(told);
  });

  test("is refused if it is too long, too deep, or too large", () => {
    const codes = [
      `${"1+".repeat(3000)}1`,
      `${"(".repeat(300)}1${")".repeat(300)}`,
      `[${"1,".repeat(600)}1]`,
    ].map((text) => {
      const made = compileExpression(text);
      return "code" in made ? made.code !== "" : made.type;
    });
    expect(codes).toEqual([true, true, true]);
  });

  test("a regular expression runs in linear time", () => {
    expect(evaluated(`"${"a".repeat(4000)}!".matches("^(a+)+$")`)).toBe(false);
  });

  test("tells the members that it reads, without those inside them", () => {
    const made = compileExpression(
      'has(change.after.tags.team) || change.before["size"] > 1 && kind == "pools"',
    );
    expect("uses" in made && made.uses.map(({ path }) => path.join("."))).toEqual([
      "change.after.tags.team",
      "change.before.size",
      "kind",
    ]);
  });
});

describe("a message", () => {
  test("consists of text and expressions with their places", () => {
    expect(messageParts("a {{ x }} b{{y}}")).toEqual([
      "a ",
      { expression: " x ", offset: 4 },
      " b",
      { expression: "y", offset: 13 },
    ]);
    expect(messageParts("no expression")).toEqual(["no expression"]);
    expect(messageParts("a {{ x")).toEqual({ open: 2 });
  });

  test("shows values as text", () => {
    expect(["a", 1n, 0.5, true, null, ["a", 1n], { a: 1n }].map(messageText)).toEqual([
      "a",
      "1",
      "0.5",
      "true",
      "null",
      '["a",1]',
      '{"a":1}',
    ]);
  });
});
