// Runs programs as processes and tells how long they took, what they said and how much memory they needed.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const ROOT = join(import.meta.dirname, "..");
const PEAK = pathToFileURL(join(import.meta.dirname, "peak.ts")).href;

export interface Ran {
  readonly code: number;
  readonly ms: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string>>;

/** Runs Node with these arguments to its end. */
export function run(args: readonly string[], env: Environment = {}): Promise<Ran> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stdout = textOf(child.stdout);
    const stderr = textOf(child.stderr);
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code: code ?? -1, ms: performance.now() - begin, stdout: stdout(), stderr: stderr() }),
    );
  });
}

/** As `run`, and throws with what the program said when it does not end with one of the expected codes. */
export async function mustRun(args: readonly string[], env: Environment = {}, codes = [0]): Promise<Ran> {
  const ran = await run(args, env);
  if (codes.includes(ran.code)) return ran;
  throw new Error(
    `node ${args.join(" ")} ended with ${ran.code}\n${ran.stdout.slice(-2_000)}${ran.stderr.slice(-2_000)}`,
  );
}

/** The most memory, in bytes, that a run of Node with these arguments held. */
export async function peakOf(args: readonly string[], env: Environment = {}): Promise<number> {
  return inFolder(async (folder) => {
    const file = join(folder, "peak");
    await mustRun(["--import", PEAK, ...args], { ...env, BENCH_PEAK_FILE: file });
    return Number(readFileSync(file, "utf8"));
  });
}

/** Starts Node with these arguments and resolves with the first line that it prints. */
export function start(
  args: readonly string[],
  env: Environment = {},
): Promise<{ readonly line: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`node ${args.join(" ")} ended with ${code} before it was ready`)),
    );
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end >= 0) resolve({ line: text.slice(0, end), stop: () => stopped(child) });
    });
  });
}

function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    // It keeps nothing, so there is nothing to save.
    child.kill("SIGKILL");
  });
}

/** A folder that is removed afterwards. */
export async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "workspace-bench-"));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}
