// Determines the result of a change from the outcomes of its requests, and the journal entries for it.

import { isConflict } from "../../api/contract/refusals.ts";
import type { RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { Refused } from "../../core/request-failure.ts";
import type { Change } from "../../planner/model/change.ts";
import type { ChangeStatus } from "../../planner/model/plan.ts";
import { diagnosticOf, failureDiagnostic } from "../failures.ts";
import { isFoundByName } from "../recover/match-object.ts";
import { mergedRecord } from "../recover/resolve-intent.ts";
import type { ApplyRun } from "./apply-run.ts";
import { previousObservations } from "./build-record.ts";
import type { JournaledWriter } from "./journaled-writer.ts";
import type { ChangeResult } from "./outcome-log.ts";
import { findByName } from "./read-object.ts";

/** Makes a journal known, so that a failure can be told from what it holds. */
export type JournalOpener = (journal: JournaledWriter) => JournaledWriter;

/** Runs the work of a change. */
export async function runChange(
  run: ApplyRun,
  change: Change,
  work: (open: JournalOpener) => Promise<RemoteId>,
): Promise<ChangeResult> {
  let journal: JournaledWriter | undefined;
  try {
    const id = await work((opened) => {
      journal = opened;
      return opened;
    });
    return { result: "applied", id };
  } catch (failure) {
    const diagnostic = failureDiagnostic(failure);
    if (isFatal(diagnostic)) run.halted ??= diagnostic;
    const result =
      journal === undefined ? resultOf(diagnostic) : await close(run, change, journal, failure, diagnostic);
    const at = diagnostic.address === undefined ? { ...diagnostic, address: change.address } : diagnostic;
    return { result, diagnostic: at, ...(journal?.made === undefined ? {} : { id: journal.made }) };
  }
}

/** After these results, no more requests may be sent. */
function isFatal({ code }: Diagnostic): boolean {
  return code === "STATE_LOCK_LOST" || code === "STATE_IO";
}

function resultOf({ code }: Diagnostic): ChangeStatus {
  return code === "PLAN_LIVE_MOVED" || code === "APPLY_INTERRUPTED" ? "skipped" : "failed";
}

/** Leaves the intent open if anything is uncertain or not recorded; the next run resolves it. */
async function close(
  run: ApplyRun,
  change: Change,
  journal: JournaledWriter,
  failure: unknown,
  diagnostic: Diagnostic,
): Promise<ChangeStatus> {
  const { open, succeeded, begun } = journal.account;
  if (open > 0) return "unknown";
  if (!begun || run.halted !== undefined) return resultOf(diagnostic);
  if (succeeded === 0 && (await mayBeEarlierCopy(run, change, journal, failure))) return "unknown";
  try {
    if (succeeded === 0 || journal.made !== undefined) await journal.close();
    // The open intent lets recovery find what such a change may have created.
    else if (run.input.registry.get(change.kind).planning.content?.partialUploadName !== undefined)
      return resultOf(diagnostic);
    else if (change.action === "update") await journal.done(partly(run, change, journal));
    else if (change.action === "delete") await journal.close();
  } catch (problem) {
    run.halted ??= diagnosticOf(problem);
  }
  return resultOf(diagnostic);
}

/** Some requests of an update succeeded: records the values that they may have set, and keeps the observed values. */
function partly(run: ApplyRun, change: Change, journal: JournaledWriter) {
  const record = run.input.lease.record(change.address);
  if (record?.status !== "ready") return {};
  const merged = mergedRecord(run.input.registry.get(change.kind), record, journal.wanted);
  return { record: { ...merged, seen: previousObservations(run, change) } };
}

/** If the object exists now, the next run decides whether it is managed, as after a request without an answer. */
async function mayBeEarlierCopy(
  run: ApplyRun,
  change: Change,
  journal: JournaledWriter,
  failure: unknown,
): Promise<boolean> {
  const creates = change.action === "create" || change.action === "replace";
  if (!creates || journal.existed || !(failure instanceof Refused)) return false;
  if (!isFoundByName(run.input.registry.get(change.kind))) return false;
  if (isConflict(failure)) return true;
  // Some kinds have no code of their own for a name that is taken.
  if (failure.code !== "INVALID_PARAMETER_VALUE") return false;
  try {
    return (await findByName(run, change)) !== undefined;
  } catch (unread) {
    if (unread instanceof Refused) return false;
    throw unread;
  }
}
