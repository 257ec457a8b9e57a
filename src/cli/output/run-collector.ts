// Collects data of a run for metrics and webhooks: requests, plan, apply. Runs without these have no collector.

import type { RequestEvent } from "../../api/retry/send.ts";
import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import {
  driftDifferences,
  outcomeResults,
  plannedDifferences,
  type RequestGroup,
  type RunResult,
} from "../../report/metrics/run-result.ts";
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
      differences: differences(plan, registry),
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
      differences: plannedDifferences(plan, registry),
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

function errorsIn(found: readonly Diagnostic[]): readonly Diagnostic[] {
  return found.filter(({ severity }) => severity === "error");
}

function byKind(addresses: Iterable<Address>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>(registry.kinds.map(({ kind }) => [kind, 0]));
  for (const address of addresses) counts.set(kindOf(address), (counts.get(kindOf(address)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
