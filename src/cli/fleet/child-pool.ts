// The child processes of a worker. An apply has a process for itself; checks of small workspaces share one. A check that ended because of
// another one in its process is tried again alone.

import { type ChildProcess, fork } from "node:child_process";
import { mainModule } from "../../config/programs.ts";
import { error } from "../../core/diagnostic.ts";
import { count, shortened } from "../../core/sentences.ts";
import type { RequestFacts } from "../../fleet/model/result.ts";
import {
  ALIVE_INTERVAL_MS,
  type MessageFromChild,
  type MessageToChild,
  type RunAnswer,
  type RunProgress,
  type RunRequest,
} from "./child-messages.ts";

export interface RunEnd {
  /** `stopped`: the child did not answer within the grace time, and was ended. */
  readonly type: "answer" | "crashed" | "stopped";
  readonly answer: RunAnswer;
  readonly timedOut: boolean;
  /** Its requests up to its end, if it told of any. */
  readonly requests?: RequestFacts | undefined;
}

export interface ChildRun {
  readonly request: RunRequest;
  /** Limit of the child's memory for values, in MB. */
  readonly memoryMb: number;
  /** Whether no other run may be in its process. */
  readonly alone: boolean;
  /** Time limit of each try. */
  readonly timeoutMs: number;
  /** Aborts when the run has to end. Then, and at its time limit, it may finish its requests in flight for `graceMs`, and its process is ended. */
  readonly signal: AbortSignal | undefined;
  readonly graceMs: number;
  readonly logged: (text: string) => void;
}

/** A child that was larger than this is replaced: a workspace must not pay for another. A new one compiles the program again. */
const REUSED_BYTES = 400 << 20;
/** Checks that share a process. Each process compiles the program for itself, which takes longer than ten checks. */
const SHARED_RUNS = 4;
/** Enough for the report of Node on a process that ran out of memory. */
const STDERR_CHARACTERS = 16_384;

interface Child {
  readonly process: ChildProcess;
  readonly memoryMb: number;
  /** The runs in it now. */
  running: number;
  /** Of an ended process: how many runs ended with it. */
  endedWith: number;
  /** Runs up to now, which number them. */
  runs: number;
  /** Takes no further run while the one in it is alone, or because it is large. */
  isClosed: boolean;
  stderr: string;
}

export class ChildPool {
  readonly #children = new Set<Child>();
  /** Workspaces that ended a process, made it large, or took the time of others: they share none again. */
  readonly #alone = new Set<string>();
  readonly #env: Readonly<Record<string, string>>;
  readonly #alive: NodeJS.Timeout;

  /** `env`: of the worker. A child gets what a program needs to start, and no credential. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    const needed = Object.entries(env).filter(([name]) => NEEDED.test(name));
    this.#env = Object.fromEntries(needed) as Record<string, string>;
    this.#alive = setInterval(() => {
      for (const child of this.#children) sendMessage(child, { type: "alive" });
    }, ALIVE_INTERVAL_MS).unref();
  }

  /** Never rejects. */
  async run(run: ChildRun): Promise<RunEnd> {
    const { workspace } = run.request;
    const isAlone = run.alone || this.#alone.has(workspace);
    const { because, ...first } = await this.#runOnce(run, isAlone);
    if (because === undefined || run.signal?.aborted === true) return first;
    run.logged(`${new Date().toISOString()} ${because}; tried again alone\n`);
    const { because: _, ...second } = await this.#runOnce(run, true);
    if (second.type === "crashed" || second.timedOut || isLarge(second)) this.#alone.add(workspace);
    return { ...second, answer: { ...second.answer, isRepeated: true } };
  }

  close(): void {
    clearInterval(this.#alive);
    for (const child of this.#children) end(child);
  }

  /** Process IDs, for the figures of a worker. */
  get processIds(): readonly number[] {
    return [...this.#children].flatMap(({ process: { pid } }) => pid ?? []);
  }

  /** `because`: how other runs in its process ended this one; absent if they did not. */
  async #runOnce(run: ChildRun, isAlone: boolean): Promise<RunEnd & { readonly because?: string }> {
    const child = this.#take(run.memoryMb, isAlone);
    child.runs += 1;
    child.running += 1;
    child.isClosed = isAlone;
    const number = child.runs;
    const before = child.running - 1;
    const begun = performance.now();
    const { busyMs, ...ended } = await runIn(child, number, run);
    const hadOthers = before > 0 || child.runs > number;
    const computedMost = busyMs > (performance.now() - begun) / 2;
    child.running -= 1;
    const isReusable = ended.type === "answer" && !isLarge(ended);
    child.isClosed = !isReusable || (child.isClosed && !isAlone);
    if (child.isClosed && child.running === 0) end(child);
    if (ended.type === "crashed" && child.endedWith > 1)
      return {
        ...ended,
        because: `the process ended with this and ${count(child.endedWith - 1, "other check")}`,
      };
    return ended.timedOut && hadOthers && computedMost
      ? { ...ended, because: "timed out while its process computed, with other checks in it" }
      : ended;
  }

  #take(memoryMb: number, isAlone: boolean): Child {
    const open = [...this.#children].filter((child) => child.memoryMb === memoryMb && !child.isClosed);
    // The fullest, and the one that started first: its code is compiled.
    const free = open
      .filter(({ running }) => running < (isAlone ? 1 : SHARED_RUNS))
      .reduce<Child | undefined>(
        (best, child) => (best && best.running >= child.running ? best : child),
        undefined,
      );
    if (free !== undefined) return free;
    // A child with another limit makes room.
    const idle = [...this.#children].find(({ running }) => running === 0);
    if (idle !== undefined) end(idle);
    const child: Child = {
      process: fork(mainModule(), ["fleet-child"], {
        env: this.#env,
        execArgv: [`--max-old-space-size=${memoryMb}`],
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      }),
      memoryMb,
      running: 0,
      endedWith: 0,
      runs: 0,
      isClosed: false,
      stderr: "",
    };
    child.process.stderr?.on("data", (chunk: Buffer) => {
      child.stderr = (child.stderr + chunk.toString("utf8")).slice(-STDERR_CHARACTERS);
    });
    child.process.on("exit", () => {
      child.isClosed = true;
      child.endedWith = child.running;
      this.#children.delete(child);
    });
    child.process.on("error", () => undefined);
    this.#children.add(child);
    return child;
  }
}

function end(child: Child): void {
  child.isClosed = true;
  child.process.kill("SIGKILL");
}

function isLarge({ answer: { memoryBytes = 0 } }: Pick<RunEnd, "answer">): boolean {
  return memoryBytes >= REUSED_BYTES;
}

/** What Node and its libraries read; connections and credentials come with each run. */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_.*)$/;

function sendMessage({ process }: Child, message: MessageToChild): void {
  // The end of a child is a separate event.
  if (process.connected) process.send(message, () => undefined);
}

/** `busyMs`: how long the process computed during the run. */
type EndInChild = RunEnd & { readonly busyMs: number };

function runIn(child: Child, number: number, run: ChildRun): Promise<EndInChild> {
  const { request, signal, timeoutMs, graceMs, logged } = run;
  const { process } = child;
  return new Promise((resolve) => {
    let progress: Partial<RunProgress> = {};
    let ended = false;
    let timedOut = false;
    let isStopped = false;
    let killed: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    const finish = (end: Omit<EndInChild, "timedOut" | "requests">): void => {
      ended = true;
      clearTimeout(limit);
      clearTimeout(killed);
      signal?.removeEventListener("abort", stop);
      process.off("message", receive);
      process.off("close", childExited);
      resolve({
        type: end.type,
        answer: end.answer,
        busyMs: end.busyMs,
        timedOut,
        requests: progress.requests,
      });
    };
    const receive = (message: MessageFromChild): void => {
      if (message.run !== number) return;
      if (message.type === "log") logged(message.text);
      if (message.type === "progress") progress = { requests: message.requests, wrote: message.wrote };
      if (message.type === "answer") finish(message);
    };
    const childExited = (code: number | null, by: NodeJS.Signals | null): void => {
      const [type, message, hint] = isStopped
        ? (["stopped", "the process of the run was ended", "no action is needed"] as const)
        : (["crashed", ...crashOf(code, by, child)] as const);
      const diagnostics = [error("FLEET_CRASH", message, { hint, ...causeOf(child) })];
      const nothing = { counts: {}, drift: {}, diagnostics };
      // A process that did not answer computed.
      const busyMs = type === "stopped" ? Number.POSITIVE_INFINITY : 0;
      finish({ type, answer: { status: "crashed", ...nothing, ...progress }, busyMs });
    };
    const stop = (): void => {
      if (isStopped) return;
      isStopped = true;
      sendMessage(child, { type: "stop", run: number });
      killed = setTimeout(() => {
        if (!ended) process.kill("SIGKILL");
      }, graceMs);
    };
    process.on("message", receive);
    process.on("close", childExited);
    signal?.addEventListener("abort", stop, { once: true });
    if (process.exitCode !== null || process.signalCode !== null)
      return childExited(process.exitCode, process.signalCode);
    sendMessage(child, { type: "run", run: number, request, sentAtMs: Date.now() });
    if (signal?.aborted === true) stop();
  });
}

function crashOf(
  code: number | null,
  by: NodeJS.Signals | null,
  { memoryMb, stderr }: Child,
): readonly [string, string] {
  if (/heap out of memory|Allocation failed/.test(stderr))
    return [
      `the run needs more than its memory limit of ${memoryMb} MB`,
      "raise memory of this workspace in the fleet file, or `--memory` of the worker",
    ];
  if (by === "SIGKILL")
    return [
      "the system killed the process of the run, usually because memory ran out",
      "give the worker more memory, or lower --parallelism",
    ];
  const how = by === null ? `exited with ${code ?? "no code"}` : `was ended by ${by}`;
  return [`the process of the run ${how}`, "see the log of the run: `workspace fleet logs WORKSPACE`"];
}

/** The last words of the process, such as an assertion of Node. */
function causeOf({ stderr }: Child): { readonly cause?: string } {
  const line = stderr.split("\n").find((text) => /FATAL|Error|error/.test(text));
  return { cause: line && shortened(line.trim(), 300) };
}
