// A suite: many cases under names by which each can be run again, and a figure that says how many were tried.

import { dialectWords } from "../world/dialect.ts";

/** A run of at most so many cases chooses them from a suite's first scenarios, because each scenario takes a recording. */
export const FEW_CASES = 600;

/** The name of the failure of a suite whose cases could not be prepared: the run without faults failed. */
export const PREPARING = "(preparing)";

export interface Suite {
  readonly name: string;
  /** The faults of the suite, in a sentence. */
  readonly what: string;
  /** The name of one case in the figures: `points`, `cells`. */
  readonly unit: string;
  /** How many cases `npm test` runs; fewer than all are chosen by the seed. */
  readonly sample: number;
  /** Ordered by importance: a sample takes the first ones. */
  readonly ordered?: true;
  /** There are always more cases: no number says how many there are. */
  readonly endless?: true;
  /** The names of all cases, or the requested number of an endless suite. */
  cases(seed: number, count: number | undefined): Promise<readonly string[]>;
  /** Runs one case; gives what was wrong. */
  run(name: string): Promise<readonly string[]>;
  /** Further figures of the run, in addition to the number of cases. */
  notes?(): Promise<readonly string[]>;
  close?(): Promise<void>;
}

export interface Failed {
  readonly name: string;
  readonly wrong: readonly string[];
}

export interface Figures {
  readonly suite: Suite;
  readonly seed: number;
  /** All cases that there are, where that is a number. */
  readonly all: number;
  readonly tried: number;
  readonly failed: readonly Failed[];
  readonly notes: readonly string[];
  readonly seconds: number;
}

export interface Running {
  readonly seed: number;
  /** Absent: all of them. */
  readonly count?: number;
  /** Stop at the first failure. */
  readonly impatient?: boolean;
  /** Only cases whose names hold this text. */
  readonly only?: string;
  readonly onCase?: (done: number, of: number) => void;
}

export async function runSuite(suite: Suite, running: Running): Promise<Figures> {
  const { seed, count, impatient, only = "", onCase } = running;
  const begun = performance.now();
  const failed: Failed[] = [];
  let tried = 0;
  let all: readonly string[] = [];
  let notes: readonly string[] = [];
  try {
    all = [...new Set(await suite.cases(seed, count))].filter((name) => name.includes(only));
    const some = suite.ordered === true ? all : shuffled(all, seed);
    const chosen = count === undefined || count >= all.length ? all : some.slice(0, count);
    for (const name of chosen) {
      const wrong = await outcomeOf(suite, name);
      tried += 1;
      if (wrong.length > 0) failed.push({ name, wrong });
      onCase?.(tried, chosen.length);
      if (impatient === true && failed.length > 0) break;
    }
    notes = (await suite.notes?.()) ?? [];
  } catch (failure) {
    failed.push({
      name: PREPARING,
      wrong: [failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)],
    });
  } finally {
    await suite.close?.();
  }
  return { suite, seed, all: all.length, tried, failed, notes, seconds: (performance.now() - begun) / 1000 };
}

/** A case that throws has failed like one that says what was wrong. */
export async function outcomeOf(suite: Suite, name: string): Promise<readonly string[]> {
  try {
    return await suite.run(name);
  } catch (failure) {
    return [`it threw ${failure instanceof Error ? failure.stack : String(failure)}`];
  }
}

/** A random source that gives the same numbers for a seed, between 0 and 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const random = randomFrom(seed);
  const out = [...items];
  for (let at = out.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const [a, b] = [out[at], out[other]];
    if (a !== undefined && b !== undefined) [out[at], out[other]] = [b, a];
  }
  return out;
}

/** One after the other from each list, so that the first few are of every list. */
export function inTurn(lists: readonly (readonly string[])[]): readonly string[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}

/** The one line that runs a failed case again. */
export function againLine(suite: Suite, name: string): string {
  return ["npm run simulate --", `--suite ${suite.name}`, ...dialectWords, `--case '${name}'`].join(" ");
}
