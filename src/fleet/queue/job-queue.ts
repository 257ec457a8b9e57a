// The job queue of a fleet: its jobs, their retries, and the schedules that start them.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import {
  FLEET_COMMANDS,
  type FleetCommand,
  isSettled,
  type ResultStatus,
  type WorkspaceResult,
} from "../model/result.ts";

export interface RunningJob extends FleetJob {
  readonly id: string;
  readonly attempt: number;
  /** Aborts when the job no longer belongs to this worker. */
  readonly signal: AbortSignal;
}

/** `failed` is tried again, with a limit; `dead` is not. Both leave what a person needs to find the cause. */
export type JobOutcome =
  | { readonly outcome: "done"; readonly output: { readonly status: ResultStatus } }
  | { readonly outcome: "failed" | "dead"; readonly output: JobFailure };

interface JobFailure {
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

/** Without those whose command succeeded in the same workspace later, also by hand. */
export function unsettled(
  dead: readonly DeadJob[],
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
): readonly DeadJob[] {
  return dead.filter(({ workspace, command, failedAt }) => {
    const later = results.get(workspace)?.filter(({ startedAt }) => startedAt > failedAt) ?? [];
    return !later.some((result) => result.command === command && isSettled(result));
  });
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
  retryDead(jobs: readonly DeadJob[]): Promise<number>;
  removeDead(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface StoredSchedule {
  readonly workspace: string;
  readonly cron: string;
  readonly timezone: string;
  readonly expireInSeconds?: number;
}

interface ScheduleChanges {
  readonly added: readonly FleetWorkspace[];
  readonly changed: readonly FleetWorkspace[];
  readonly removed: readonly string[];
  readonly unchanged: number;
}

export function scheduleChanges(
  workspaces: readonly FleetWorkspace[],
  stored: readonly StoredSchedule[],
): ScheduleChanges {
  const known = new Map(stored.map((one) => [one.workspace, one]));
  const wanted = workspaces.filter(({ schedule }) => schedule !== undefined);
  const names = new Set(wanted.map(({ name }) => name));
  const present = wanted.filter(({ name }) => known.has(name));
  const changed = present.filter((one) => !isStored(one, known.get(one.name)));
  return {
    added: wanted.filter(({ name }) => !known.has(name)),
    changed,
    removed: stored.flatMap(({ workspace }) => (names.has(workspace) ? [] : [workspace])),
    unchanged: present.length - changed.length,
  };
}

function isStored(workspace: FleetWorkspace, stored: StoredSchedule | undefined): boolean {
  return (
    stored?.cron === workspace.schedule?.cron &&
    stored?.timezone === workspace.schedule?.timezone &&
    stored?.expireInSeconds === jobOptions(workspace).expireInSeconds
  );
}

interface FleetJob {
  readonly workspace: string;
  readonly command: FleetCommand;
}

export const QUEUE = "fleet";
export const DEAD_LETTERS = "fleet-dead";

/** Jobs without a heartbeat for this long start again on another worker. */
const HEARTBEAT_S = 20;
export const HEARTBEAT_REFRESH_S = 5;
/** How often one of the workers looks for jobs without a heartbeat. */
export const SUPERVISION_S = 5;

/** One job a workspace. Waits are short, so that a job whose workers were killed starts again within a minute. */
export const QUEUE_OPTIONS = {
  deadLetter: DEAD_LETTERS,
  heartbeatSeconds: HEARTBEAT_S,
  retryLimit: 5,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 15,
  /** A job that no worker took for a day is removed: its command no longer fits the day. */
  retentionSeconds: 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
} as const;

export const DEAD_LETTER_OPTIONS = {
  retentionSeconds: 30 * 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
} as const;

/** Time for a run that was stopped to end, before the queue counts its job as failed. */
const EXPIRY_MARGIN_S = 60;

export function jobOptions({ name, timeoutMs }: Pick<FleetWorkspace, "name" | "timeoutMs">) {
  return { singletonKey: name, expireInSeconds: Math.ceil(timeoutMs / 1000) + EXPIRY_MARGIN_S } as const;
}

/** Undefined if the data was not written by `workspace`. */
export function jobOf(data: unknown): FleetJob | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { workspace, command } = data as Partial<Record<string, unknown>>;
  const known = FLEET_COMMANDS.find((one) => one === command);
  return typeof workspace === "string" && known !== undefined ? { workspace, command: known } : undefined;
}
