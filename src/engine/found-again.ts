// A creation without an answer, looked up at once: what it made goes on as made, everything else is left to the next run.

import type { RemoteId } from "../core/address.ts";
import { UnknownOutcome } from "../core/outcome.ts";
import type { Create, Replace } from "../planner/change.ts";
import type { Journaled } from "./journaled.ts";
import { isFoundByName, isWhatWasSent } from "./matches.ts";
import { toNames } from "./names.ts";
import { expected } from "./problem.ts";
import { listedAs, look } from "./reread.ts";
import { isStopped, type Run } from "./run.ts";

/** The id that `make` gives; where its outcome is unknown, that of the very thing which was to be made. Throws as `make` does. */
export async function madeOrFound(
  run: Run,
  change: Create | Replace,
  journal: Journaled,
  make: () => Promise<RemoteId>,
): Promise<RemoteId> {
  try {
    return await make();
  } catch (failure) {
    const found = failure instanceof UnknownOutcome ? await foundAgain(run, change, journal) : undefined;
    if (found === undefined) throw failure;
    return found;
  }
}

/** By the rule of recovery: nothing of its name was there, and what is there now is what was sent. One list, one look. */
async function foundAgain(
  run: Run,
  change: Create | Replace,
  journal: Journaled,
): Promise<RemoteId | undefined> {
  const provider = run.input.registry.get(change.kind);
  // A creation of several requests may be half done.
  if (!isFoundByName(provider) || journal.existed || journal.account.succeeded > 0 || isStopped(run))
    return undefined;
  try {
    const listed = await listedAs(run, change);
    const live = listed === undefined ? undefined : await look(run, change.kind, listed.id, change.after);
    if (live === undefined) return undefined;
    const values = toNames(provider.fields, live.values, run.book);
    return isWhatWasSent(provider, journal.wanted, { ...live, values }) ? live.id : undefined;
  } catch (unread) {
    expected(unread);
    return undefined;
  }
}
