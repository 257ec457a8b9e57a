// How this process ends: when all that was written has left, with a code that says so where it could not.

import { error } from "../core/diagnostic.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit.ts";

type Outputs = Pick<Context, "env" | "stdout" | "stderr">;

const AFTER_SIGNAL = 128;

export async function leave(outputs: Outputs, code: number): Promise<never> {
  const { stdout, stderr } = outputs;
  await Promise.all([stdout.flush(), stderr.flush()]);
  const { lost } = stdout;
  if (lost === undefined) process.exit(code);
  const { tell } = await import("./trouble.ts");
  tell(outputs, [outputLost(lost)]);
  await stderr.flush();
  process.exit(code > AFTER_SIGNAL ? code : EXIT.error);
}

function outputLost(problem: Error) {
  return error("CLI_FILE", "what the command wrote to its standard output did not arrive whole", {
    cause: problem.message,
    hint: "only the output is lost: what the command does besides was done, or told above",
  });
}
