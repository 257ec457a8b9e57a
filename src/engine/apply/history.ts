// Records an apply in the history of the state: at its first write, so that a crash leaves a trace, and at its end.

import { canonicalJson } from "../../core/canonical.ts";
import { startDigest } from "../../core/digest.ts";
import { defined, type Json } from "../../core/json.ts";
import { type ApplyOrigin, CHANGED_KEPT, type PastRun } from "../../core/past-run.ts";
import type { Action } from "../../planner/model/change.ts";
import type { ChangeOutcome, Plan } from "../../planner/model/plan.ts";
import type { Clock, Lease } from "../../state/model/store.ts";

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

export interface RecordedLease extends Lease {
  /** Adds how the run ended; it becomes durable with the publication of the state. */
  end(changes: readonly ChangeOutcome[], interrupted: boolean, now: number): void;
}

/** Records the apply in the history. An apply without changes adds nothing, so every saved plan stays valid. */
export function recordedLease(lease: Lease, plan: Plan, clock: Clock, origin: ApplyOrigin): RecordedLease {
  let begun: PastRun | undefined;
  const begin = (): PastRun => ({
    ...origin,
    id: lease.nonce,
    started_at: clock.now(),
    ...defined({ caller: lease.state().caller?.name }),
    plan: planDigest(plan),
    outcome: "unfinished",
    applied: {},
    left: 0,
    changed: [],
  });
  return {
    nonce: lease.nonce,
    fence: lease.fence,
    diagnostics: lease.diagnostics,
    state: () => lease.state(),
    record: (address) => lease.record(address),
    append(entry) {
      if (begun === undefined) {
        begun = begin();
        lease.note({ type: "run", run: begun });
      }
      return lease.append(entry);
    },
    note: (entry) => lease.note(entry),
    assertHeld: () => lease.assertHeld(),
    publish: () => lease.publish(),
    retire: (to, above) => lease.retire(to, above),
    release: () => lease.release(),
    end(changes, interrupted, now) {
      if (begun === undefined) return;
      const acted = changes.filter(isAction);
      const done = acted.filter(({ result }) => result === "applied");
      const applied: Record<string, number> = {};
      for (const { action } of done) applied[action] = (applied[action] ?? 0) + 1;
      const changed = [...new Set(done.map(({ address }) => address))];
      const left = acted.length - done.length;
      const run: PastRun = {
        ...begun,
        ended_at: now,
        outcome: left === 0 ? "applied" : interrupted ? "interrupted" : "failed",
        applied,
        left,
        changed: changed.slice(0, CHANGED_KEPT),
        ...(changed.length > CHANGED_KEPT ? { more: changed.length - CHANGED_KEPT } : {}),
      };
      lease.note({ type: "run", run });
    },
  };
}
