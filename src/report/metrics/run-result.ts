// The result of a run as numbers and names, without values of the spec or the workspace: for metrics and webhooks.

import type { ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { driftView } from "../plan/drift-view.ts";
import { planView } from "../plan/plan-view.ts";

export const RUN_OUTCOMES = [
  "success",
  "differences",
  "refused",
  "stale",
  "locked",
  "interrupted",
  "failed",
] as const;

/** `differences`: the run succeeded, and its exit code reports differences. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export interface DifferenceGroup {
  readonly kind: string;
  /** The action of a planned change, or what drift found: `changed`, `gone`, `appeared`. */
  readonly action: string;
  readonly cause: string;
  readonly severity: string;
  readonly count: number;
}

export interface RequestGroup {
  readonly operation: string;
  /** HTTP status; 0 if no complete response came. */
  readonly status: number;
  readonly count: number;
  readonly retries: number;
}

export interface RunResult {
  readonly command: string;
  readonly toolVersion: string;
  /** Empty if the run ended before the host was known. */
  readonly host: string;
  readonly target: string;
  readonly commit?: string;
  readonly runUrl?: string;
  readonly endedAt: string;
  readonly outcome: RunOutcome;
  readonly exitCode: number;
  /** Diagnostic codes of the errors that ended the run. */
  readonly errors: readonly string[];
  /** Recorded resources by kind; absent if the state was not read. */
  readonly resources?: Readonly<Record<string, number>>;
  /** Absent if the run made no plan. */
  readonly differences?: readonly DifferenceGroup[];
  readonly planMs?: number;
  readonly applyMs?: number;
  readonly results?: Readonly<Record<string, number>>;
  readonly requests: readonly RequestGroup[];
}

export function plannedDifferences(plan: Plan, registry: KindRegistry): readonly DifferenceGroup[] {
  return grouped(
    planView(plan, registry).changes.flatMap(({ source, severity = "other" }) => {
      const { kind, action, cause } = source;
      return action === "noop" || action === "report" ? [] : [{ kind, action, cause, severity }];
    }),
  );
}

export function driftDifferences(plan: Plan, registry: KindRegistry): readonly DifferenceGroup[] {
  return grouped(
    driftView(plan, 0, registry).drift.map(({ source, severity }) => ({
      kind: source.kind,
      action: source.what,
      cause: "drift",
      severity,
    })),
  );
}

function grouped(all: readonly Omit<DifferenceGroup, "count">[]): readonly DifferenceGroup[] {
  const groups = new Map<string, DifferenceGroup>();
  for (const one of all) {
    const key = `${one.kind} ${one.action} ${one.cause} ${one.severity}`;
    groups.set(key, { ...one, count: (groups.get(key)?.count ?? 0) + 1 });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

export function outcomeResults({ changes }: ApplyOutcome): Readonly<Record<string, number>> {
  const results: Record<string, number> = {};
  for (const { action, result } of changes)
    if (action !== "noop" && action !== "report") results[result] = (results[result] ?? 0) + 1;
  return results;
}

export function isSuccess(outcome: RunOutcome): boolean {
  return outcome === "success" || outcome === "differences";
}
