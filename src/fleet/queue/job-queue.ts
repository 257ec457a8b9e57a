// The job queue of a fleet: its jobs, their retries, and the schedules that start them.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { type FleetWorkspace, type LimitGroup, limitGroups, type RunLimit } from "../model/fleet.ts";
import {
  FLEET_COMMANDS,
  type FleetCommand,
  fieldsOf,
  isSettled,
  type ResultStatus,
  type WorkspaceResult,
} from "../model/result.ts";

export interface FleetJob {
  readonly workspace: string;
  readonly command: FleetCommand;
  /** Of a queued apply in waves. */
  readonly rollout?: { readonly id: string; readonly wave: string };
  /** The pause that holds the job back. */
  readonly paused?: string;
}

export interface RunningJob extends FleetJob {
  readonly id: string;
  readonly attempt: number;
  /** Whether a failure is followed by another try. */
  readonly isLastAttempt: boolean;
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

/** `waiting`: for the wave before it, for its time, or for the end of a pause. */
const JOB_STATES = ["queued", "waiting", "running"] as const;

export interface PresentJob extends FleetJob {
  readonly id: string;
  readonly state: (typeof JOB_STATES)[number];
  /** Unix times in milliseconds, by the clock of the database. */
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly startAfter: number;
  readonly attempt: number;
  readonly priority: number;
}

/** Of a later wave that cannot start, because a job of an earlier wave ended without success. */
export interface StoppedJob extends FleetJob {
  readonly id: string;
  readonly by: { readonly workspace: string; readonly wave: string; readonly isCancelled: boolean };
}

export interface DeadJob extends FleetJob {
  readonly id: string;
  /** The job that failed. */
  readonly source?: string;
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

/** A process that takes jobs. */
export interface QueueWorker {
  readonly name: string;
  readonly version: string;
  readonly heartbeatAt: number;
  readonly live: boolean;
  readonly running: number;
  readonly parallelism: number;
  readonly memoryBytes?: number;
}

export interface NewJob {
  readonly workspace: FleetWorkspace;
  readonly command: FleetCommand;
  readonly priority: number;
}

interface NewWave {
  readonly name: string;
  readonly jobs: readonly NewJob[];
}

export interface JobQueue {
  /** Returns the jobs that workspaces already have; these get no second one. */
  enqueue(jobs: readonly NewJob[]): Promise<readonly PresentJob[]>;
  /** All waves or none: each one waits until every job of the one before it is done. Returns the jobs that are in the way. */
  enqueueWaves(rollout: string, waves: readonly NewWave[]): Promise<readonly PresentJob[]>;
  /** Takes jobs until `stopTaking`, at most `parallelism` at the same time. */
  work(parallelism: number, run: (job: RunningJob) => Promise<JobOutcome>): Promise<void>;
  /** Takes no more jobs; resolves when the running ones have ended. */
  stopTaking(): Promise<void>;
  jobs(): Promise<readonly PresentJob[]>;
  /** The number of jobs that were not over yet. */
  cancel(jobs: readonly Pick<PresentJob, "id">[]): Promise<number>;
  wasCancelled(id: string): Promise<boolean>;
  /** Jobs that wait for a wave that ended without success. */
  stopped(): Promise<readonly StoppedJob[]>;
  /** Cancels jobs of `stopped` until `retryDead` continues their waves. */
  stop(ids: readonly string[]): Promise<void>;
  /** Puts a job that was taken back into the queue, as one step; it starts after `until`. */
  defer(job: RunningJob, workspace: FleetWorkspace, until: number, paused?: string): Promise<void>;
  /** How many other jobs of these workspaces run. */
  othersRunning(job: RunningJob, workspaces: readonly string[]): Promise<number>;
  /** Lets jobs start that these pauses hold back; returns their number. */
  release(pauses: readonly string[]): Promise<number>;
  workers(): Promise<readonly QueueWorker[]>;
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
  /** The options of its jobs, as text that is compared. */
  readonly options: string;
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
  limits: readonly RunLimit[] = [],
): ScheduleChanges {
  const storedByName = new Map(stored.map((schedule) => [schedule.workspace, schedule]));
  const wanted = workspaces.filter(({ schedule }) => schedule !== undefined);
  const names = new Set(wanted.map(({ name }) => name));
  const present = wanted.filter(({ name }) => storedByName.has(name));
  const changed = present.filter(
    (workspace) => !isStored(workspace, limits, storedByName.get(workspace.name)),
  );
  return {
    added: wanted.filter(({ name }) => !storedByName.has(name)),
    changed,
    removed: stored.flatMap(({ workspace }) => (names.has(workspace) ? [] : [workspace])),
    unchanged: present.length - changed.length,
  };
}

function isStored(
  workspace: FleetWorkspace,
  limits: readonly RunLimit[],
  stored: StoredSchedule | undefined,
): boolean {
  return (
    stored?.cron === workspace.schedule?.cron &&
    stored?.timezone === workspace.schedule?.timezone &&
    stored?.options === optionsText(scheduledOptions(workspace, limits))
  );
}

/** The options of a schedule that `workspace` sets, in one order. */
export function optionsText(options: Readonly<Record<string, unknown>>): string {
  const names = ["singletonKey", "expireInSeconds", "priority", "group", "startAfter"];
  return JSON.stringify(names.map((name) => options[name] ?? null));
}

/** A scheduled check, with its own moment within the jitter. */
export function scheduledOptions(workspace: FleetWorkspace, limits: readonly RunLimit[]) {
  const { jitterMs = 0 } = workspace.schedule ?? {};
  const startAfter =
    jitterMs === 0 ? {} : { startAfter: spreadOver(workspace.name, Math.round(jitterMs / 1000)) };
  return { ...jobOptions(workspace, PRIORITIES.drift, limitGroups(workspace, limits)[0]), ...startAfter };
}

/** The same for the same name, and spread evenly over all names: from 0 to `seconds`. */
export function spreadOver(name: string, seconds: number): number {
  let hash = 2_166_136_261;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return hash % (seconds + 1);
}

/** An apply that a person waits for overtakes the checks of a schedule. */
export const PRIORITIES: Readonly<Record<FleetCommand, number>> = {
  apply: 100,
  plan: 50,
  validate: 50,
  drift: 0,
};

export const QUEUE = "fleet";
export const DEAD_LETTERS = "fleet-dead";
/** Jobs that end a wave: they wait for its runs, and the next wave waits for them. */
export const GATES = "fleet-gates";

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

export const KEPT_A_MONTH = {
  retentionSeconds: 30 * 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
} as const;

/** Time for a run that was stopped to end, before the queue counts its job as failed. */
const EXPIRY_MARGIN_S = 60;

export function jobOptions(
  { name, timeoutMs }: Pick<FleetWorkspace, "name" | "timeoutMs">,
  priority = 0,
  group?: LimitGroup,
) {
  return {
    singletonKey: name,
    expireInSeconds: Math.ceil(timeoutMs / 1000) + EXPIRY_MARGIN_S,
    priority,
    ...(group && { group: { id: group.id, tier: group.tier } }),
  };
}

/** Undefined if the data was not written by `workspace`, or by a version with other commands. */
export function jobOf(data: unknown): FleetJob | undefined {
  const { workspace, command, rollout, paused } = fieldsOf<FleetJob>(data);
  const fleetCommand = FLEET_COMMANDS.find((name) => name === command);
  if (typeof workspace !== "string" || fleetCommand === undefined) return undefined;
  const { id, wave } = fieldsOf<NonNullable<FleetJob["rollout"]>>(rollout);
  return {
    workspace,
    command: fleetCommand,
    rollout: typeof id === "string" && typeof wave === "string" ? { id, wave } : undefined,
    paused: typeof paused === "string" ? paused : undefined,
  };
}

/** The program that wrote a job; undefined in jobs of earlier versions. */
export function writerOf(data: unknown): string | undefined {
  const { version } = fieldsOf<{ readonly version: string }>(data);
  return typeof version === "string" ? version : undefined;
}

/** In place of a name, for a job that `workspace` did not write. */
export const UNREADABLE = "?";

/** How often a job was put back without a try. */
export function deferralsOf(data: unknown): number {
  const { deferred } = fieldsOf<{ readonly deferred: number }>(data);
  return typeof deferred === "number" ? deferred : 0;
}
