// Reads the workspace together with its state. What another run writes into both meanwhile would look like changes from outside.

import { isDeepStrictEqual } from "node:util";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import type { LastLock, Loaded, LockOptions } from "../../state/model/store.ts";
import type { SpecSession } from "./session.ts";

interface Settled<T> {
  readonly loaded: Loaded;
  readonly read: T;
  /** That another run still wrote the state while the workspace was read. */
  readonly unsettled: readonly Diagnostic[];
}

export const WITHOUT_WAITING = { timeoutMs: 0 };

/** Without waiting, as many times are the state and the workspace read. */
const READS = 3;
const POLL_MS = 1000;

/**
 * Reads the state, and what `read` reads of the workspace; both again if another run wrote the state meanwhile.
 * Waits as long for that run as for its lock.
 */
export async function withSettledState<T>(
  { store, readState, readLimit, clock }: Pick<SpecSession, "store" | "readState" | "readLimit" | "clock">,
  { timeoutMs, onWait }: Pick<LockOptions, "timeoutMs" | "onWait">,
  read: (loaded: Loaded) => Promise<T>,
): Promise<Settled<T>> {
  const deadline = clock.elapsed() + timeoutMs;
  const lastLock = (): Promise<LastLock> => readLimit.during(() => store.lastLock());
  let before = await lastLock();
  for (let reads = 1; ; reads += 1) {
    const loaded = await readState();
    const result = await read(loaded);
    let after = await lastLock();
    const wasFree = before.fence === after.fence && before.heldBy === undefined && after.heldBy === undefined;
    if (wasFree || isDeepStrictEqual(loaded.state, (await readState()).state))
      return { loaded, read: result, unsettled: [] };
    if (reads >= READS && clock.elapsed() >= deadline)
      return { loaded, read: result, unsettled: [writtenMeanwhile(after)] };
    if (after.heldBy !== undefined && clock.elapsed() < deadline) {
      onWait?.({ ...after.heldBy, timeoutMs: deadline - clock.elapsed() });
      while (after.heldBy !== undefined && clock.elapsed() < deadline) {
        await clock.sleep(Math.min(POLL_MS, deadline - clock.elapsed()));
        after = await lastLock();
      }
    }
    before = after;
  }
}

function writtenMeanwhile({ heldBy }: LastLock): Diagnostic {
  return warning(
    "STATE_LOCKED",
    `${heldBy?.holder ?? "another run"} wrote the state while the workspace was read`,
    {
      cause: "what that run changes can be shown as changed outside",
      hint: "wait with --lock-timeout 10m, or run this command again when that run has ended",
    },
  );
}
