// A worker: takes jobs of the queue, runs each under the lease of its workspace, records its result, and settles the job.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Clock } from "../../state/model/store.ts";
import { busy, type WorkspaceLeases } from "../database/lease.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import { type FleetCommand, isSettled, type ResultStore, type WorkspaceResult } from "../model/result.ts";
import type { JobOutcome, JobQueue, RunningJob } from "./job-queue.ts";

export interface WorkerOptions {
  readonly name: string;
  readonly workspaces: readonly FleetWorkspace[];
  readonly queue: JobQueue;
  readonly leases: WorkspaceLeases;
  readonly results: ResultStore;
  readonly clock: Clock;
  /** Never throws. */
  readonly execute: (
    workspace: FleetWorkspace,
    command: FleetCommand,
    signal: AbortSignal,
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
const KEPT_DIAGNOSTICS = 20;

/** Resolves when the worker was asked to end and its last job has ended. */
export async function runWorker(options: WorkerOptions, observer: WorkerObserver): Promise<void> {
  const { queue, drain, clock, drainMs, parallelism } = options;
  const stop = new AbortController();
  await queue.work(parallelism, (job) => runJob(options, observer, job, stop.signal));
  await aborted(drain);
  const idle = new AbortController();
  await Promise.all([
    queue.stopTaking().finally(() => idle.abort()),
    clock.sleep(drainMs, idle.signal).then(() => stop.abort()),
  ]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function runJob(
  options: WorkerOptions,
  observer: WorkerObserver,
  job: RunningJob,
  stop: AbortSignal,
): Promise<JobOutcome> {
  const { name, workspaces, leases, drain } = options;
  const release = (reason: Diagnostic): JobOutcome => {
    observer.released(job, reason);
    return { outcome: "failed", output: { status: "failed", worker: name, diagnostics: [reason] } };
  };
  const workspace = workspaces.find((one) => one.name === job.workspace);
  if (workspace === undefined) return release(unknownWorkspace(job));
  const unbegun = AbortSignal.any([job.signal, drain]);
  const lease = await leases.acquire(job.workspace, name, LEASE_PATIENCE_MS, unbegun);
  if ("heldBy" in lease) return release(busy(job.workspace, lease.heldBy));
  try {
    return await runLeased(
      options,
      observer,
      job,
      workspace,
      AbortSignal.any([job.signal, lease.lost, stop]),
    );
  } finally {
    await lease.release();
  }
}

async function runLeased(
  { name, execute, results }: WorkerOptions,
  observer: WorkerObserver,
  job: RunningJob,
  workspace: FleetWorkspace,
  signal: AbortSignal,
): Promise<JobOutcome> {
  observer.started?.(job);
  const result = await execute(workspace, job.command, signal);
  if (result.status === "interrupted") {
    const reason = interrupted(job.workspace);
    observer.released(job, reason);
    return { outcome: "failed", output: { status: "interrupted", worker: name, diagnostics: [reason] } };
  }
  // The result is durable before the job is done. A crash between the two repeats the job and replaces the result.
  await results.add(result, job.id);
  observer.finished(result, job);
  if (isSettled(result)) return { outcome: "done", output: { status: result.status } };
  const diagnostics = result.diagnostics.slice(0, KEPT_DIAGNOSTICS);
  return {
    outcome: isFinal(job.command, result) ? "dead" : "failed",
    output: { status: result.status, worker: name, diagnostics },
  };
}

/** An apply that failed is for people to judge. A run that hangs would occupy its place as long again, while other jobs wait. */
function isFinal(command: FleetCommand, result: WorkspaceResult): boolean {
  return result.status === "timeout" || (command === "apply" && !isLocked(result));
}

/** Another process, such as the lost worker of an earlier try, holds the lock of the state until its lease expires. */
function isLocked({ diagnostics }: WorkspaceResult): boolean {
  return diagnostics.some(({ code }) => code === "STATE_LOCKED");
}

function unknownWorkspace({ workspace }: RunningJob): Diagnostic {
  return error("FLEET_UNKNOWN", `the fleet file of this worker has no workspace "${workspace}"`, {
    hint: "give every worker the same fleet file, then run `workspace fleet schedule`",
  });
}

function interrupted(workspace: string): Diagnostic {
  return error("FLEET_BUSY", `the run of ${workspace} was stopped; another worker starts it again`, {
    hint: "no action is needed; the queue repeats the job",
  });
}
