// Answers for the renderers' tests: the access of many people, and a plan explained with every section.

import { addressOf } from "../../src/core/address.ts";
import { error, warning } from "../../src/core/diagnostic.ts";
import type { PastChange, PastRun } from "../../src/core/past-run.ts";
import type { ExplainedField, PlanExplanation } from "../../src/planner/explain-plan.ts";
import type { AccessRight, DriftOrigin } from "../../src/planner/model/plan.ts";
import { registry as everyKind } from "../../src/providers/index.ts";
import { type AccessAnswerView, accessAnswerView } from "../../src/report/inspect/access-text.ts";
import { type HistoryView, historyView } from "../../src/report/inspect/history-text.ts";
import { type ExplanationView, explanationView } from "../../src/report/inspect/plan-explanation.ts";
import { ChangeView } from "../../src/report/view/change-view.ts";
import { registry, secret, update } from "./plans.ts";

/** The rights on one scope: of a group, and of each of its members. */
export function scopeAccess(people: number, name = "data-eng"): AccessAnswerView {
  const right = { kind: "scopes", object: name, level: "READ" } as const;
  const group: AccessRight = { ...right, principal: name, principalKind: "group", people, through: [] };
  const members = Array.from(
    { length: people },
    (_, at): AccessRight => ({
      ...right,
      principal: `${name}-${at}@example.com`,
      principalKind: "user",
      level: at % 2 === 0 ? "READ" : "MANAGE",
      through: [name],
    }),
  );
  const answer = {
    subject: "object",
    target: { kind: "scopes", name },
    administrators: [{ ...group, kind: "workspace", level: "administrator", principal: "admins" }],
    rights: [...members, group],
    notRead: [`jobs: ${name}`],
  } as const;
  return accessAnswerView({ answer, of: "live", host: "h", expand: true, registry: everyKind });
}

/** The rights of a person in many groups, on as many scopes. */
export function personAccess(number: number, name = "ada@example.com"): AccessAnswerView {
  const groups = Array.from({ length: number }, (_, at) => `${name}-group-${at}`);
  const answer = {
    subject: "principal",
    ...{ name, kind: "user" as const, isActive: true, isAdministrator: true },
    memberOf: groups.map((group) => ({ group, through: [] })),
    rights: groups.map(
      (group): AccessRight => ({
        ...{ principal: name, principalKind: "user", level: "READ", kind: "scopes" },
        ...{ object: `${group}-scope`, through: [group] },
      }),
    ),
    notRead: [],
  } as const;
  return accessAnswerView({ answer, of: "plan", host: "h", expand: false, registry: everyKind });
}

const RUN: PastRun = {
  id: "r",
  command: "apply",
  actor: "",
  plan: "",
  started_at: Date.UTC(2026, 0, 2),
  outcome: "applied",
  applied: { update: 1 },
  left: 0,
  changed: [],
};

/** `line` has no line break. */
export function explained(
  name = "shared",
  line = name,
  origin: DriftOrigin = { by: name, at: Date.UTC(2026, 0, 3) },
): ExplanationView {
  const at = { file: name, line: 3, column: 1 };
  const [capacity] = update.action === "update" ? update.diffs : [];
  if (capacity === undefined) throw new Error("the sample update changes nothing");
  const run: PastRun = {
    ...RUN,
    ...{ actor: name, caller: name, commit: name, plan: name, run_url: name },
  };
  const field: ExplainedField = {
    diff: { ...capacity, before: line, after: `${line}2`, cause: "both" },
    origin: {
      at,
      expression: name,
      target: name,
      sources: [{ what: "variable", name, at }],
    } as unknown as NonNullable<ExplainedField["origin"]>,
    writtenBy: run,
  };
  const spec: ExplainedField = { ...field, diff: { ...field.diff, cause: "spec" } };
  const found = { hint: name, cause: name, at };
  const neighbor = { address: addressOf("pools", name), action: "update", fields: [[name]] } as const;
  const explanation: PlanExplanation = {
    address: addressOf("pools", name),
    kind: "pools",
    status: "changes",
    change: { ...update, address: addressOf("pools", name), name },
    ...{ leftOutBy: [], leftOutWith: undefined, unmanaged: undefined },
    fields: [field, spec],
    ignored: [spec],
    drift: {
      ...{ address: addressOf("pools", name), kind: "pools", name, what: "changed", diffs: [field.diff] },
      origin,
    },
    blockedBy: [error("GUARD_DATA_LOSS", name, found)],
    planBlockedBy: [error("GUARD_LIMIT", name)],
    warnings: [warning("SPEC_VALUE", name, found)],
    dependsOn: [neighbor],
    dependents: Array.from({ length: 30 }, () => neighbor),
    runs: [run, run, run, run],
  };
  const change = {
    ...update,
    address: addressOf("pools", name),
    name,
    reasons: [name],
    consequences: [name],
  };
  const view = new ChangeView(change, registry, () => at);
  return explanationView({ explanation, view, at, registry });
}

/** A recorded run that updated a pool and created a secret. */
export function recordedRun(name = "shared", line = name): HistoryView {
  const change = (kind: string, action: string, path: string): PastChange => ({
    address: addressOf(kind, name),
    action,
    fields: [{ path, ...(action === "create" ? {} : { before: line }), after: `${line}2` }],
  });
  const details = [change("pools", "update", "/node_type_id"), change("secrets", "create", "/value")];
  const run: PastRun = {
    ...RUN,
    ...{ actor: name, caller: name, commit: name, plan: name, run_url: name },
    changed: [...details.map(({ address }) => address), addressOf("pools", `${name}3`)],
    details,
  };
  return historyView([run], registry, {}, undefined, true);
}

/** The creation of a secret. */
export function explainedSecret(): ExplanationView {
  const { address } = secret;
  const diff = {
    path: ["value"],
    before: undefined,
    after: "0123456789abcdef",
    cause: "spec",
    replaces: false,
  };
  const explanation = {
    ...{ address, kind: "secrets", status: "changes", change: secret, leftOutBy: [], leftOutWith: undefined },
    ...{ unmanaged: undefined, fields: [{ diff, origin: undefined, writtenBy: undefined }], ignored: [] },
    ...{ drift: undefined, blockedBy: [], planBlockedBy: [], warnings: [] },
    ...{ dependsOn: [], dependents: [], runs: [] },
  } as unknown as PlanExplanation;
  const view = new ChangeView(secret, registry, () => undefined);
  return explanationView({ explanation, view, at: undefined, registry });
}
