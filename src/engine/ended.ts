// How a change ended, told from what is certain about its requests; and what the journal must say of it.

import type { RemoteId } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Change } from "../planner/change.ts";
import type { Result } from "../planner/outcome.ts";
import type { Journaled } from "./journaled.ts";
import { diagnosticOf } from "./problem.ts";
import { seenBefore } from "./record.ts";
import type { Ended, Run } from "./run.ts";
import { mergedRecord } from "./settle.ts";
import { mayBeOurs } from "./taken.ts";

/** Runs the work of a change. `open` makes a journal known, so that a failure can be told from what it holds. */
export async function ended(
  run: Run,
  change: Change,
  work: (open: (journal: Journaled) => Journaled) => Promise<RemoteId>,
): Promise<Ended> {
  let journal: Journaled | undefined;
  try {
    const id = await work((opened) => {
      journal = opened;
      return opened;
    });
    return { result: "applied", id };
  } catch (failure) {
    const diagnostic = diagnosticOf(failure);
    if (diagnostic === undefined) throw failure;
    if (isFatal(diagnostic)) run.halted ??= diagnostic;
    const result =
      journal === undefined ? resultOf(diagnostic) : await close(run, change, journal, failure, diagnostic);
    const at = diagnostic.address === undefined ? { ...diagnostic, address: change.address } : diagnostic;
    return { result, diagnostic: at, ...(journal?.made === undefined ? {} : { id: journal.made }) };
  }
}

/** After these no request may leave any more. */
function isFatal({ code }: Diagnostic): boolean {
  return code === "STATE_LOCK_LOST" || code === "STATE_IO";
}

function resultOf({ code }: Diagnostic): Result {
  return code === "PLAN_LIVE_MOVED" || code === "APPLY_INTERRUPTED" ? "skipped" : "failed";
}

/** Leaves the intent open where anything is uncertain or not recorded: the next run settles it. */
async function close(
  run: Run,
  change: Change,
  journal: Journaled,
  failure: unknown,
  diagnostic: Diagnostic,
): Promise<Result> {
  const { open, succeeded, begun } = journal.account;
  if (open > 0) return "unknown";
  if (!begun || run.halted !== undefined) return resultOf(diagnostic);
  if (succeeded === 0 && (await mayBeOurs(run, change, journal, failure))) return "unknown";
  try {
    if (succeeded === 0 || journal.made !== undefined) await journal.close();
    // What such a change may have left beside its object is found by the intent that stays open.
    else if (run.input.registry.get(change.kind).leftover !== undefined) return resultOf(diagnostic);
    else if (change.action === "update") await journal.done(partly(run, change, journal));
    else if (change.action === "delete") await journal.close();
  } catch (problem) {
    run.halted ??= diagnosticOf(problem);
  }
  return resultOf(diagnostic);
}

/** Some of an update's requests were done: what they may have set is recorded, what is seen stays. */
function partly(run: Run, change: Change, journal: Journaled) {
  const record = run.input.lease.record(change.address);
  if (record?.status !== "ready") return {};
  const merged = mergedRecord(run.input.registry.get(change.kind), record, journal.wanted);
  return { record: { ...merged, seen: seenBefore(run, change) } };
}
