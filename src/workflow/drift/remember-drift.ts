// Records reported and acknowledged drift in the state. Holds the lock only during the write.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, Failure, warning } from "../../core/diagnostic.ts";
import { driftDigests, type KnownDrift } from "../../planner/diff/known-drift.ts";
import type { Drift } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { ReportedDrift, State } from "../../state/model/record.ts";
import type { LockOptions, StateStore } from "../../state/model/store.ts";

export function knownDrift({ reported = [], acknowledged = [] }: State, now: number): KnownDrift {
  return { reported, acknowledged: acknowledged.filter((one) => one.until > now) };
}

export function reportedOf(drift: readonly Drift[]): readonly ReportedDrift[] {
  return drift.map((one) => ({
    address: one.address,
    differences: driftDigests(one, registry.of(one.address).fields),
  }));
}

/** Writes what was reported if it is not what the state says already. A warning where it cannot be written: the report itself stands. */
export async function rememberReported(
  store: StateStore,
  state: State,
  drift: readonly Drift[],
  covers: (address: Address) => boolean,
): Promise<readonly Diagnostic[]> {
  const before = state.reported ?? [];
  const reported = [...before.filter((one) => !covers(one.address)), ...reportedOf(drift)];
  if (JSON.stringify(reported) === JSON.stringify(before)) return [];
  try {
    await writeEntries(store, [{ type: "reported", reported }], { timeoutMs: 0 });
    return [];
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return [
      warning(
        "DRIFT_NOT_RECORDED",
        "the state could not be written, so the next run reports this drift as new",
        {
          cause: problem.diagnostics.map((one) => `${one.code}: ${one.message}`).join("; "),
          hint: "grant this user write access to the state, or run `workspace drift` without --since",
        },
      ),
    ];
  }
}

export async function writeEntries(
  store: StateStore,
  entries: readonly JournalEntry[],
  wait: LockOptions,
): Promise<void> {
  const lease = await store.lock(wait);
  try {
    for (const entry of entries) await lease.append(entry);
    await lease.publish();
  } finally {
    await lease.release();
  }
}
