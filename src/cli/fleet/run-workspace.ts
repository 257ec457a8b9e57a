// Runs one command on one workspace of a fleet: the same command as for one workspace, in this process, with a separate environment.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import type { CommandContext } from "../../config/environment.ts";
import { DEFAULT_FILE, fileFailure } from "../../config/files.ts";
import { collectedOutput, Signals } from "../../config/streams.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import type { Fleet, FleetWorkspace } from "../../fleet/model/fleet.ts";
import { answerOf, type FleetCommand, type WorkspaceResult } from "../../fleet/model/result.ts";
import { FLEET_FOLDER } from "../../fleet/state-location.ts";
import { EXIT } from "../command/exit-codes.ts";
import { environmentOf, hostProblem } from "./workspace-environment.ts";

export interface WorkspaceRun {
  readonly context: CommandContext;
  readonly fleet: Fleet;
  readonly command: FleetCommand;
  /** More arguments of the command, such as `--adopt`. */
  readonly extra: readonly string[];
  readonly worker?: string;
  /** Lease of the state lock, unless the fleet file names one. */
  readonly stateLease?: string;
}

/** How long a stopped command may take to end. Then its workspace counts as timed out. */
const GRACE_MS = 15_000;

/** Never throws. A timeout or an aborted signal stops the run like Ctrl-C. */
export async function runWorkspace(
  run: WorkspaceRun,
  workspace: FleetWorkspace,
  signal: AbortSignal | undefined,
): Promise<WorkspaceResult> {
  const { context, fleet, command, extra, worker, stateLease } = run;
  const startedAt = Date.now();
  const finish = (result: Pick<WorkspaceResult, "status" | "counts" | "drift" | "diagnostics">) => ({
    workspace: workspace.name,
    command,
    startedAt,
    durationMs: Date.now() - startedAt,
    worker,
    ...result,
  });
  const { env, missing } = environmentOf(context, fleet, workspace);
  const problems = [...refusalOf(run, workspace), ...(command === "validate" ? [] : missing)];
  if (problems.length > 0) return finish({ status: "failed", counts: {}, drift: {}, diagnostics: problems });
  const signals = new Signals(() => undefined);
  let timedOut = false;
  const stop = (): void => {
    signals.receive("SIGTERM");
    // The second signal ends the run at once, also one that hangs.
    setTimeout(() => signals.receive("SIGTERM"), GRACE_MS).unref();
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop();
  }, workspace.timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  const abandoned = new AbortController();
  const stdout = collectedOutput(process.stdout);
  const stderr = collectedOutput(process.stdout);
  try {
    const lease = stateLease === undefined ? {} : { WORKSPACE_LEASE: stateLease };
    const inner = {
      ...context,
      env: { ...lease, ...env },
      cwd: fleet.folder,
      stdin: Readable.from([]),
      stdout,
      stderr,
      signals,
      abandoned: abandoned.signal,
    };
    const code =
      (await context.runProgram?.(inner, argumentsOf(fleet, workspace, command, extra))) ?? EXIT.error;
    const answer = answerOf(command, stdout.text());
    if (timedOut)
      return finish({
        ...answer,
        status: "timeout",
        diagnostics: [timeout(workspace), ...answer.diagnostics],
      });
    if (signal?.aborted === true) return finish({ ...answer, status: "interrupted" });
    return { ...finish({ ...answer, status: statusOf(code, command, answer) }), exitCode: code };
  } catch (problem) {
    return finish({ status: "failed", counts: {}, drift: {}, diagnostics: diagnosticsOf(problem) });
  } finally {
    // A command that was stopped may still wait for an answer.
    abandoned.abort();
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

function argumentsOf(
  fleet: Fleet,
  { name, spec, target, host, profile, state, variables }: FleetWorkspace,
  command: FleetCommand,
  extra: readonly string[],
): readonly string[] {
  const option = (flag: string, value: string | undefined) => (value === undefined ? [] : [flag, value]);
  return [
    command,
    ...option("--file", specFile(resolve(fleet.folder, spec))),
    ...option("--target", target),
    ...option("--host", host),
    ...option("--profile", profile),
    ...option("--state", state ?? join(FLEET_FOLDER, name)),
    ...Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}=${value}`]),
    ...(command === "plan" ? ["--detailed-exitcode"] : []),
    ...(command === "apply" ? ["--auto-approve", "--no-input"] : []),
    ...option("--output", "json"),
    ...extra,
  ];
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

function statusOf(
  code: number,
  command: FleetCommand,
  { counts }: Pick<WorkspaceResult, "counts">,
): WorkspaceResult["status"] {
  if (code === EXIT.refused || code === EXIT.stale) return "blocked";
  if (code === EXIT.changes) return "changes";
  if (code !== EXIT.ok) return "failed";
  return command === "apply" && Object.values(counts).some((count) => count > 0) ? "changes" : "ok";
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

function timeout({ timeoutMs }: FleetWorkspace): Diagnostic {
  return error("FLEET_TIMEOUT", `the run did not end within ${timeoutMs / 1000} s`, {
    hint: "check that the workspace responds, or raise timeout in the fleet file",
  });
}
