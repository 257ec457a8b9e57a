// A worker: takes jobs of the queue, runs each under the lease of its workspace, records its result, and settles the job.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Clock } from "../../state/model/store.ts";
import { isPausedBy, maintenanceEnd, type Pauses } from "../database/pauses.ts";
import { busy, type WorkspaceLeases } from "../database/workspace-lease.ts";
import { type FleetWorkspace, limitGroups, type RunLimit } from "../model/fleet.ts";
import { isAnswer, isSettled, type ResultStore, type WorkspaceResult } from "../model/result.ts";
import { stopRollouts, wasCancelled } from "./ended-jobs.ts";
import { type JobOutcome, type JobQueue, type RunningJob, spreadOver } from "./job-queue.ts";

export interface WorkerOptions {
  readonly name: string;
  /** The version of the program. */
  readonly program: string;
  readonly workspaces: readonly FleetWorkspace[];
  readonly limits?: readonly RunLimit[] | undefined;
  readonly queue: JobQueue;
  readonly leases: WorkspaceLeases;
  readonly pauses: Pauses;
  readonly results: ResultStore;
  readonly clock: Clock;
  /** Never throws. `logged` receives the present log of the run. */
  readonly execute: (
    workspace: FleetWorkspace,
    job: RunningJob,
    signal: AbortSignal,
    logged: (log: string) => void,
  ) => Promise<WorkspaceResult>;
  readonly parallelism: number;
  /** Asks the worker to end: it accepts no more jobs. */
  readonly drain: AbortSignal;
  /** How long running jobs may take to finish then; after it they are stopped and another worker starts them again. */
  readonly drainMs: number;
}

export interface WorkerObserver {
  started?(job: RunningJob): void;
  finished(result: WorkspaceResult, job: RunningJob): void;
  /** A job that this worker did not finish; another try follows. */
  released(job: RunningJob, reason: Diagnostic): void;
}

/** Longer than a lease lasts: the worker of an earlier try may have been killed just before. */
const LEASE_PATIENCE_MS = 40_000;
const REPORTED_DIAGNOSTICS = 20;

/** Resolves when the worker was asked to end and its last job has ended. */
export async function runWorker(options: WorkerOptions, observer: WorkerObserver): Promise<void> {
  const { queue, drain, clock, drainMs, parallelism } = options;
  const stop = new AbortController();
  await queue.work(parallelism, (job) => runJob(options, observer, job, stop.signal));
  const rollouts = stopRolloutsUntil(drain, options);
  await aborted(drain);
  const idle = new AbortController();
  await Promise.all([
    Promise.all([queue.stopTaking(), rollouts]).finally(() => idle.abort()),
    clock.sleep(drainMs, idle.signal).then(() => stop.abort()),
  ]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A job also ends without a worker, such as after a lost heartbeat, so the workers look for waves that cannot start. */
const ROLLOUTS_MS = 5_000;

async function stopRolloutsUntil(drain: AbortSignal, options: WorkerOptions): Promise<void> {
  while (!drain.aborted) {
    // The queue reports an unreachable database, and the next look repeats this one.
    await stopRollouts(options).catch(() => undefined);
    await options.clock.sleep(ROLLOUTS_MS, drain);
  }
}

async function runJob(
  options: WorkerOptions,
  observer: WorkerObserver,
  job: RunningJob,
  stop: AbortSignal,
): Promise<JobOutcome> {
  const { name, program, workspaces, leases, drain } = options;
  const release = (reason: Diagnostic): JobOutcome => {
    observer.released(job, reason);
    return { outcome: "failed", output: { status: "failed", worker: name, diagnostics: [reason] } };
  };
  const workspace = workspaces.find((candidate) => candidate.name === job.workspace);
  if (workspace === undefined)
    return release(
      error("FLEET_UNKNOWN", `the fleet file of this worker has no workspace "${job.workspace}"`, {
        hint: "give every worker the same fleet file, then run `workspace fleet schedule`",
      }),
    );
  if (await isHeldBack(options, job, workspace)) return { outcome: "done", output: { status: "ok" } };
  const unbegun = AbortSignal.any([job.signal, drain]);
  const { command, attempt, id: run } = job;
  const holder = { worker: name, version: program, command, run, attempt };
  const lease = await leases.acquire(job.workspace, holder, LEASE_PATIENCE_MS, unbegun);
  if ("heldBy" in lease) return release(busy(job.workspace, lease.heldBy));
  try {
    const signal = AbortSignal.any([job.signal, lease.lost, stop]);
    return await runLeased(options, observer, job, workspace, signal, lease.logged);
  } finally {
    await lease.release();
  }
}

/** A time that no queue reaches: until `fleet resume`. */
const UNTIL_RESUMED = Date.UTC(2200, 0);

/** Puts a job of a paused workspace back: it starts after the pause. */
async function isHeldBack(
  options: WorkerOptions,
  job: RunningJob,
  workspace: FleetWorkspace,
): Promise<boolean> {
  const { pauses, queue, results, limits = [] } = options;
  const pause = (await pauses.list()).find((candidate) => isPausedBy(candidate, workspace, job.command));
  if (pause !== undefined) {
    await queue.defer(job, workspace, pause.until ?? UNTIL_RESUMED, pause.id);
    return true;
  }
  if (await isLimited(options, job, workspace, limits)) {
    // Two jobs that saw each other must not meet again.
    const wait = GROUP_WAIT_MS + spreadOver(`${job.id} ${job.attempt} ${await results.now()}`, GROUP_WAIT_MS);
    await queue.defer(job, workspace, (await results.now()) + wait);
    return true;
  }
  if (workspace.maintenance === undefined) return false;
  const end = maintenanceEnd(workspace, await results.now());
  if (end === undefined) return false;
  await queue.defer(job, workspace, end);
  return true;
}

const GROUP_WAIT_MS = 1_000;

/** Whether the other runs of a group are all that may run. The queue itself counts the first group alone. */
async function isLimited(
  { queue, workspaces }: WorkerOptions,
  job: RunningJob,
  workspace: FleetWorkspace,
  limits: readonly RunLimit[],
): Promise<boolean> {
  for (const { id, runs } of limitGroups(workspace, limits)) {
    const members = workspaces.filter((other) => limitGroups(other, limits).some((group) => group.id === id));
    const names = members.map(({ name }) => name);
    if ((await queue.othersRunning(job, names)) >= runs) return true;
  }
  return false;
}

async function runLeased(
  options: WorkerOptions,
  observer: WorkerObserver,
  job: RunningJob,
  workspace: FleetWorkspace,
  signal: AbortSignal,
  logged: (log: string) => void,
): Promise<JobOutcome> {
  const { name, execute, results, queue } = options;
  observer.started?.(job);
  const result = await execute(workspace, job, signal, logged);
  if (result.status === "interrupted") {
    if (await queue.wasCancelled(job.id).catch(() => false)) {
      const diagnostics = [wasCancelled(job), ...result.diagnostics];
      const recorded = { ...result, diagnostics };
      await results.add(recorded, job.id);
      observer.finished(recorded, job);
      return { outcome: "dead", output: { status: "interrupted", worker: name, diagnostics } };
    }
    const reason = interrupted(job.workspace);
    observer.released(job, reason);
    return { outcome: "failed", output: { status: "interrupted", worker: name, diagnostics: [reason] } };
  }
  const isDone = job.rollout === undefined ? isSettled(result) : isAnswer(result);
  const triedAgain = !isDone && !job.isLastAttempt && isTriedAgain(job, result);
  const recorded = triedAgain ? { ...result, triedAgain } : result;
  // The result is durable before the job is done. A crash between the two repeats the job and replaces the result.
  await results.add(recorded, job.id);
  observer.finished(recorded, job);
  if (isDone) return { outcome: "done", output: { status: result.status } };
  const diagnostics = result.diagnostics.slice(0, REPORTED_DIAGNOSTICS);
  return {
    outcome: triedAgain ? "failed" : "dead",
    output: { status: result.status, worker: name, diagnostics },
  };
}

/** A run that ends its process might end the next one too, so there is one more try. */
const MOST_CRASHES = 2;

/** Only a problem that can pass is tried again. A wrong spec stays wrong, and a person decides about an apply that began to write. */
export function isTriedAgain(
  { command, attempt }: Pick<RunningJob, "command" | "attempt">,
  result: WorkspaceResult,
): boolean {
  if (result.status === "crashed")
    return attempt < MOST_CRASHES && result.isRepeated !== true && command !== "apply";
  // A run that hangs would occupy its place as long again, while other jobs wait.
  if (result.status !== "failed" || result.wrote === true) return false;
  const errors = result.diagnostics.filter(({ severity }) => severity === "error");
  return errors.length > 0 && errors.every((diagnostic) => canHeal(diagnostic, result));
}

const HEALING: ReadonlySet<string> = new Set([
  "API_UNREACHABLE",
  "API_TIMEOUT",
  "STATE_LOCKED",
  "STATE_LOCK_LOST",
  "STATE_IO",
  "PLAN_UNREADABLE",
  "FLEET_BUSY",
]);

/** A certificate that is not trusted, and a request that is not valid, are problems of the configuration. */
const LASTING = /certificate .*not trusted|is not valid|cannot be resolved/;

function canHeal({ code, message }: Diagnostic, { requests }: WorkspaceResult): boolean {
  if (HEALING.has(code)) return !LASTING.test(message);
  const status = requests?.lastStatus ?? 0;
  return code === "API_REFUSED" && (status === 429 || status >= 500);
}

function interrupted(workspace: string): Diagnostic {
  return error("FLEET_BUSY", `the run of ${workspace} was stopped; another worker starts it again`, {
    hint: "no action is needed; the queue repeats the job",
  });
}
