// Rules: which changes they are about, what they find, and that hostile ones end.

import { describe, expect, test } from "vitest";
import { evaluateRules, RULE_LIMITS, type RuleLimits } from "../../src/expressions/evaluate-rules.ts";
import type { RuleLogic, RuleSubject } from "../../src/expressions/rule.ts";

const SURROUNDINGS = {
  plan: { summary: { create: 1, delete: 2 } },
  target: { name: "", protected: false },
};

function subject(action: string, after: RuleSubject["change"]["after"], kind = "pools"): RuleSubject {
  return {
    address: `${kind}.${action}`,
    kind,
    name: action,
    change: { action, cause: "spec", before: null, after },
  };
}

const rule = (assert: string, more: Partial<RuleLogic> = {}): RuleLogic => ({
  assert,
  scope: "change",
  ...more,
});

const run = (
  rules: readonly RuleLogic[],
  subjects: readonly RuleSubject[],
  limits: Partial<RuleLimits> = {},
) => [...evaluateRules({ rules, subjects, surroundings: SURROUNDINGS }, { ...RULE_LIMITS, ...limits })];

const ACTIONS = [
  "create",
  "update",
  "replace",
  "adopt",
  "import",
  "move",
  "delete",
  "forget",
  "noop",
  "report",
];

describe("a rule", () => {
  const subjects = ACTIONS.map((action) => subject(action, { size: 1 }));

  test("without when is about changes that write values", () => {
    const [result] = run([rule("false && change.action == ''")], subjects);
    expect(result?.violations.map(({ subject: at = -1 }) => ACTIONS[at])).toEqual([
      "create",
      "update",
      "replace",
      "adopt",
      "import",
      "move",
    ]);
  });

  test("with when is about every entry of the plan for which it is true", () => {
    const [result] = run([rule("kind == ''", { when: 'change.action in ["delete", "noop"]' })], subjects);
    expect(result?.violations.map(({ subject: at = -1 }) => ACTIONS[at])).toEqual(["delete", "noop"]);
  });

  test("is about its kinds only", () => {
    const both = [subject("create", {}), subject("create", {}, "clusters")];
    const [result] = run([rule("name == ''", { kinds: ["clusters"] })], both);
    expect(result).toEqual({ violations: [{ subject: 1 }] });
  });

  test("about the plan is evaluated once, and only if the plan has its kinds", () => {
    const plan = rule("plan.summary.delete < 2", { scope: "plan" });
    const results = run([plan, { ...plan, kinds: ["jobs"] }], subjects);
    expect(results).toEqual([{ violations: [{}] }, { violations: [] }]);
  });

  test("has a message with values; an expression without a value stays as written", () => {
    const parts = ["size ", { expression: "change.after.size", offset: 5 }];
    const results = run(
      [rule("name == ''", { message: parts })],
      [subject("create", { size: 2 }), subject("update", {})],
    );
    expect(results).toEqual([
      {
        violations: [
          { subject: 0, message: "size 2" },
          { subject: 1, message: "size {{change.after.size}}" },
        ],
      },
    ]);
  });

  test("without a value reports the reason once, with the changes, and checks the other changes", () => {
    const [result] = run(
      [rule("true && change.after.size < 2")],
      [subject("create", {}), subject("update", { size: 5 }), subject("adopt", {})],
    );
    expect(result).toEqual({
      violations: [{ subject: 1 }],
      problem: { part: "assert", offset: 21, message: "no such key: size", subjects: [0, 2] },
    });
  });

  test("that is neither true nor false is reported", () => {
    const [result] = run([rule("change.after.size")], [subject("create", { size: 5 })]);
    expect(result?.problem?.message).toBe("the value must be true or false, not 5");
  });

  test("has a message of one line, even if it is written in several", () => {
    const parts = ["first line\n  ", { expression: "name", offset: 0 }, "\n"];
    const [result] = run([rule("name == ''", { message: parts })], [subject("create", {})]);
    expect(result?.violations).toEqual([{ subject: 0, message: "first line create" }]);
  });

  test("that many changes break has 1,000 messages, and names the other changes", () => {
    const many = Array.from({ length: 1_005 }, () => subject("create", {}));
    const [result] = run([rule("name == ''")], many);
    expect([result?.violations.length, result?.further]).toEqual([1_000, [1000, 1001, 1002, 1003, 1004]]);
  });

  test("gets integers beyond 2^53 exactly", () => {
    const big = subject("create", { size: 9007199254740993n });
    const [result] = run([rule("change.after.size == 9007199254740993")], [big]);
    expect(result).toEqual({ violations: [] });
  });
});

describe("a hostile rule", () => {
  const large = Array.from({ length: 60 }, (_, k) => ({ k }));
  const subjects = Array.from({ length: 10_000 }, (_, at) => subject("create", { size: at, list: large }));
  const nested = (depth: number): string =>
    depth === 0 ? "x1.k >= 0" : `change.after.list.all(x${depth}, ${nested(depth - 1)})`;
  test("with nested comprehensions over 10,000 changes is stopped, and the rules around it are evaluated", () => {
    const results = run(
      [rule("change.after.size < 9999"), rule(nested(6)), rule("change.after.size > 0")],
      subjects,
    );
    expect(
      results.map(({ violations, problem }) => [violations.map(({ subject: at }) => at), problem?.message]),
    ).toEqual([
      [[9999], undefined],
      [[], "the evaluation takes too many steps"],
      [[0], undefined],
    ]);
  });

  test("that makes large values is stopped, and the rules around it are evaluated", () => {
    const list = "change.after.list";
    const wide = `${list}.map(a, ${list}.map(b, ${list}.map(c, ${list}.map(d, string(a.k) + string(d.k))))).size() > 0`;
    const results = run([rule(wide), rule("change.after.size > 0")], subjects.slice(1, 2));
    expect(results.map(({ problem }) => problem?.message)).toEqual([
      "the evaluation takes too many steps",
      undefined,
    ]);
  });

  test("leaves no steps for the others, which then count as not evaluated", () => {
    const slow = rule(nested(6));
    const results = run([slow, slow, rule("true || name == ''")], subjects, {
      steps: 1_000_000,
      total: 1_000,
    });
    expect(results.map(({ problem }) => problem?.message)).toEqual([
      "the evaluation takes too many steps",
      "the rules before it took too many steps, so this rule was not evaluated",
      "the rules before it took too many steps, so this rule was not evaluated",
    ]);
  });

  test("cannot reach the program: no process, no prototypes, no functions", () => {
    const results = run(
      ["change.after.constructor.constructor", "change.after['__proto__'].x", "change.after.toString"].map(
        (text) => rule(`string(${text}) == ""`),
      ),
      [subject("create", { size: 1 })],
    );
    expect(results.map(({ violations, problem }) => [violations.length, problem?.message])).toEqual([
      [0, "no such key: constructor"],
      [0, "no such key: __proto__"],
      [0, "no such key: toString"],
    ]);
  });
});
