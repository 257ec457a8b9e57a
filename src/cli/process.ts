// Runs the program in this process: real streams and signals; leaves only when everything written has left, too.

import { createHmac, hash } from "node:crypto";
import { homedir } from "node:os";
import { digestWith } from "../core/canonical.ts";
import { outputOf } from "./output.ts";
import { runProgram } from "./program.ts";
import { type SignalName, Signals } from "./signals.ts";

export async function runInProcess(argv: readonly string[]): Promise<never> {
  digestWith({
    sha256: (data) => hash("sha256", data),
    hmac: (key, data) => createHmac("sha256", key).update(data).digest("hex"),
  });
  const stdout = outputOf(process.stdout);
  const stderr = outputOf(process.stderr);
  const signals = new Signals((text) => stderr.write(text));
  for (const name of ["SIGINT", "SIGTERM"] as const satisfies readonly SignalName[])
    process.on(
      name,
      once(() => signals.receive(name)),
    );
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

/** A terminal, a launcher and tools such as timeout(1) may all send the same signal: what comes within a moment is one. */
function once(receive: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const again = now - last < SAME_SIGNAL_MS;
    last = now;
    if (!again) receive();
  };
}

const SAME_SIGNAL_MS = 250;
