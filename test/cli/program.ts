// Real processes of the program for tests: started, fed with signals, collected.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtProgram, COMPILE_CACHE } from "../built-program.ts";

export const BIN = await builtProgram();

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface Starting {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The Node that runs it; by default the one that runs the tests. */
  readonly node?: string;
  /** The program that starts it, with its arguments. */
  readonly under?: readonly string[];
}

export function start(
  words: readonly string[],
  { cwd, env = {}, node = process.execPath, under = [] }: Starting,
): Running {
  const [program = node, ...more] = [...under, node, BIN, ...words];
  const child = spawn(program, more, {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: cwd, ...COMPILE_CACHE, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended };
}

export function folderWith(spec: string): string {
  const folder = mkdtempSync(join(tmpdir(), "program-"));
  writeFileSync(join(folder, "workspace.yaml"), spec);
  return folder;
}
