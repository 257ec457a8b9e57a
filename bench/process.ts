// Runs programs as processes and measures their time, output, and memory.

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HOME = join(import.meta.dirname, "..");
/** Removed at the end of the run. */
export const BASE = mkdtempSync(join(tmpdir(), "workspace-bench-program-"));
process.on("exit", () => rmSync(BASE, { recursive: true, force: true }));
/** A copy of the program at the start of the run, because a run takes minutes and the files may change meanwhile. */
export const ROOT = copied();
/**
 * Loaded before a measured program: reports what the process used. Plain JavaScript, so that loading it costs
 * nothing.
 */
const NEED = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeFileSync } from "node:fs";
/** In kibibytes. On Linux, maxRSS of a process is at least that of the process which started it; VmHWM is its own. */
function peakOf(maxRSS) {
  try {
    return Number(/^VmHWM:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? maxRSS);
  } catch {
    return maxRSS;
  }
}
process.on("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  // maxRSS counts kibibytes on every system that Node runs on, the times count microseconds.
  const need = { peak: peakOf(maxRSS) * 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 };
  writeFileSync(process.env.BENCH_NEED_FILE, JSON.stringify(need));
});`)}`;

function copied(): string {
  const folder = join(BASE, "clone");
  for (const part of ["bin", "src", "schemas", "bench", "examples", "package.json"])
    cpSync(join(HOME, part), join(folder, part), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(HOME, "node_modules"), join(folder, "node_modules"));
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly ms: number;
  /** Time on processors, of all its threads. */
  readonly cpuMs: number;
  /** The most memory that it held, in bytes. */
  readonly peak: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string>>;

/** Runs Node with these arguments to its end. */
export async function run(args: readonly string[], env: Environment = {}): Promise<Ran> {
  return inFolder(async (folder) => {
    const file = join(folder, "need");
    const ended = await ending(["--import", NEED, ...args], { ...env, BENCH_NEED_FILE: file });
    return { ...ended, ...needIn(file) };
  });
}

/** As `run`, with nothing loaded before the program: for times that are short. */
export function ending(args: readonly string[], env: Environment = {}): Promise<Omit<Ran, "cpuMs" | "peak">> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      // For compiled code of installed programs, instead of the folder of the user.
      env: { ...process.env, XDG_CACHE_HOME: join(BASE, "cache"), ...env },
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

function needIn(file: string): { readonly cpuMs: number; readonly peak: number } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { cpuMs: number; peak: number };
  } catch {
    return { cpuMs: 0, peak: 0 };
  }
}

/** As `run`, and throws with what the program said when it does not end with one of the expected codes. */
export async function mustRun(args: readonly string[], env: Environment = {}, codes = [0]): Promise<Ran> {
  const ran = await run(args, env);
  if (codes.includes(ran.code)) return ran;
  throw new Error(
    `node ${args.join(" ")} ended with ${ran.code}\n${ran.stdout.slice(-2_000)}${ran.stderr.slice(-2_000)}`,
  );
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
