// Workers as processes: the real command, started, counted, drained, and killed.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtProgram } from "../../test/built-program.ts";
import { installProgram } from "../installed.ts";
import { WORKER_TOKEN } from "./farm.ts";
import { SECRETS } from "./template.ts";

/** Installed, as on the machine of an operator. A run of tests has built it already. */
const CLI = await builtProgram(() => installProgram(join(import.meta.dirname, "../.."), "fleet"));

export interface WorkerProcess {
  readonly id: string;
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Processor time in seconds, of a process that still runs. */
  cpuSeconds(): number;
}

export interface WorkerPlace {
  /** With the fleet file. */
  readonly folder: string;
  readonly database: string;
  readonly parallelism: number;
}

let started = 0;

export function environmentFor(database: string, id: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    WORKSPACE_FLEET_DATABASE: database,
    FARM_TOKEN: `${WORKER_TOKEN}${id}`,
    ...SECRETS,
  };
}

export function startWorker({ folder, database, parallelism }: WorkerPlace): WorkerProcess {
  const id = `w${++started}`;
  const child = spawn(process.execPath, [CLI, "fleet", "worker", "--parallelism", String(parallelism)], {
    cwd: folder,
    env: environmentFor(database, id),
    stdio: ["ignore", "ignore", process.env.FLEET_DEBUG === undefined ? "ignore" : "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { id, child, ended, cpuSeconds: () => cpuSecondsOf(child.pid ?? 0) };
}

/** `workspace fleet …` to its end. */
export function runFleetCommand(folder: string, database: string, words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [CLI, "fleet", ...words], {
    cwd: folder,
    env: environmentFor(database, "sender"),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) =>
    child.once("close", (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${words.join(" ")}: ${code} ${text}`)),
    ),
  );
}

/** User and system time of a process and of the runs that it started; 0 if it has ended. Linux counts hundredths of a second. */
export function cpuSecondsOf(pid: number): number {
  const own = processTimes(pid);
  if (own === undefined) return 0;
  const children = readdirSync("/proc")
    .map(Number)
    .flatMap((id) => {
      const times = Number.isInteger(id) ? processTimes(id) : undefined;
      return times?.parent === pid ? [times.seconds] : [];
    });
  return children.reduce((sum, seconds) => sum + seconds, own.seconds + own.endedChildrenSeconds);
}

function processTimes(pid: number) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1],
      seconds: (user + system) / 100,
      endedChildrenSeconds: (endedUser + endedSystem) / 100,
    };
  } catch {
    return undefined;
  }
}
