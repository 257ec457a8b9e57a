// The figures of docs/internals/reliability.md as data: what a run of a suite leaves behind, piece by piece, and the page written from all of it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../state/backends/postgres/server.ts";
import type { Figures } from "../run/suite.ts";
import { pageOf } from "./page.ts";
import { zerosOf } from "./zeros.ts";

const DOCS = join(import.meta.dirname, "../../../docs/internals");
export const PAGE = join(DOCS, "reliability.md");
const DATA = join(DOCS, "reliability.json");

/** When and on what figures were made. */
export interface Stamp {
  /** The day, in UTC. */
  readonly date: string;
  readonly node: string;
  readonly postgres: boolean;
}

export interface SuiteRecord extends Stamp {
  readonly what: string;
  readonly unit: string;
  readonly seed: number;
  /** How many cases were asked for; absent: all of them. */
  readonly count?: number;
  readonly tried: number;
  /** All cases that there are, where they are more than were tried. */
  readonly all?: number;
  readonly failures: number;
  readonly zeros: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
  readonly seconds: number;
  /** The first of the failed cases, with what was wrong. */
  readonly failed: readonly { readonly name: string; readonly wrong: readonly string[] }[];
}

export interface MutantRecord {
  readonly bug: string;
  readonly suite: string;
  /** The missing requirement. */
  readonly lacked?: "postgres";
  readonly caught: boolean;
  /** How many cases it took, and the one that noticed. */
  readonly after: number;
  readonly case: string;
}

/** A run of `npm run mutation` on one room. */
export interface RoomRecord {
  /** The day, in UTC. */
  readonly date: string;
  /** Changes that a test noticed, and the others with the reason why none can, or that none does. */
  readonly noticed: number;
  readonly unnoticed: readonly Unnoticed[];
  /** A later run on the files that changed since. */
  readonly changed?: RoomRecord & { readonly files: string };
}

export interface Unnoticed {
  readonly in: string;
  readonly change: string;
  readonly count: number;
  readonly why: string;
}

export interface Recorded {
  readonly suites: Readonly<Record<string, SuiteRecord>>;
  /** Suites in the Databricks dialect. */
  readonly databricks?: Readonly<Record<string, SuiteRecord>>;
  /** Suites over the scenarios of kinds that only the Databricks dialect has: `--only dialect`. */
  readonly ofDialect?: Readonly<Record<string, SuiteRecord>>;
  /** Write operations at the seven moments: in how many points each cell is tried. */
  readonly matrix: Readonly<Record<string, readonly number[]>>;
  readonly mutants: Readonly<Record<string, MutantRecord>>;
  /** Rooms of the source by their folder. */
  readonly rooms?: Readonly<Record<string, RoomRecord>>;
}

const SHOWN_CASES = 20;
const SHOWN_LINES = 3;
const SHOWN_CHARACTERS = 300;

export function recorded(): Recorded {
  return JSON.parse(readFileSync(DATA, "utf8")) as Recorded;
}

/** Writes the changes into the data, and generates the page again. */
export function keep(change: (old: Recorded) => Recorded): void {
  const now = change(recorded());
  writeFileSync(DATA, `${JSON.stringify(now, undefined, 2)}\n`);
  writeFileSync(PAGE, pageOf(now));
}

export function stampNow(): Stamp {
  const server = startPostgres();
  server?.stop();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    postgres: server !== undefined,
  };
}

/** `all`: the number of all cases, where not all were tried. */
export function recordOf(
  { suite, seed, tried, failed, notes, seconds }: Figures,
  stamp: Stamp,
  count: number | undefined,
  all: number,
): SuiteRecord {
  return {
    what: suite.what,
    unit: suite.unit,
    seed,
    ...(count === undefined ? {} : { count }),
    tried,
    ...(all > tried && suite.endless !== true ? { all } : {}),
    failures: failed.length,
    zeros: zerosOf(suite.name, failed),
    notes,
    seconds: Math.round(seconds * 10) / 10,
    failed: failed.slice(0, SHOWN_CASES).map(({ name, wrong }) => ({
      name,
      wrong: wrong.slice(0, SHOWN_LINES).map((line) => line.slice(0, SHOWN_CHARACTERS)),
    })),
    ...stamp,
  };
}
