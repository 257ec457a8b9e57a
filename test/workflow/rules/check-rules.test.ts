// Which plans are checked against rules, and where the findings of a divided plan come from.

import { expect, test, vi } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { Create } from "../../../src/planner/model/change.ts";
import type { ChangeOrigin, Plan } from "../../../src/planner/model/plan.ts";
import type { Rule } from "../../../src/spec/model/spec.ts";
import { checkRules } from "../../../src/workflow/rules/check-rules.ts";

const limits = vi.hoisted(() => [] as unknown[]);

vi.mock("../../../src/expressions/evaluate-rules.ts", async (load) => {
  const real = await load<typeof import("../../../src/expressions/evaluate-rules.ts")>();
  const evaluateRules: typeof real.evaluateRules = (job, most) => {
    limits.push(most);
    return real.evaluateRules(job, most);
  };
  return { ...real, evaluateRules };
});

const AT = { file: "rules.yaml", line: 1, column: 3 };
const rule = (assert: string, scope: Rule["scope"] = "change"): Rule => ({
  name: "a",
  assert,
  scope,
  severity: "other",
  enforcement: "error",
  at: AT,
  fields: [],
  locate: () => AT,
});

const create = (name: string): Create => ({
  action: "create",
  address: `pools.${name}` as Address,
  kind: "pools",
  name,
  cause: "spec",
  reasons: [],
  consequences: [],
  dependsOn: [],
  after: { node_type_id: "x" },
  unresolved: [],
});

const plan = (more: Partial<Plan> = {}): Plan => ({
  host: "h",
  changes: [create("new"), create("old")],
  drift: [],
  unmanaged: [],
  guards: [],
  diagnostics: [],
  ...more,
});

const split = (origins: Readonly<Record<string, ChangeOrigin>>): NonNullable<Plan["split"]> => ({
  base: "main",
  changes: Object.fromEntries(Object.entries(origins).map(([key, origin]) => [key, { origin, fields: [] }])),
  resolved: [],
  pendingErrors: [],
});

async function guards(checked: Plan, ...rules: readonly Rule[]) {
  const found = await checkRules(checked, { spec: { rules, resources: new Map() }, untrusted: false });
  return found.guards.map(({ addresses, origin }) => [addresses.join(), origin]);
}

const ERROR = { diagnostics: [error("PLAN_IMMUTABLE", "no")] };
const DIVIDED = { split: split({ "pools.new": "caused", "pools.old": "pending" }) };

test("rules of an untrusted spec may take fewer steps and make smaller values", async () => {
  limits.length = 0;
  const checked = { rules: [rule("name != ''")], resources: new Map() };
  await checkRules(plan(), { spec: checked, untrusted: false });
  await checkRules(plan(), { spec: checked, untrusted: true });
  expect(limits).toEqual([
    { steps: 50_000_000, total: 300_000_000, largest: 1_000_000 },
    { steps: 10_000_000, total: 50_000_000, largest: 250_000 },
  ]);
});

test("a plan with errors is not checked", async () => {
  expect(await guards(plan(ERROR), rule("name == ''"))).toEqual([]);
});

test("a plan that is compared with a base says which violations the change causes", async () => {
  expect(await guards(plan(DIVIDED), rule("name == ''"), rule("plan.summary.create == 0", "plan"))).toEqual([
    ["pools.new", "caused"],
    ["pools.old", "pending"],
    ["", "caused"],
  ]);
});

test("a rule that fails for several changes is of this change if it fails for one that the change causes", async () => {
  const failing = rule("change.after.missing == 'x'");
  expect(await guards(plan(DIVIDED), failing)).toEqual([["pools.new,pools.old", "caused"]]);
  const pending = { split: split({ "pools.new": "pending", "pools.old": "pending" }) };
  expect(await guards(plan(pending), failing)).toEqual([["pools.new,pools.old", "pending"]]);
});

test("an error that was pending does not hide what the change violates", async () => {
  expect(await guards(plan({ ...ERROR, ...DIVIDED }), rule("name == ''"))).toContainEqual([
    "pools.new",
    "caused",
  ]);
});
