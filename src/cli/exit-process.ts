// How this process ends: when all that was written has left, with a code that says so where it could not.

import type { Outputs } from "./lost-output.ts";

export async function exitProcess(outputs: Outputs, code: number): Promise<never> {
  const { stdout, stderr } = outputs;
  await Promise.all([stdout.flush(), stderr.flush()]);
  if (stdout.lost === undefined) process.exit(code);
  // Seldom needed, and the shortest commands are over before this could be loaded.
  const { reportLostOutput } = await import("./lost-output.ts");
  process.exit(await reportLostOutput(outputs, stdout.lost, code));
}
