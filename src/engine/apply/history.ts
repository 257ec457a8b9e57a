// Records an apply in the history of the state: at its first write, so that a crash leaves a trace, and at its end.

import { canonicalJson, startDigest } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import { type ApplyOrigin, CHANGED_KEPT, type PastRun } from "../../core/past-run.ts";
import type { Action } from "../../planner/model/change.ts";
import type { ChangeOutcome, Plan } from "../../planner/model/plan.ts";
import type { Clock } from "../../state/model/ports.ts";
import type { Lease } from "../../state/model/store.ts";

/** SHA-256 of what a plan changes: the same for a saved plan and for the plan that was shown. */
function planDigest({ changes }: Plan): string {
  const sum = startDigest();
  // The canonical text of the list, one change at a time: whole, it would be larger than everything else of the run.
  let separator = "[";
  for (const change of changes.filter(isAction)) {
    sum.add(`${separator}${canonicalJson(change as unknown as Json)}`);
    separator = ",";
  }
  sum.add(separator === "[" ? "[]" : "]");
  return sum.end();
}

function isAction({ action }: { readonly action: Action }): boolean {
  return action !== "noop" && action !== "report";
}

/** Records the apply in the history. An apply without changes adds nothing, so every saved plan stays valid. */
export class RecordedLease implements Lease {
  readonly nonce: string;
  readonly fence: number;
  readonly diagnostics: Lease["diagnostics"];
  readonly #lease: Lease;
  readonly #begin: () => PastRun;
  #begun: PastRun | undefined;

  constructor(lease: Lease, plan: Plan, clock: Clock, origin: ApplyOrigin) {
    this.nonce = lease.nonce;
    this.fence = lease.fence;
    this.diagnostics = lease.diagnostics;
    this.#lease = lease;
    this.#begin = () => {
      const caller = lease.state().caller?.name;
      return {
        ...origin,
        id: lease.nonce,
        started_at: clock.now(),
        ...(caller === undefined ? {} : { caller }),
        plan: planDigest(plan),
        outcome: "unfinished",
        applied: {},
        left: 0,
        changed: [],
      };
    };
  }

  state(): ReturnType<Lease["state"]> {
    return this.#lease.state();
  }

  record(address: Parameters<Lease["record"]>[0]): ReturnType<Lease["record"]> {
    return this.#lease.record(address);
  }

  append(entry: Parameters<Lease["append"]>[0]): Promise<number> {
    if (this.#begun === undefined) {
      this.#begun = this.#begin();
      this.#lease.note({ type: "run", run: this.#begun });
    }
    return this.#lease.append(entry);
  }

  note(entry: Parameters<Lease["note"]>[0]): void {
    this.#lease.note(entry);
  }

  assertHeld(): void {
    this.#lease.assertHeld();
  }

  publish(): ReturnType<Lease["publish"]> {
    return this.#lease.publish();
  }

  retire(to: string, above?: number): Promise<void> {
    return this.#lease.retire(to, above);
  }

  release(): Promise<void> {
    return this.#lease.release();
  }

  /** Adds how the run ended; it becomes durable with the publication of the state. */
  end(changes: readonly ChangeOutcome[], interrupted: boolean, now: number): void {
    if (this.#begun === undefined) return;
    const acted = changes.filter(isAction);
    const done = acted.filter(({ result }) => result === "applied");
    const applied: Record<string, number> = {};
    for (const { action } of done) applied[action] = (applied[action] ?? 0) + 1;
    const changed = [...new Set(done.map(({ address }) => address))];
    const left = acted.length - done.length;
    this.#lease.note({
      type: "run",
      run: {
        ...this.#begun,
        ended_at: now,
        outcome: left === 0 ? "applied" : interrupted ? "interrupted" : "failed",
        applied,
        left,
        changed: changed.slice(0, CHANGED_KEPT),
        ...(changed.length > CHANGED_KEPT ? { more: changed.length - CHANGED_KEPT } : {}),
      },
    });
  }
}
