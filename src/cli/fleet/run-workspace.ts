// Runs one command on one workspace of a fleet in a child process with a separate environment, a memory limit, and a time limit. WORKSPACE_FLEET_HOSTS
// limits the hosts of a fleet file.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseHost } from "../../api/auth/endpoints.ts";
import type { CommandContext, ProcessContext, ProcessEnvironment } from "../../config/environment.ts";
import { DEFAULT_FILE, fileFailure } from "../../config/files.ts";
import { EMBEDDED } from "../../config/settings.ts";
import { PROGRAM } from "../../config/version.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { SENSITIVE_TEXT, SensitiveTexts } from "../../core/sensitive/texts.ts";
import { count } from "../../core/sentences.ts";
import {
  FLEET_FOLDER,
  type Fleet,
  type FleetWorkspace,
  isNameOfCredential,
  stateIdentity,
} from "../../fleet/model/fleet.ts";
import type { FleetCommand, RequestFacts, WorkspaceResult } from "../../fleet/model/result.ts";
import { openVariables } from "../../spec/variables/variables.ts";
import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/database.ts";
import type { RunAnswer, RunRequest } from "./child-messages.ts";
import type { ChildPool } from "./child-pool.ts";

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
      // The requests of a stopped run end because it was stopped; so they are not a second problem.
      const others =
        type === "answer" ? answer.diagnostics.filter(({ severity }) => severity !== "error") : [];
      return finish({
        ...answer,
        status: "timeout",
        exitCode: undefined,
        diagnostics: [timeout(workspace, facts), ...others],
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

/**
 * The workspaces with `(sensitive)` in place of each value of a variable that its spec does not declare as open, or whose name is that of a credential,
 * and of each value that contains one of these.
 */
export function withOpenVariables(
  { folder }: Fleet,
  workspaces: Fleet["workspaces"],
): readonly FleetWorkspace[] {
  const declared = new Map<string, ReadonlySet<string>>();
  const openIn = (spec: string): ReadonlySet<string> => {
    const names = declared.get(spec) ?? openVariablesOf(resolve(folder, spec));
    declared.set(spec, names);
    return names;
  };
  return workspaces.map((workspace) => {
    const isOpen = (name: string): boolean => !isNameOfCredential(name) && openIn(workspace.spec).has(name);
    const hidden = new SensitiveTexts();
    for (const [name, value] of Object.entries(workspace.variables)) if (!isOpen(name)) hidden.add(value);
    const shown = Object.entries(workspace.variables).map(([name, value]) => [
      name,
      isOpen(name) && !hidden.hasLong(value) ? value : SENSITIVE_TEXT,
    ]);
    return { ...workspace, variables: Object.fromEntries(shown) };
  });
}

function openVariablesOf(path: string): ReadonlySet<string> {
  try {
    return openVariables(specFile(path));
  } catch (problem) {
    if (problem instanceof Failure) return new Set();
    throw problem;
  }
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
  { lastStatus, host = "the host", sent = 0, unanswered = 0 }: Partial<RequestFacts>,
): Diagnostic {
  const seconds = timeoutMs / 1000;
  const answered = lastStatus === 0 ? "no complete answer" : `${lastStatus ?? "no answer"}`;
  const last =
    sent === 0
      ? ", and sent no request"
      : `: ${answered} from ${host}, ${count(sent, "request")} in ${seconds} s${unanswered === 0 ? "" : `, ${unanswered} without an answer`}`;
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

/** Connections and credentials of the caller: a workspace gets only those that the fleet file names for it. */
const CONNECTION = /^(?:WORKSPACE_|DATABRICKS_|ARM_)/;

/** Variables that are neither. */
const SHARED: ReadonlySet<string> = new Set([
  "WORKSPACE_ACTOR",
  "WORKSPACE_COMMIT",
  "WORKSPACE_RUN_URL",
  "WORKSPACE_PARALLELISM",
  "WORKSPACE_READ_TIMEOUT",
  "WORKSPACE_DEBUG",
]);

/** Paths of the caller. A run starts in another folder, so they become absolute. */
const SHARED_PATHS = ["WORKSPACE_CA_FILE", "WORKSPACE_CONFIG_FILE"] as const;

/** The rules that every plan must meet are the caller's: no fleet file replaces them. */
const RULES = "WORKSPACE_RULES";

export function environmentOf(
  { env: outer, cwd }: Pick<ProcessContext, "env" | "cwd">,
  fleet: Fleet,
  workspace: FleetWorkspace,
): { readonly env: ProcessEnvironment; readonly missing: readonly Diagnostic[] } {
  const sources = new Set(fleet.workspaces.flatMap(({ environment }) => Object.values(environment)));
  const shared = Object.entries(outer).filter(
    ([name]) => !sources.has(name) && (SHARED.has(name) || !CONNECTION.test(name)),
  );
  const pathOf = (name: string): readonly (readonly [string, string])[] => {
    const path = outer[name];
    return path === undefined || path === "" ? [] : [[name, resolve(cwd, path)]];
  };
  const own = Object.entries(workspace.environment).map(([name, source]) => [name, outer[source]] as const);
  // An empty variable counts as unset, and the sign-in would use another credential of the caller.
  const missing = Object.values(workspace.environment).filter((source) => !outer[source]);
  return {
    env: Object.fromEntries([...shared, ...SHARED_PATHS.flatMap(pathOf), ...own, ...pathOf(RULES)]),
    missing: missing.map((name) =>
      error("FLEET_VARIABLE", `the environment variable ${name} is not set`, {
        hint: `set ${name}, or change environment in the fleet file`,
      }),
    ),
  };
}

const FLEET_HOSTS = "WORKSPACE_FLEET_HOSTS";

/** Undefined if the workspace and its state are where they may be, or if the variable is not set. Throws Failure for an invalid host. */
export function hostProblem(
  env: ProcessEnvironment,
  { folder }: Pick<Fleet, "folder">,
  workspace: FleetWorkspace,
): Diagnostic | undefined {
  const listed = env[FLEET_HOSTS];
  if (listed === undefined || listed.trim() === "") return undefined;
  const patterns = listed.split(/[\s,]+/).filter((pattern) => pattern !== "");
  const isPermitted = (host: string): boolean => patterns.some((pattern) => matches(pattern, host));
  const { host, state } = workspace;
  if (host !== undefined && host !== EMBEDDED) {
    const { origin } = parseHost(host);
    const shown = origin.replace(/^https:\/\//, "");
    if (!isPermitted(shown)) return refused(`the host ${shown}`);
  }
  if (state === undefined || state.startsWith("workspace:")) return undefined;
  if (!isPostgresUrl(state))
    return stateIdentity(folder, workspace).startsWith(`file:${folder}/`)
      ? undefined
      : refused("a state outside the folder of the fleet file");
  const database = parsePostgresUrl(state, "state", env);
  const place = `${database.host ?? ""}${database.port === 5432 ? "" : `:${database.port}`}`;
  return isPermitted(place) ? undefined : refused(`the host ${place} of the state`);
}

/** `*.example.com` is every name below example.com. Plain http is permitted only where the pattern says it. */
function matches(pattern: string, host: string): boolean {
  const [lowerPattern, lowerHost] = [pattern.toLowerCase().replace(/^https:\/\//, ""), host.toLowerCase()];
  if (!lowerPattern.startsWith("*.")) return lowerPattern === lowerHost;
  return lowerHost.endsWith(lowerPattern.slice(1)) && !lowerHost.includes("/");
}

const HINT = `change the fleet file, or add the host to ${FLEET_HOSTS} if credentials may be sent there`;

function refused(what: string): Diagnostic {
  return error("FLEET_HOST", `${what} is not permitted by ${FLEET_HOSTS}`, { hint: HINT });
}
