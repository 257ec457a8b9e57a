// Tries a suite on the program with one seeded bug, in a separate process.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { FEW_CASES } from "../run/suite.ts";
import type { Mutant } from "./mutants.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const LOAD = new URL("./load.ts", import.meta.url).href;

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

/** Whether one case still notices the bug. A name without a case does not. */
export async function isNoticedBy(mutant: Mutant, name: string): Promise<boolean> {
  const { code, said } = await simulated(mutant, ["--case", name]);
  return code === 1 && !said.startsWith("it threw ");
}

async function simulated(
  { name, suite }: Mutant,
  words: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, ["--import", LOAD, MAIN, "--suite", suite, ...words], {
    env: { ...process.env, WORKSPACE_MUTANT: name },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      said += data.toString();
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, said };
}
