// Notices when a database answers again that did not answer before.

import type { Clock } from "../../state/model/store.ts";

const PROBE_MS = 1_000;

export interface OutageWatch {
  /** Fails while the database does not answer. */
  readonly probe: () => Promise<unknown>;
  readonly clock: Pick<Clock, "elapsed" | "sleep">;
  /** Ends the watch. */
  readonly closed: AbortSignal;
  /** Called once for each outage, with its length. */
  readonly answersAgain: (outageMs: number) => void;
}

/** To be called for each problem. A problem of a database that answers does not count. */
export function outageWatch({ probe, clock, closed, answersAgain }: OutageWatch): () => void {
  let isWatching = false;
  const answers = (): Promise<boolean> =>
    probe().then(
      () => true,
      () => false,
    );
  const watch = async (): Promise<void> => {
    const begun = clock.elapsed();
    if (await answers()) return;
    do await clock.sleep(PROBE_MS, closed);
    while (!closed.aborted && !(await answers()));
    if (!closed.aborted) answersAgain(clock.elapsed() - begun);
  };
  return () => {
    if (isWatching) return;
    isWatching = true;
    void watch().finally(() => {
      isWatching = false;
    });
  };
}
