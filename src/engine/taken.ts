// A creation refused although nothing of its name was there: an earlier copy of the very same request may have made it.

import { isConflict } from "../api/missing.ts";
import { Refused } from "../core/outcome.ts";
import type { Change } from "../planner/change.ts";
import type { Journaled } from "./journaled.ts";
import { isFoundByName } from "./matches.ts";
import { listedAs } from "./reread.ts";
import type { Run } from "./run.ts";

/** Where it is there now, the next run judges by what was sent whether it is ours, as after a request without an answer. */
export async function mayBeOurs(
  run: Run,
  change: Change,
  journal: Journaled,
  failure: unknown,
): Promise<boolean> {
  const creates = change.action === "create" || change.action === "replace";
  if (!creates || journal.existed || !(failure instanceof Refused)) return false;
  if (!isFoundByName(run.input.registry.get(change.kind))) return false;
  if (isConflict(failure)) return true;
  // Some kinds have no code of their own for a name that is taken.
  if (failure.code !== "INVALID_PARAMETER_VALUE") return false;
  try {
    return (await listedAs(run, change)) !== undefined;
  } catch (unread) {
    if (unread instanceof Refused) return false;
    throw unread;
  }
}
