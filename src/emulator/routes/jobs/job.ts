// A stored job, its lookup, its settings as a request gives them, checked and completed, and its answer (contract B 2.2; facts 4.8).

import { defined, type JsonObject } from "../../../core/json.ts";
import { isTimeZone, quartzProblem } from "../../../core/quartz.ts";
import { principalNameById } from "../../world/directory.ts";
import { type ApiError, invalidValue } from "../../world/errors.ts";
import { JOBS } from "../../world/limits.ts";
import { type Collection, extraOf, type World } from "../../world/world.ts";
import { type GivenTask, readTask } from "./task.ts";

export interface Creator {
  readonly creator_user_id: string;
  readonly creator_user_name: string;
}

export interface Job extends Creator {
  readonly job_id: number;
  readonly created_time: number;
  readonly settings: JobSettings;
  /** Runs that the job ever had: the number of the last one. */
  readonly runs: number;
}

/** Jobs and one-time runs take their ids from one sequence. */
const FIRST_ID = 620_001;

export const jobsOf = (world: World): Collection<Job> => world.collection("jobs");
const issuedOf = (world: World): Collection<number> => world.collection("jobs.issued");

export function newJobId(world: World): number {
  const id = world.next("jobs", FIRST_ID);
  issuedOf(world).set("last", id);
  return id;
}

export function wasIssued(world: World, id: string): boolean {
  const number = Number(id);
  return number >= FIRST_ID && number <= (issuedOf(world).get("last") ?? 0);
}

export const jobById = (world: World, id: number | string): Job | undefined => jobsOf(world).get(String(id));

export function putJob(world: World, job: Job): void {
  jobsOf(world).set(String(job.job_id), job);
}

export function missingJob(id: string): ApiError {
  return invalidValue(`Job ${id} does not exist.`);
}

/** Throws the error that the service gives for a job that is not there (facts 4.8). */
export function jobOr400(world: World, id: string): Job {
  const job = jobById(world, id);
  if (job === undefined) throw missingJob(id);
  return job;
}

export function describeJob(world: World, job: Job): JsonObject {
  return {
    job_id: job.job_id,
    ...creatorOf(world, job),
    settings: job.settings as unknown as JsonObject,
    created_time: job.created_time,
  };
}

/** Nothing once the creator was deleted (contract B 2.2, contract B 2.3). */
export function creatorOf(world: World, { creator_user_id, creator_user_name }: Creator): JsonObject {
  return principalNameById(world, creator_user_id) === undefined ? {} : { creator_user_name };
}

export interface JobSchedule {
  readonly quartz_cron_expression: string;
  readonly timezone_id: string;
  readonly pause_status: "PAUSED" | "UNPAUSED";
}

interface Notifications {
  readonly on_start?: readonly string[];
  readonly on_success?: readonly string[];
  readonly on_failure?: readonly string[];
  readonly no_alert_for_skipped_runs?: boolean;
}

interface PlainSettings {
  readonly max_retries?: number;
  readonly min_retry_interval_millis?: number;
  readonly retry_on_timeout?: boolean;
}

export interface JobSettings extends PlainSettings, Omit<GivenTask, "new_cluster"> {
  readonly name: string;
  readonly new_cluster?: JsonObject;
  readonly email_notifications: Notifications;
  readonly timeout_seconds: number;
  readonly schedule?: JobSchedule;
  readonly max_concurrent_runs: number;
  /** Fields of a dialect. */
  readonly extra?: JsonObject;
}

/** Types and plain bounds were checked with openapi.yaml. */
export interface GivenSettings extends GivenTask, PlainSettings {
  readonly name?: string;
  readonly email_notifications?: Notifications;
  readonly timeout_seconds?: number;
  readonly schedule?: Omit<JobSchedule, "pause_status"> & Partial<Pick<JobSchedule, "pause_status">>;
  readonly max_concurrent_runs?: number;
}

/** Throws INVALID_PARAMETER_VALUE, or what `clusters/get` would for the existing cluster. */
export function readSettings(world: World, givenSettings: GivenSettings): JobSettings {
  const { cluster, task, libraries } = readTask(world, givenSettings);
  const { max_retries, min_retry_interval_millis, retry_on_timeout } = givenSettings;
  return {
    name: givenSettings.name ?? "Untitled",
    ...cluster,
    ...task,
    ...defined({ libraries }),
    email_notifications: readNotifications(givenSettings.email_notifications),
    timeout_seconds: givenSettings.timeout_seconds ?? 0,
    ...defined({
      max_retries,
      min_retry_interval_millis,
      retry_on_timeout,
      schedule: givenSettings.schedule && readSchedule(givenSettings.schedule),
    }),
    max_concurrent_runs: givenSettings.max_concurrent_runs ?? JOBS.default_concurrent_runs,
    ...extraOf(givenSettings),
  };
}

function readNotifications(notifications: Notifications = {}): Notifications {
  const { on_start, on_success, on_failure, no_alert_for_skipped_runs } = notifications;
  return defined({ on_start, on_success, on_failure, no_alert_for_skipped_runs });
}

function readSchedule(schedule: NonNullable<GivenSettings["schedule"]>): JobSchedule {
  const { quartz_cron_expression, timezone_id, pause_status = "UNPAUSED" } = schedule;
  const problem = quartzProblem(quartz_cron_expression);
  if (problem !== undefined)
    throw invalidValue(
      `Invalid quartz_cron_expression: ${quartz_cron_expression}. It is not Quartz syntax: ${problem}.`,
    );
  if (!isTimeZone(timezone_id)) throw invalidValue(`Invalid timezone_id: ${timezone_id}.`);
  return { quartz_cron_expression, timezone_id, pause_status };
}
