// The child processes of a worker: each runs one workspace at a time, is reused while it is small, and is ended when its run must end.

import { type ChildProcess, fork } from "node:child_process";
import { mainModule } from "../../config/programs.ts";
import { error } from "../../core/diagnostic.ts";
import { shortened } from "../../core/sentences.ts";
import type { RequestFacts, RunAnswer } from "../../fleet/model/result.ts";
import {
  ALIVE_INTERVAL_MS,
  type MessageFromChild,
  type MessageToChild,
  type RunRequest,
} from "../../fleet/model/run-message.ts";

/** `stopped`: the child did not answer within the grace time, and was ended. */
export type RunEnd =
  | { readonly type: "answer"; readonly answer: RunAnswer }
  | { readonly type: "crashed" | "stopped"; readonly answer: RunAnswer };

export interface ChildRun {
  readonly request: RunRequest;
  /** Limit of the child's memory for values, in MB. */
  readonly memoryMb: number;
  /** Aborts when the run has to end: it may finish its requests in flight for `graceMs`, then its process is ended. */
  readonly signal: AbortSignal;
  readonly graceMs: number;
  readonly logged: (text: string) => void;
  readonly progressed?: (requests: RequestFacts) => void;
}

/** A child that was larger than this, or ran so many workspaces, is replaced: a workspace must not pay for another. */
const REUSED_BYTES = 400 << 20;
const REUSED_RUNS = 500;
/** Enough for the report of Node on a process that ran out of memory. */
const STDERR_CHARACTERS = 16_384;

interface Child {
  readonly process: ChildProcess;
  readonly memoryMb: number;
  runs: number;
  stderr: string;
}

export class ChildPool {
  readonly #idle = new Set<Child>();
  readonly #all = new Set<Child>();
  readonly #env: Readonly<Record<string, string>>;

  /** `env`: of the worker. A child gets what a program needs to start, and no credential. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    const needed = Object.entries(env).filter(([name]) => NEEDED.test(name));
    this.#env = Object.fromEntries(needed) as Record<string, string>;
  }

  /** Never rejects. */
  async run(run: ChildRun): Promise<RunEnd> {
    const child = this.#take(run.memoryMb);
    child.runs += 1;
    const alive = setInterval(() => sendMessage(child, { type: "alive" }), ALIVE_INTERVAL_MS);
    try {
      const end = await runIn(child, run);
      const small = (end.answer.memoryBytes ?? 0) < REUSED_BYTES;
      if (end.type === "answer" && small && child.runs < REUSED_RUNS) this.#idle.add(child);
      else this.#end(child);
      return end;
    } finally {
      clearInterval(alive);
    }
  }

  close(): void {
    for (const child of this.#all) this.#end(child);
  }

  /** Process IDs, for the figures of a worker. */
  get processIds(): readonly number[] {
    return [...this.#all].flatMap(({ process: { pid } }) => pid ?? []);
  }

  #take(memoryMb: number): Child {
    // The one that ran last: its code is compiled and in the caches.
    const reused = [...this.#idle].findLast((child) => child.memoryMb === memoryMb);
    if (reused !== undefined) {
      this.#idle.delete(reused);
      return reused;
    }
    // A child with another limit makes room.
    for (const child of this.#idle) {
      this.#end(child);
      break;
    }
    const child: Child = {
      process: fork(mainModule(), ["fleet-child"], {
        env: this.#env,
        execArgv: [`--max-old-space-size=${memoryMb}`],
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      }),
      memoryMb,
      runs: 0,
      stderr: "",
    };
    child.process.stderr?.on("data", (chunk: Buffer) => {
      child.stderr = (child.stderr + chunk.toString("utf8")).slice(-STDERR_CHARACTERS);
    });
    child.process.on("exit", () => {
      this.#idle.delete(child);
      this.#all.delete(child);
    });
    child.process.on("error", () => undefined);
    this.#all.add(child);
    return child;
  }

  #end(child: Child): void {
    this.#idle.delete(child);
    child.process.kill("SIGKILL");
  }
}

/** What Node and its libraries read; connections and credentials come with each run. */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_.*)$/;

function sendMessage({ process }: Child, message: MessageToChild): void {
  // The end of a child is a separate event.
  if (process.connected) process.send(message, () => undefined);
}

function runIn(child: Child, run: ChildRun): Promise<RunEnd> {
  const { request, signal, graceMs, logged, progressed } = run;
  const { process } = child;
  return new Promise((resolve) => {
    let requests: RequestFacts | undefined;
    let ended = false;
    let killed: NodeJS.Timeout | undefined;
    const finish = (end: RunEnd): void => {
      ended = true;
      clearTimeout(killed);
      signal.removeEventListener("abort", stop);
      process.off("message", receive);
      process.off("close", childExited);
      resolve(end);
    };
    const receive = (message: MessageFromChild): void => {
      if (message.type === "log") logged(message.text);
      if (message.type === "progress") {
        ({ requests } = message);
        progressed?.(message.requests);
      }
      if (message.type === "answer") finish({ type: "answer", answer: message.answer });
    };
    const childExited = (code: number | null, by: NodeJS.Signals | null): void => {
      const [type, message, hint] = signal.aborted
        ? (["stopped", "the process of the run was ended", "no action is needed"] as const)
        : (["crashed", ...crashOf(code, by, child)] as const);
      const diagnostics = [error("FLEET_CRASH", message, { hint, ...causeOf(child) })];
      const nothing = { counts: {}, drift: {}, diagnostics };
      finish({ type, answer: { status: "crashed", ...nothing, ...(requests && { requests }) } });
    };
    const stop = (): void => {
      sendMessage(child, { type: "stop" });
      killed = setTimeout(() => {
        if (!ended) process.kill("SIGKILL");
      }, graceMs);
    };
    process.on("message", receive);
    process.on("close", childExited);
    signal.addEventListener("abort", stop, { once: true });
    if (process.exitCode !== null || process.signalCode !== null)
      return childExited(process.exitCode, process.signalCode);
    sendMessage(child, { type: "run", request });
    if (signal.aborted) stop();
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
