// Figures that must be zero, in addition to the number of failures: their names, and the message of a failed case that counts
// for them.

import type { Failed } from "../run/suite.ts";

const ANYTHING = /^/;

const LOCK = {
  "zombie writes to state": /had lost the lock wrote to the state/,
  "zombie requests": /had lost the lock sent/,
};

const ALIVE = { "locks lost within the lease": /lost its lock within its lease/ };

const ZEROS: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  late: { "duplicates left": /have one id|is there and not recorded|the world should not have/ },
  repeat: { differences: ANYTHING },
  faults: { unexpected: ANYTHING },
  moves: { overwrites: /the value that others wrote is gone/ },
  zombie: LOCK,
  shared: { ...LOCK, "writes while the state was out of reach": /^sent while the state was out of reach/ },
  clocks: { ...LOCK, ...ALIVE },
  two: LOCK,
  "name-conflict": { "unmanaged objects touched": /^unmanaged / },
  disk: { "writes after the journal failed": /^sent after the journal failed/ },
  corrupt: { "silent losses": /^silently/ },
  specs: { "internal errors": /internal error|it threw/, "refused without a place": /^without a place/ },
  files: { hangs: /^it hangs/, "files written": /files were written/ },
  names: { leaks: ANYTHING },
  plans: { accepted: /^accepted/ },
};

/** How many of the failed cases count for each figure of a suite. */
export function zerosOf(suite: string, failed: readonly Failed[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(ZEROS[suite] ?? {}).map(([name, saying]) => [
      name,
      failed.filter(({ wrong }) => wrong.some((line) => saying.test(line))).length,
    ]),
  );
}

/** `failures = 0, leaks = 0` */
export function zerosText(failures: number, zeros: Readonly<Record<string, number>>): string {
  return [["failures", failures], ...Object.entries(zeros)]
    .map(([name, number]) => `${name} = ${number}`)
    .join(", ");
}
