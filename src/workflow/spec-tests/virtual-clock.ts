// The time of a test: it stands still while there is work, and moves to the end of the shortest pause when all work waits.

import type { Clock } from "../../state/model/ports.ts";

interface Pause {
  readonly end: number;
  readonly resume: () => void;
}

/** `start`: epoch milliseconds. */
export function virtualClock(start: number): Clock {
  const pauses: Pause[] = [];
  let now = start;
  const next = (): void => {
    pauses.sort((a, b) => a.end - b.end);
    const first = pauses.shift();
    if (first === undefined) return;
    now = Math.max(now, first.end);
    first.resume();
    if (pauses.length > 0) setImmediate(next);
  };
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resume) => {
        if (signal?.aborted === true) return resume();
        pauses.push({ end: now + ms, resume });
        if (pauses.length === 1) setImmediate(next);
      }),
  };
}
