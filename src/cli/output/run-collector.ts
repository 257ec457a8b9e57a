// Collects data of a run for metrics and webhooks: requests, plan, apply. Runs without these have no collector.

import type { RequestEvent } from "../../api/retry/send.ts";
import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { compareKeys } from "../../core/json.ts";
import { type ApplyOutcome, type DriftMark, findingsOf, type Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import {
  DIFFERENCE_STATUSES,
  type DifferenceGroup,
  type DifferenceStatus,
  type DifferingResource,
  type RequestGroup,
  type RunResult,
} from "../../report/metrics/run-result.ts";
import { driftView, marksIn } from "../../report/view/drift-view.ts";
import { planView } from "../../report/view/plan-view.ts";
import type { Severity } from "../../resource/field-schema.ts";
import { mostSevere } from "../../resource/severity.ts";
import type { State } from "../../state/model/record.ts";
import type { RunFigures } from "../../workflow/invocation/invocation.ts";

type Found = Pick<RunResult, "resources" | "differences" | "differing" | "planMs" | "applyMs" | "results">;

export class RunCollector implements RunFigures {
  readonly deliver: NonNullable<RunFigures["deliver"]>;
  readonly #command: string;
  readonly #requests = new Map<string, RequestGroup>();
  #facts: Found = {};
  #host = "";
  #errors: readonly Diagnostic[] = [];

  constructor(command: string, deliver: NonNullable<RunFigures["deliver"]>) {
    this.#command = command;
    this.deliver = deliver;
  }

  requested({ operation, status, waitMs }: RequestEvent): void {
    const key = `${operation} ${status}`;
    const { count = 0, retries = 0 } = this.#requests.get(key) ?? {};
    const again = waitMs === undefined ? 0 : 1;
    this.#requests.set(key, { operation, status, count: count + 1, retries: retries + again });
  }

  planned(plan: Plan, state: Pick<State, "records">, planMs: number): void {
    const differences = this.#command === "drift" ? driftDifferences(plan) : plannedDifferences(plan);
    this.#host = plan.host;
    this.#errors = errorsIn(findingsOf(plan));
    this.#facts = {
      resources: byKind(state.records.keys()),
      ...groupedBoth(differences),
      planMs,
    };
  }

  applied(plan: Plan, state: Pick<State, "records">, outcome: ApplyOutcome): void {
    this.#errors = errorsIn([
      ...outcome.diagnostics,
      ...outcome.changes.flatMap(({ diagnostic }) => diagnostic ?? []),
    ]);
    this.#facts = {
      ...this.#facts,
      resources: byKind(state.records.keys()),
      ...groupedBoth(plannedDifferences(plan)),
      applyMs: outcome.elapsedMs,
      results: outcomeResults(outcome),
    };
  }

  /** What kept the plan from being applied, or what failed in its apply. */
  get errors(): readonly Diagnostic[] {
    return this.#errors;
  }

  get facts(): Found & Pick<RunResult, "host" | "requests"> {
    const requests = [...this.#requests].sort(compareKeys).map(([, group]) => group);
    return { ...this.#facts, host: this.#host, requests };
  }
}

type Difference = Omit<DifferenceGroup, "count"> & { readonly address: string };

/** A change is new, unless the drift that it reverts was reported before or is acknowledged. */
function plannedDifferences(plan: Plan): readonly Difference[] {
  const drift = new Map(plan.drift.map((item) => [item.address, item]));
  return planView(plan, registry).allChanges.flatMap(({ source, severity = "other" }) => {
    const { address, kind, action, cause } = source;
    if (action === "noop" || action === "report") return [];
    const drifted = cause === "drift" ? drift.get(address) : undefined;
    const reverted = drifted === undefined ? [] : marksIn(drifted).filter((mark) => mark.declared !== true);
    const status = newestOf(reverted.map(statusOf));
    return [{ address, kind, action, cause, severity, status }];
  });
}

/** One for each difference, as in the title of the report. */
function driftDifferences(plan: Plan): readonly Difference[] {
  return driftView(plan, 0, registry).drift.flatMap(({ source, severity: whole, differences }) => {
    const { address, kind, what: action } = source;
    return marksIn(source).map((mark, at) => {
      const severity = differences[at]?.severity ?? whole;
      return { address, kind, action, cause: "drift", severity, status: statusOf(mark) };
    });
  });
}

function statusOf({ acknowledged, declared, reported }: DriftMark): DifferenceStatus {
  if (acknowledged !== undefined) return "acknowledged";
  if (declared === true) return "declared";
  return reported ? "reported" : "new";
}

/** `new` without any: what is not drift is new. */
function newestOf(statuses: readonly DifferenceStatus[]): DifferenceStatus {
  return DIFFERENCE_STATUSES.find((status) => statuses.includes(status)) ?? "new";
}

function groupedBoth(all: readonly Difference[]): Pick<RunResult, "differences" | "differing"> {
  return { differences: grouped(all), differing: byResource(all) };
}

function byResource(all: readonly Difference[]): readonly DifferingResource[] {
  const resources = [...Map.groupBy(all, ({ address }) => address)].map(([address, own]) => {
    const status = newestOf(own.map((difference) => difference.status));
    const ofStatus = own.filter((difference) => difference.status === status);
    const severity = mostSevere(ofStatus.map((difference) => difference.severity as Severity)) ?? "other";
    return { address, action: own[0]?.action ?? "", severity, status };
  });
  const rank = ({ status }: DifferingResource): number => DIFFERENCE_STATUSES.indexOf(status);
  return resources.sort((a, b) => rank(a) - rank(b) || (a.address < b.address ? -1 : 1));
}

function grouped(all: readonly Difference[]): readonly DifferenceGroup[] {
  const groups = new Map<string, DifferenceGroup>();
  for (const { address: _, ...difference } of all) {
    const { kind, action, cause, severity, status } = difference;
    const key = `${kind} ${action} ${cause} ${severity} ${status}`;
    groups.set(key, { ...difference, count: (groups.get(key)?.count ?? 0) + 1 });
  }
  return [...groups].sort(compareKeys).map(([, group]) => group);
}

function outcomeResults({ changes }: ApplyOutcome): Readonly<Record<string, number>> {
  const results: Record<string, number> = {};
  for (const { action, result } of changes)
    if (action !== "noop" && action !== "report") results[result] = (results[result] ?? 0) + 1;
  return results;
}

function errorsIn(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === "error");
}

function byKind(addresses: Iterable<Address>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>(registry.kinds.map(({ kind }) => [kind, 0]));
  for (const address of addresses) counts.set(kindOf(address), (counts.get(kindOf(address)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(compareKeys));
}
