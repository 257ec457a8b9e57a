// Which plans are checked against rules, and where the findings of a divided plan come from.

import { describe, expect, test, vi } from "vitest";
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
  const { plan } = await checkRules(checked, { spec: { rules, resources: new Map() }, untrusted: false });
  return plan.guards.map(({ addresses, origin }) => [addresses.join(), origin]);
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

describe("access in a rule", () => {
  const group: Create = { ...create("g"), address: "groups.g" as Address, kind: "groups", after: {} };
  const access: NonNullable<Plan["access"]> = {
    gained: [
      {
        principal: "users",
        principalKind: "group",
        level: "MANAGE",
        instead: "READ",
        kind: "scopes",
        object: "etl",
        through: ["all"],
      },
    ],
    lost: [],
    notCompared: ["users: not read"],
  };
  const changed = (more: Partial<Plan> = {}) => plan({ changes: [group], access, ...more });
  const messages = async (checked: Plan, assert: string, untrusted = false) => {
    const spec = { rules: [rule(assert, "plan")], resources: new Map() };
    const { plan } = await checkRules(checked, { spec, untrusted });
    return plan.guards.map(({ diagnostic: { code, message, hint } }) => ({ code, message, hint }));
  };
  const NO_USERS = '!access.gained.exists(a, a.principal == "users")';

  test("has the members of the JSON of the plan", async () => {
    const members = `access.gained == [{"principal": "users", "principal_kind": "group", "level": "MANAGE", "before": "READ",
      "kind": "scopes", "object": "etl", "through": ["all"]}] && access.lost == [] && access.not_compared == ["users: not read"]`;
    expect(await messages(changed(), members)).toEqual([]);
    expect(await messages(changed(), NO_USERS)).toMatchObject([{ code: "GUARD_RULE" }]);
    expect(await messages(changed(), 'access.gained[0].before == "WRITE"')).toMatchObject([
      { code: "GUARD_RULE" },
    ]);
  });

  test("is empty for a plan that changes no access", async () => {
    expect(await messages(changed({ access: undefined }), NO_USERS)).toEqual([]);
    expect(await messages(plan({ changes: [], modes: ["offline"] }), NO_USERS)).toEqual([]);
  });

  const FAILED = {
    code: "GUARD_RULE_FAILED",
    message: "the rule a could not be evaluated: assert: no such key: gained",
    hint: "access is compared only by a plan without --offline and --untrusted",
  };

  test.each(["offline", "untrusted"] as const)("is unknown in a plan that is %s", async (mode) => {
    const checked = changed({ modes: [mode] });
    expect(await messages(checked, NO_USERS)).toEqual([FAILED]);
    expect(await messages({ ...checked, access: undefined }, NO_USERS)).toEqual([FAILED]);
    expect(await messages(checked, "!has(access.gained)")).toEqual([]);
  });

  test("is unknown for an untrusted spec", async () => {
    expect(await messages(changed(), NO_USERS, true)).toEqual([FAILED]);
  });
});
