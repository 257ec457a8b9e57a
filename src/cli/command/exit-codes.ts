// Exit codes: of each diagnostic, a plan, drift, and an apply (design 7). No other file contains these numbers.

import type { Code } from "../../core/codes.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { driftToRecord } from "../../planner/diff/known-drift.ts";
import { changesAnything } from "../../planner/model/change.ts";
import { type ApplyOutcome, findingsOf, type Plan } from "../../planner/model/plan.ts";
import type { DriftView } from "../../report/view/drift-view.ts";

export const EXIT = {
  ok: 0,
  error: 1,
  changes: 2,
  refused: 3,
  stale: 4,
  locked: 5,
} as const;

const SPECIAL: Partial<Record<Code, number>> = {
  PLAN_IMMUTABLE: EXIT.refused,
  PLAN_STALE: EXIT.stale,
  PLAN_EXPIRED: EXIT.stale,
  PLAN_LIVE_MOVED: EXIT.stale,
  STATE_LOCKED: EXIT.locked,
};

/** The exit code for these diagnostics, without warnings. A plain error takes precedence over special codes. */
export function exitOf(diagnostics: readonly Diagnostic[]): number {
  const codes = diagnostics
    .filter((diagnostic) => diagnostic.severity === "error")
    .map(({ code }) => (code.startsWith("GUARD_") ? EXIT.refused : (SPECIAL[code] ?? EXIT.error)));
  if (codes.length === 0) return EXIT.ok;
  return codes.includes(EXIT.error) ? EXIT.error : Math.max(...codes);
}

/**
 * The exit code of a plan that is not applied: of what blocks it, else 0, or with `detailed` (--detailed-exitcode) 2 for changes, also of the state alone.
 * With --exitcode-for change, it is asked of the part that the change of the spec causes (`causedPart`).
 */
export function exitOfPlan(plan: Plan, { detailed = false } = {}): number {
  const blocked = exitOf(findingsOf(plan));
  const isDone = !changesAnything(plan) && driftToRecord(plan).length === 0;
  return detailed && blocked === EXIT.ok && !isDone ? EXIT.changes : blocked;
}

/** The exit code of drift: 2 if a difference is neither acknowledged, nor in the spec already, nor left out by --fail-on or --since. */
export function exitOfDrift({ drift }: Pick<DriftView, "drift">): number {
  return drift.some(({ open }) => open !== undefined) ? EXIT.changes : EXIT.ok;
}

export function exitOfOutcome(outcome: ApplyOutcome): number {
  const failed = outcome.changes.some(({ result }) => result === "failed" || result === "unknown");
  const findings = exitOf(outcome.diagnostics);
  if (failed || findings === EXIT.error) return EXIT.error;
  if (outcome.changes.some(({ diagnostic }) => diagnostic?.code === "PLAN_LIVE_MOVED")) return EXIT.stale;
  return findings;
}
