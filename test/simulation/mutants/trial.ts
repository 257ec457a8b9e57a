// Tries one suite on the program with one seeded bug, in a separate process.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutants.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const LOAD = new URL("./load.ts", import.meta.url).href;

export interface Tried {
  readonly caught: boolean;
  readonly said: string;
}

/** At the size of `npm test`, until the first failure. Throws where the bug could not be seeded. */
export async function trial({ name }: Mutant, suite: string): Promise<Tried> {
  const words = ["--import", LOAD, MAIN, "--suite", suite, "--sample", "--impatient", "--show", "1"];
  const child = spawn(process.execPath, words, { env: { ...process.env, WORKSPACE_MUTANT: name } });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      said += data.toString();
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  const told = new RegExp(`^${suite}: .*failures = (\\d+)`, "m").exec(said)?.[1];
  if (told === undefined || (code !== 0 && code !== 1)) throw new Error(`mutant ${name}: ${said}`);
  return { caught: told !== "0", said };
}
