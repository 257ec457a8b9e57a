// Waiting for the service: looks again and again, on the engine's clock, until there is an answer or the deadline is over.

import { error, Failure } from "../core/diagnostic.ts";
import type { Clock } from "../state/ports.ts";

export interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Told once, when the first look gives nothing. */
  readonly onWait: (what: string) => void;
  /** Runs a pause; lends the caller's slot to others meanwhile. */
  readonly pause: (sleep: () => Promise<void>) => Promise<void>;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/** Fails with APPLY_DEADLINE after `deadlineMs`, with APPLY_INTERRUPTED when the run is to stop. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  deadlineMs: number,
  on: Waiting,
): Promise<T> {
  const end = on.clock.now() + deadlineMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const found = await look();
    if (found !== undefined) return found;
    if (on.signal?.aborted === true) throw interrupted(what);
    const left = end - on.clock.now();
    if (left <= 0) throw tooLate(what, deadlineMs);
    if (pause === FIRST_PAUSE_MS) on.onWait(what);
    await on.pause(() => on.clock.sleep(Math.min(pause, left), on.signal));
  }
}

function tooLate(what: string, deadlineMs: number): Failure {
  return new Failure(
    error("APPLY_DEADLINE", `waited ${Math.round(deadlineMs / 1000)} s for ${what}, in vain`, {
      hint: "look at it in the workspace, then apply again: what is done is recorded",
    }),
  );
}

function interrupted(what: string): Failure {
  return new Failure(
    error("APPLY_INTERRUPTED", `stopped while waiting for ${what}`, { hint: "apply again to go on" }),
  );
}
