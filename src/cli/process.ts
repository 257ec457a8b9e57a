// Runs the program in this process with real streams and signals, and exits after all output is written.

import { homedir } from "node:os";
import { SIGNALS, Signals, standardOutput } from "../config/streams.ts";
import { error } from "../core/diagnostic.ts";
import { EXIT } from "./command/exit-codes.ts";
import { exitProcess } from "./exit-process.ts";
import { printDiagnostics } from "./output/diagnostics.ts";
import { runProgram } from "./program.ts";

export async function runInProcess(argv: readonly string[]): Promise<never> {
  // Certificates are always checked. Left there, Node would also warn that they are not.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  const stdout = standardOutput(process.stdout);
  const stderr = standardOutput(process.stderr);
  const signals = new Signals((text) => stderr.write(text));
  for (const name of SIGNALS)
    process.on(
      name,
      handleOnce(() => signals.receive(name)),
    );
  const outputs = { env: process.env, stdout, stderr };
  const cwd = currentFolder();
  if (cwd === undefined) {
    const hint = "change to a folder that exists";
    printDiagnostics(outputs, [error("CLI_FILE", "the current folder was deleted", { hint })]);
    return exitProcess(outputs, EXIT.error);
  }
  const context = {
    ...outputs,
    cwd,
    home: homedir(),
    stdin: process.stdin,
    signals,
  };
  const code = await runProgram(context, argv);
  await dieWhereBlocked(signals);
  return exitProcess(context, code);
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** Node's exit waits for pending reads; one that may never end, on a file system that hangs, ends with the signal. */
async function dieWhereBlocked({ last }: Signals): Promise<void> {
  if (last === undefined || !isReading()) return;
  await new Promise((resolve) => setTimeout(resolve, READ_MS));
  if (!isReading()) return;
  process.removeAllListeners(last);
  process.kill(process.pid, last);
}

const READ_MS = 300;

function isReading(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));
}

/** A terminal, a launcher, and tools such as timeout(1) may all send the same signal; signals within a moment count as one. */
function handleOnce(receive: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const again = now - last < SAME_SIGNAL_MS;
    last = now;
    if (!again) receive();
  };
}

const SAME_SIGNAL_MS = 100;
