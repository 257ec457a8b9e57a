// Checks a plan against the rules: a violation of an enforced rule becomes a guard, of any other rule a warning.

import { setImmediate } from "node:timers/promises";
import {
  type Diagnostic,
  error,
  hasErrors,
  type Location,
  warning,
  withoutSourceLines,
} from "../../core/diagnostic.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { count, inOneLine, listed } from "../../core/sentences.ts";
import { evaluateRules, RULE_LIMITS, STRICT_RULE_LIMITS } from "../../expressions/evaluate-rules.ts";
import { UNREAD_VALUE } from "../../expressions/language.ts";
import type { RuleResult, RuleSubject } from "../../expressions/rule.ts";
import { type Change, touches } from "../../planner/model/change.ts";
import { accessJson, type ChangeOrigin, type Guard, type Plan, summaryOf } from "../../planner/model/plan.ts";
import type { Amounts } from "../../planner/model/plan-cost.ts";
import { markedResult, withReferenceTexts } from "../../planner/model/planned-workspace.ts";
import { causesEffect } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import { maskedValues } from "../../resource/masked.ts";
import type { Rule, Spec } from "../../spec/model/spec.ts";

interface RuleCheck {
  readonly spec: Pick<Spec, "rules" | "resources" | "sensitive" | "target">;
  readonly untrusted: boolean;
  /** The same plan before sensitive values were hidden, and what hides them. Without it, rules see the plan. */
  readonly clear?: { readonly plan: Pick<Plan, "changes" | "access">; readonly sensitive: SensitiveValues };
}

/** The plan with what the rules found. */
interface CheckedPlan {
  readonly plan: Plan;
  /** Those that the plan did not have: a saved plan has the warnings of the rules that it was made with. */
  readonly warnings: readonly Diagnostic[];
}

/** A plan with errors is not checked, unless a base is compared: what was pending must not hide what is caused. */
export async function checkRules(plan: Plan, { spec, untrusted, clear }: RuleCheck): Promise<CheckedPlan> {
  const { rules = [], target } = spec;
  const isRefused = plan.split === undefined && hasErrors(plan.diagnostics);
  if (rules.length === 0 || isRefused) return { plan, warnings: [] };
  const costOf = costsAfter(plan);
  const { changes, access } = clear?.plan ?? plan;
  const subjects = changes.map((change) => ({
    ...subjectOf(change, clear?.sensitive),
    cost: costOf(change),
  }));
  const surroundings = {
    plan: { summary: { ...summaryOf(plan.changes) } },
    target: { name: target?.name ?? "", protected: target?.protected ?? false },
    access: accessOf({ ...plan, access }, untrusted),
  };
  const limits = untrusted ? STRICT_RULE_LIMITS : RULE_LIMITS;
  const results: RuleResult[] = [];
  for (const result of evaluateRules({ rules, subjects, surroundings }, limits)) {
    results.push(result);
    // The lock of the state is renewed between two rules.
    await setImmediate();
  }
  const guards = rules.flatMap((rule, at) => {
    const result = results[at];
    return result === undefined ? [] : findingsOf(rule, result, { plan, spec, untrusted });
  });
  return withFindings(plan, clear?.sensitive.maskedMessages(guards) ?? guards);
}

const NO_ACCESS = { gained: [], lost: [], notCompared: [] };

/** Without the users and groups of the workspace, access is unknown: it has no lists, so that no rule takes them for empty. */
function accessOf(plan: Plan, untrusted: boolean): JsonObject {
  const { access = NO_ACCESS, modes = [], changes } = plan;
  const isCompared = !untrusted && modes.length === 0;
  const mayChange = changes.some(
    (change) => touches(change) && registry.get(change.kind).planning.access !== undefined,
  );
  return isCompared || !mayChange ? withoutDigests(accessJson(access)) : {};
}

/** The members of `cost`. What is unknown has no amounts, so that no rule takes it for zero. */
function costsAfter({ cost, capacity }: Plan): (change: Change) => NonNullable<RuleSubject["cost"]> {
  const membersOf = (amounts: Amounts | undefined, suffix: string) => {
    if (amounts === undefined) return () => ({});
    const sides = new Map(
      [...amounts.changes, ...amounts.unchanged].flatMap(({ address, after }) =>
        after === undefined ? [] : [[address, after]],
      ),
    );
    return ({ action, address }: Change): NonNullable<RuleSubject["cost"]> => {
      const { range, always = 0 } = (action === "delete" ? undefined : sides.get(address)) ?? { range: ZERO };
      if (range === undefined) return { known: false };
      const { min, max } = range;
      return { [`min_${suffix}`]: min, [`max_${suffix}`]: max, [`always_${suffix}`]: always, known: true };
    };
  };
  const parts = [
    membersOf(capacity?.cores, "cores"),
    membersOf(capacity?.memory, "memory_gb"),
    membersOf(cost, "per_hour"),
  ];
  return (change) => Object.assign({}, ...parts.map((part) => part(change)));
}

const ZERO = { min: 0, max: 0 };

function subjectOf(change: Change, sensitive: SensitiveValues | undefined): RuleSubject {
  const { address, kind, name, action, cause } = change;
  const { fields, planning } = registry.get(kind);
  // In one form, whichever the spec has: a rule about a job with one task is written once.
  const judged = (values: JsonObject): JsonObject => {
    const concealed = sensitive?.conceal(address, values, "judged") ?? values;
    return maskedValues(fields, planning.normalize?.(concealed) ?? concealed);
  };
  const reached = markedResult(change, fields);
  const before = "before" in change ? judged(change.before) : null;
  const after = reached === undefined ? null : judged(withReferenceTexts(reached) as JsonObject);
  return { address, kind, name, change: { action, cause, before, after } };
}

interface Checked extends RuleCheck {
  readonly plan: Plan;
}

function findingsOf(rule: Rule, result: RuleResult, checked: Checked): readonly Guard[] {
  const { violations, further = [], problem } = result;
  const guards = violations.map(({ subject, message }) => violation(rule, subject, message, checked));
  if (further.length > 0) guards.push(furtherViolations(rule, further, checked));
  return problem === undefined ? guards : [...guards, failure(rule, problem, checked)];
}

function violation(
  rule: Rule,
  subject: number | undefined,
  message: string | undefined,
  checked: Checked,
): Guard {
  const change = subject === undefined ? undefined : checked.plan.changes[subject];
  const text = message ?? `the assertion is false: ${inOneLine(rule.assert)}`;
  const place = change === undefined ? undefined : placeOf(rule, change, checked);
  const details = defined({ address: change?.address, at: place });
  const about = change === undefined ? text : `${change.address}: ${text}`;
  return guardOf(violated(rule, about, details), change === undefined ? [] : [change], checked);
}

function violated(rule: Rule, message: string, place: Pick<Diagnostic, "address" | "at">): Diagnostic {
  const { name, severity, at, enforcement } = rule;
  const isError = enforcement === "error";
  const details = { ...place, rule: { name, severity, at } };
  return (isError ? error : warning)(isError ? "GUARD_RULE" : "PLAN_RULE", message, details);
}

function furtherViolations(rule: Rule, further: readonly number[], checked: Checked): Guard {
  const changes = further.flatMap((subject) => checked.plan.changes[subject] ?? []);
  const names = listed(changes.map(({ address }) => address));
  const verb = changes.length === 1 ? "violates" : "violate";
  const message = `${count(changes.length, "more change")} ${verb} the rule: ${names}`;
  return guardOf(violated(rule, message, {}), changes, checked);
}

/** The field that the rule is about, or the resource. */
function placeOf(rule: Rule, { address }: Change, { spec, untrusted }: Checked): Location | undefined {
  const resource = spec.resources.get(address);
  if (resource === undefined) return undefined;
  const whole = resource.locate([]);
  const isOther = ({ file, line, column }: Location): boolean =>
    file !== whole.file || line !== whole.line || column !== whole.column;
  const place = rule.fields.map((path) => resource.locate(path)).find(isOther) ?? resource.at;
  return untrusted ? withoutSourceLines(place) : place;
}

function failure(rule: Rule, problem: NonNullable<RuleResult["problem"]>, checked: Checked): Guard {
  const { name, severity, at, enforcement } = rule;
  const changes = problem.subjects.flatMap((subject) => checked.plan.changes[subject] ?? []);
  const [first, ...others] = changes;
  const where =
    first === undefined
      ? ""
      : ` for ${first.address}${others.length === 0 ? "" : ` and ${count(others.length, "other change")}`}`;
  const [, field] = /^no such key: (\w+)/.exec(problem.message) ?? [];
  const details = {
    rule: { name, severity, at },
    at: rule.locate(problem.part, problem.offset),
    hint: problem.message === UNREAD_VALUE ? UNREAD_HINT : field && absentHint(field, checked),
  };
  const message = `the rule ${name} could not be evaluated${where}: ${problem.part}: ${problem.message}`;
  const report = enforcement === "error" ? error : warning;
  return guardOf(report("GUARD_RULE_FAILED", message, details), changes, checked);
}

const UNREAD_HINT =
  "a value that comes from a sensitive variable, secret, or local cannot be checked: write it in plain text, or change the rule";

function absentHint(field: string, { plan, untrusted }: Checked): string {
  const isOfAccess = field === "gained" || field === "lost" || field === "not_compared";
  if (isOfAccess && accessOf(plan, untrusted)[field] === undefined)
    return "access is compared only by a plan without --offline and --untrusted";
  if (field.endsWith("_per_hour") && plan.cost === undefined)
    return "costs are known only with prices: write prices.yaml next to the spec, or use --prices";
  if (/_(cores|memory_gb)$/.test(field) && plan.capacity === undefined)
    return "cores and memory are known only with --cost";
  return `test whether ${field} is set with has(…), or give a default: .?${field}.orValue(…)`;
}

function guardOf(diagnostic: Diagnostic, changes: readonly Change[], { plan }: Checked): Guard {
  const { split } = plan;
  const addresses = changes.map(({ address }) => address);
  if (split === undefined) return { diagnostic, addresses };
  const isCaused = changes.length === 0 || changes.some((change) => causesEffect(split, change));
  const origin: ChangeOrigin = isCaused ? "caused" : "pending";
  return { diagnostic, addresses, origin };
}

function withFindings(plan: Plan, violations: readonly Guard[]): CheckedPlan {
  const guards = violations.filter(({ diagnostic }) => diagnostic.severity === "error");
  const reported = new Set(plan.diagnostics.map(({ code, message }) => `${code}\n${message}`));
  const warnings = violations.flatMap(({ diagnostic }) => {
    const { severity, code, message } = diagnostic;
    return severity === "warning" && !reported.has(`${code}\n${message}`) ? [diagnostic] : [];
  });
  const diagnostics = [...plan.diagnostics, ...warnings];
  return { plan: { ...plan, guards: [...plan.guards, ...guards], diagnostics }, warnings };
}
