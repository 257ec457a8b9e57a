// What is said, and with which code the process ends, where its output did not arrive whole.

import type { Context } from "../config/environment.ts";
import { error } from "../core/diagnostic.ts";
import { EXIT } from "./command/exit-codes.ts";
import { tell } from "./output/diagnostics.ts";

export type Outputs = Pick<Context, "env" | "stdout" | "stderr">;

const AFTER_SIGNAL = 128;

/** Gives the exit code: an error, unless a signal already says more. */
export async function tellLost(outputs: Outputs, problem: Error, code: number): Promise<number> {
  const told = error("CLI_FILE", "what the command wrote to its standard output did not arrive whole", {
    cause: problem.message,
    hint: "only the output is lost: what the command does besides was done, or told above",
  });
  tell(outputs, [told]);
  await outputs.stderr.flush();
  return code > AFTER_SIGNAL ? code : EXIT.error;
}
