// Tries a suite on the program with one seeded bug, in a separate process.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { FEW_CASES, PREPARING } from "../run/suite.ts";
import type { Mutant } from "./mutants.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const LOAD = new URL("./load.ts", import.meta.url).href;
/** A process for each bug loads the same modules, all but one unchanged. */
const COMPILED = fileURLToPath(new URL("../../../node_modules/.cache/workspace-mutants", import.meta.url));

export interface Tried {
  readonly caught: boolean;
  readonly said: string;
}

/** The suite's few cases, until the first failure. Throws where the bug could not be seeded. */
export async function trial(mutant: Mutant): Promise<Tried> {
  const { suite } = mutant;
  const { code, said } = await simulated(mutant, ["--count", `${FEW_CASES}`, "--impatient", "--show", "1"]);
  const told = new RegExp(`^${suite}: .*failures = (\\d+)`, "m").exec(said)?.[1];
  if (told === undefined || (code !== 0 && code !== 1)) throw new Error(`mutant ${mutant.name}: ${said}`);
  return { caught: told !== "0", said };
}

/** The answer of a suite to a name that it does not have. */
const NO_CASE = /^(?:it threw Error: )?there is no |of one seed end at/;

/** Whether one case still notices the bug. A name without a case does not. */
export async function isNoticedBy(mutant: Mutant, name: string): Promise<boolean> {
  if (name === PREPARING) return noticesBeforeCases(mutant);
  const { code, said } = await simulated(mutant, ["--case", name]);
  return code === 1 && !NO_CASE.test(said);
}

/** Whether the run without faults, which comes before the cases of a suite, notices the bug. */
async function noticesBeforeCases(mutant: Mutant): Promise<boolean> {
  const { code, said } = await simulated(mutant, ["--count", "1", "--impatient"]);
  return code === 1 && said.includes(PREPARING);
}

async function simulated(
  { name, suite }: Mutant,
  words: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, ["--import", LOAD, MAIN, "--suite", suite, ...words], {
    env: { ...process.env, WORKSPACE_MUTANT: name, NODE_COMPILE_CACHE: COMPILED },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      said += data.toString();
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, said };
}
