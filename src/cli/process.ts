// Runs the program in this process: real streams and signals; leaves only when everything written has left, too.

import { homedir } from "node:os";
import { outputOf } from "./output.ts";
import { runProgram } from "./program.ts";
import { type SignalName, Signals } from "./signals.ts";

export async function runInProcess(argv: readonly string[]): Promise<never> {
  const stdout = outputOf(process.stdout);
  const stderr = outputOf(process.stderr);
  const signals = new Signals((text) => stderr.write(text));
  for (const name of ["SIGINT", "SIGTERM"] as const satisfies readonly SignalName[])
    process.on(name, () => signals.receive(name));
  const context = {
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    stdin: process.stdin,
    stdout,
    stderr,
    signals,
  };
  const code = await runProgram(context, argv);
  await Promise.all([stdout.flush(), stderr.flush()]);
  process.exit(code);
}
