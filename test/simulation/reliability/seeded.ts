// Seeds each bug in turn and records which case noticed it, after how many.

import { isPostgresHere } from "../../state/backends/postgres/server.ts";
import { type Mutant, mutants } from "../mutants/mutants.ts";
import { trial } from "../mutants/trial.ts";
import type { MutantRecord } from "./record.ts";

/** Reads what the suite printed: `crash: 37 of 3999 points, …`, then the line that runs the failed case again. */
async function tried(mutant: Mutant): Promise<MutantRecord> {
  const { bug, suite, needs } = mutant;
  if (needs !== undefined && !isPostgresHere())
    return { bug, suite, lacked: needs, caught: false, after: 0, case: "" };
  const { caught, said } = await trial(mutant);
  const after = Number(new RegExp(`^${suite}: (\\d+)`, "m").exec(said)?.[1] ?? 0);
  return { bug, suite, caught, after, case: /--case '(.*)'$/m.exec(said)?.[1] ?? "" };
}

/** Those whose names contain `only`; each is reported when it was tried. */
export async function trySeeded(
  only: string,
  onRecord: (name: string, record: MutantRecord) => void,
): Promise<void> {
  for (const mutant of mutants.filter(({ name }) => name.includes(only)))
    onRecord(mutant.name, await tried(mutant));
}
