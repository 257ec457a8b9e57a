// Collects data of a run for metrics and webhooks: requests, plan, apply. Runs without these have no collector.

import type { RequestEvent } from "../../api/retry/send.ts";
import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { DifferenceGroup, RequestGroup, RunResult } from "../../report/metrics/run-result.ts";
import { driftView } from "../../report/plan/drift-view.ts";
import { planView } from "../../report/plan/plan-view.ts";
import type { State } from "../../state/model/record.ts";
import type { RunObserver } from "../../workflow/session/workflow-context.ts";

type Found = Pick<RunResult, "resources" | "differences" | "planMs" | "applyMs" | "results">;

export class RunCollector implements RunObserver {
  readonly #command: string;
  readonly #requests = new Map<string, RequestGroup>();
  #found: Found = {};
  #host = "";
  #errors: readonly Diagnostic[] = [];

  constructor(command: string) {
    this.#command = command;
  }

  requested({ operation, status, waitMs }: RequestEvent): void {
    const key = `${operation} ${status}`;
    const { count = 0, retries = 0 } = this.#requests.get(key) ?? {};
    const again = waitMs === undefined ? 0 : 1;
    this.#requests.set(key, { operation, status, count: count + 1, retries: retries + again });
  }

  planned(plan: Plan, state: Pick<State, "records">, planMs: number): void {
    const differences = this.#command === "drift" ? driftDifferences : plannedDifferences;
    this.#host = plan.host;
    this.#errors = errorsIn([...plan.diagnostics, ...plan.guards.map(({ diagnostic }) => diagnostic)]);
    this.#found = {
      resources: byKind(state.records.keys()),
      differences: differences(plan),
      planMs,
    };
  }

  applied(plan: Plan, state: Pick<State, "records">, outcome: ApplyOutcome): void {
    this.#errors = errorsIn([
      ...outcome.diagnostics,
      ...outcome.changes.flatMap(({ diagnostic }) => diagnostic ?? []),
    ]);
    this.#found = {
      ...this.#found,
      resources: byKind(state.records.keys()),
      differences: plannedDifferences(plan),
      applyMs: outcome.elapsedMs,
      results: outcomeResults(outcome),
    };
  }

  /** What kept the plan from being applied, or what failed in its apply. */
  get errors(): readonly Diagnostic[] {
    return this.#errors;
  }

  get facts(): Found & Pick<RunResult, "host" | "requests"> {
    const requests = [...this.#requests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
    return { ...this.#found, host: this.#host, requests };
  }
}

function plannedDifferences(plan: Plan): readonly DifferenceGroup[] {
  return grouped(
    planView(plan, registry).changes.flatMap(({ source, severity = "other" }) => {
      const { kind, action, cause } = source;
      return action === "noop" || action === "report" ? [] : [{ kind, action, cause, severity }];
    }),
  );
}

function driftDifferences(plan: Plan): readonly DifferenceGroup[] {
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

function outcomeResults({ changes }: ApplyOutcome): Readonly<Record<string, number>> {
  const results: Record<string, number> = {};
  for (const { action, result } of changes)
    if (action !== "noop" && action !== "report") results[result] = (results[result] ?? 0) + 1;
  return results;
}

function errorsIn(found: readonly Diagnostic[]): readonly Diagnostic[] {
  return found.filter(({ severity }) => severity === "error");
}

function byKind(addresses: Iterable<Address>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>(registry.kinds.map(({ kind }) => [kind, 0]));
  for (const address of addresses) counts.set(kindOf(address), (counts.get(kindOf(address)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
