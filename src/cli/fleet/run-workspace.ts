// Runs one command on one workspace of a fleet in a child process with a separate environment, a memory limit, and a time limit.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { DEFAULT_FILE, fileFailure } from "../../config/files.ts";
import { PROGRAM } from "../../config/version.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { count } from "../../core/sentences.ts";
import type { Fleet, FleetWorkspace } from "../../fleet/model/fleet.ts";
import { FLEET_FOLDER } from "../../fleet/model/fleet.ts";
import type { FleetCommand, RequestFacts, RunAnswer, WorkspaceResult } from "../../fleet/model/result.ts";
import type { RunRequest } from "../../fleet/model/run-message.ts";
import type { ChildPool } from "./child-pool.ts";
import { environmentOf, hostProblem } from "./workspace-environment.ts";

export interface WorkspaceRun {
  readonly context: CommandContext;
  readonly fleet: Fleet;
  readonly command: FleetCommand;
  readonly children: ChildPool;
  readonly adopt?: boolean;
  readonly lockTimeoutMs?: number;
  readonly worker?: string;
  readonly attempt?: number;
  /** For workspaces without a limit of their own. */
  readonly memoryMb: number;
  /** Lease of the state lock, unless the fleet file names one. */
  readonly stateLease?: string;
  /** Receives the whole log of the run each time that it grows. */
  readonly logged?: (log: string) => void;
}

/** How long a stopped run may take to finish its requests in flight. Then its process is ended. */
const GRACE_MS = 15_000;

/** Never throws. A timeout or an aborted signal stops the run; a process that does not stop is ended. */
export async function runWorkspace(
  run: WorkspaceRun,
  workspace: FleetWorkspace,
  signal: AbortSignal | undefined,
): Promise<WorkspaceResult> {
  const { context, fleet, command, worker, attempt } = run;
  const startedAt = Date.now();
  const log = new RunLogText();
  const finish = (answer: RunAnswer): WorkspaceResult => ({
    workspace: workspace.name,
    command,
    startedAt,
    durationMs: Date.now() - startedAt,
    worker,
    version: PROGRAM,
    attempt,
    ...answer,
    ...(log.text === "" ? {} : { log: log.text }),
  });
  const { env, missing } = environmentOf(context, fleet, workspace);
  const problems = [...refusalOf(run, workspace), ...(command === "validate" ? [] : missing)];
  if (problems.length > 0) return finish(failed(problems));
  const logged = (text: string): void => {
    log.add(text);
    run.logged?.(log.text);
  };
  try {
    const request = requestOf(run, workspace, env);
    const { type, answer, timedOut, requests } = await run.children.run({
      request,
      memoryMb: workspace.memoryMb ?? run.memoryMb,
      alone: command === "apply" || workspace.memoryMb !== undefined,
      timeoutMs: workspace.timeoutMs,
      signal,
      graceMs: GRACE_MS,
      logged,
    });
    if (timedOut) {
      const facts = { host: request.host, ...requests, ...answer.requests };
      const diagnostics = type === "answer" ? withoutStop(answer.diagnostics) : [];
      return finish({
        ...answer,
        status: "timeout",
        exitCode: undefined,
        diagnostics: [timeout(workspace, facts), ...diagnostics],
      });
    }
    if (signal?.aborted === true) return finish({ ...answer, status: "interrupted", exitCode: undefined });
    return finish(answer);
  } catch (problem) {
    return finish(failed(diagnosticsOf(problem)));
  }
}

function failed(diagnostics: readonly Diagnostic[]): RunAnswer {
  return { status: "failed", counts: {}, drift: {}, diagnostics };
}

/** The requests of a stopped run end because it was stopped; so they are not a second problem. */
function withoutStop(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity !== "error");
}

function requestOf(
  { context, fleet, command, adopt = false, lockTimeoutMs, stateLease }: WorkspaceRun,
  { name, spec, target, host, profile, state, variables }: FleetWorkspace,
  env: RunRequest["env"],
): RunRequest {
  const lease = defined({ WORKSPACE_LEASE: stateLease });
  return {
    command,
    workspace: name,
    env: { ...lease, ...env },
    cwd: fleet.folder,
    home: context.home,
    file: specFile(resolve(fleet.folder, spec)),
    target,
    host,
    profile,
    state: state ?? join(FLEET_FOLDER, name),
    variables: Object.entries(variables).map(([variable, value]) => `${variable}=${value}`),
    adopt,
    lockTimeoutMs,
  };
}

/** Throws Failure for a path that the system refuses, such as a link to itself. */
function specFile(path: string): string {
  try {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return isFolder ? join(path, DEFAULT_FILE) : path;
  } catch (problem) {
    throw fileFailure("the spec cannot be read", problem, "check spec in the fleet file");
  }
}

/** Before the command has any credential. */
function refusalOf({ context, fleet }: WorkspaceRun, workspace: FleetWorkspace): readonly Diagnostic[] {
  try {
    const problem = hostProblem(context.env, fleet, workspace);
    return problem === undefined ? [] : [problem];
  } catch (problem) {
    return diagnosticsOf(problem);
  }
}

/** With what the run was waiting for: a host that answers 429 looks like a slow one otherwise. */
function timeout(
  { timeoutMs }: FleetWorkspace,
  { lastStatus, host = "the host", sent = 0 }: Partial<RequestFacts>,
): Diagnostic {
  const seconds = timeoutMs / 1000;
  const answered = lastStatus === 0 ? "no complete answer" : `${lastStatus ?? "no answer"}`;
  const last =
    sent === 0
      ? ", and sent no request"
      : `: ${answered} from ${host}, ${count(sent, "request")} in ${seconds} s`;
  return error("FLEET_TIMEOUT", `the run did not end within ${seconds} s${last}`, {
    hint: timeoutHint(lastStatus, sent),
  });
}

/** Characters that a result keeps of its log. */
const LONGEST_LOG = 32_768;
const HEAD = 4_096;

/** The log of a run while it grows: the first lines, which say what ran, and the last ones, which say how it ended. */
class RunLogText {
  #head = "";
  #tail = "";
  #dropped = 0;

  add(text: string): void {
    const room = HEAD - this.#head.length;
    const first = this.#tail === "" && this.#dropped === 0 ? wholeLines(text, room) : "";
    this.#head += first;
    this.#tail += text.slice(first.length);
    if (this.#tail.length <= LONGEST_LOG) return;
    const cut = this.#tail.indexOf("\n", this.#tail.length - LONGEST_LOG / 2) + 1;
    this.#dropped += this.#tail.slice(0, cut).split("\n").length - 1;
    this.#tail = this.#tail.slice(cut);
  }

  get text(): string {
    const gap = this.#dropped === 0 ? "" : `… ${this.#dropped} lines left out …\n`;
    return `${this.#head}${gap}${this.#tail}`;
  }
}

function wholeLines(text: string, room: number): string {
  if (text.length <= room) return text;
  return text.slice(0, text.lastIndexOf("\n", Math.max(0, room - 1)) + 1);
}

function timeoutHint(lastStatus: number | undefined, sent: number): string {
  if (sent === 0)
    return "check the load of the machine, the size of the spec, and the state, or raise timeout in the fleet file";
  return lastStatus === 429
    ? "the host limits requests: lower limits in the fleet file or --parallelism, or raise timeout"
    : "check that the workspace responds, or raise timeout in the fleet file";
}
