// Ends the process after all output is written, with an exit code that reports lost output.

import type { Outputs } from "./output/diagnostics.ts";

export async function exitProcess(outputs: Outputs, code: number): Promise<never> {
  const { stdout, stderr } = outputs;
  await Promise.all([stdout.flush(), stderr.flush()]);
  if (stdout.lost === undefined) process.exit(code);
  // Seldom needed, and the shortest commands are over before this could be loaded.
  const { reportLostOutput } = await import("./output/diagnostics.ts");
  process.exit(await reportLostOutput(outputs, stdout.lost, code));
}
