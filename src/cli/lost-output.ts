// The message and the exit code of a process whose output was not fully written.

import type { CommandContext } from "../config/environment.ts";
import { error } from "../core/diagnostic.ts";
import { EXIT } from "./command/exit-codes.ts";
import { printDiagnostics } from "./output/diagnostics.ts";

export type Outputs = Pick<CommandContext, "env" | "stdout" | "stderr">;

const AFTER_SIGNAL = 128;

/** Returns the exit code: an error, unless a signal ended the process. */
export async function reportLostOutput(outputs: Outputs, problem: Error, code: number): Promise<number> {
  const told = error("CLI_FILE", "standard output could not be written completely", {
    cause: problem.message,
    hint: "only the output is incomplete; for the result of the command, read the messages above",
  });
  printDiagnostics(outputs, [told]);
  await outputs.stderr.flush();
  return code > AFTER_SIGNAL ? code : EXIT.error;
}
