// The outcome of each change of an apply, for its report.

import type { Address, RemoteId } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import type { Change } from "../../planner/model/change.ts";
import type { ApplyEvent, ChangeOutcome, ChangeStatus } from "../../planner/model/plan.ts";
import { changeKey, type WorkItem } from "../../planner/model/work-graph.ts";

export class OutcomeLog {
  readonly #now: () => number;
  readonly #onEvent: (event: ApplyEvent) => void;
  readonly #started = new Map<string, number>();
  readonly #outcomes = new Map<string, ChangeOutcome>();

  constructor(now: () => number, onEvent: (event: ApplyEvent) => void) {
    this.#now = now;
    this.#onEvent = onEvent;
  }

  begin(parts: readonly WorkItem[]): void {
    const totals: Record<string, number> = {};
    for (const { change, phase } of parts)
      if (phase !== "remove") totals[change.kind] = (totals[change.kind] ?? 0) + 1;
    this.#onEvent({ type: "apply_begin", totals });
  }

  start(change: Change): void {
    const key = changeKey(change);
    if (this.#started.has(key)) return;
    this.#started.set(key, this.#now());
    const { address, kind, action } = change;
    this.#onEvent({ type: "apply_start", address, kind, action });
  }

  end(change: Change, ended: ChangeResult, because?: Address): void {
    const key = changeKey(change);
    if (this.#outcomes.has(key)) return;
    const { address, kind, action } = change;
    const now = this.#now();
    const outcome: ChangeOutcome = {
      address,
      kind,
      action,
      result: ended.result,
      id: ended.id,
      diagnostic: ended.diagnostic,
      because,
      elapsedMs: now - (this.#started.get(key) ?? now),
    };
    this.#started.delete(key);
    this.#outcomes.set(key, outcome);
    this.#onEvent({ type: eventOf(ended.result), outcome });
  }

  of(change: Change): ChangeOutcome | undefined {
    return this.#outcomes.get(changeKey(change));
  }

  /** In the order of the plan. */
  all(changes: readonly Change[]): readonly ChangeOutcome[] {
    return changes.flatMap((change) => this.of(change) ?? []);
  }
}

/** A skipped change did not fail: live moved, or the run was stopped before it. */
function eventOf(result: ChangeStatus): "apply_complete" | "apply_skipped" | "apply_errored" {
  if (result === "applied") return "apply_complete";
  return result === "skipped" ? "apply_skipped" : "apply_errored";
}

export function blockedBy(change: Change, by: Address): Diagnostic {
  return error("APPLY_BLOCKED", `${change.address} is blocked because ${by} was not applied`, {
    address: change.address,
    hint: `fix ${by}, then apply again`,
  });
}

export function notStarted(change: Change): Diagnostic {
  return warning("APPLY_INTERRUPTED", `${change.address} was not started because the run was stopped`, {
    address: change.address,
    hint: "apply again to continue",
  });
}

export interface ChangeResult {
  readonly result: ChangeStatus;
  readonly id?: RemoteId;
  readonly diagnostic?: Diagnostic;
}
