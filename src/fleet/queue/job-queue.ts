// The queue of a fleet, as its commands use it.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import type { FleetCommand, ResultStatus } from "../model/result.ts";
import type { FleetJob } from "./job.ts";
import type { StoredSchedule } from "./schedules.ts";

export interface RunningJob extends FleetJob {
  readonly id: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborts when the job no longer belongs to this worker. */
  readonly signal: AbortSignal;
}

/** `failed` is tried again, with a limit; `dead` is not. Both leave what a person needs to find the cause. */
export type JobOutcome =
  | { readonly outcome: "done"; readonly output: { readonly status: ResultStatus } }
  | { readonly outcome: "failed" | "dead"; readonly output: JobFailure };

export interface JobFailure {
  readonly status: ResultStatus;
  readonly worker: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface DeadJob extends FleetJob {
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly failedAt: number;
  readonly attempts: number;
  /** `message`: of the queue itself, such as a lost heartbeat. */
  readonly failure: Partial<JobFailure> & Pick<JobFailure, "diagnostics"> & { readonly message?: string };
}

export interface JobQueue {
  /** Returns the workspaces that already have a job; they get no second one. */
  enqueue(workspaces: readonly FleetWorkspace[], command: FleetCommand): Promise<readonly string[]>;
  /** Takes jobs until `stopTaking`, at most `parallelism` at the same time. */
  work(parallelism: number, run: (job: RunningJob) => Promise<JobOutcome>): Promise<void>;
  /** Takes no more jobs; resolves when the running ones have ended. */
  stopTaking(): Promise<void>;
  schedules(): Promise<readonly StoredSchedule[]>;
  putSchedule(workspace: FleetWorkspace): Promise<void>;
  removeSchedule(workspace: string): Promise<void>;
  dead(): Promise<readonly DeadJob[]>;
  /** Returns how many jobs went into the queue; a workspace that already has a job keeps its dead letter. */
  retryDead(ids: readonly string[]): Promise<number>;
  removeDead(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
