// A stored job, its lookup, and its answer (contract B 2.2).

import type { JsonObject } from "../../../core/json.ts";
import { userById } from "../../world/directory.ts";
import { type ApiError, invalidValue } from "../../world/errors.ts";
import type { Collection, World } from "../../world/world.ts";
import type { JobSettings } from "./settings.ts";

export interface Job {
  readonly job_id: number;
  readonly creator_user_id: string;
  readonly creator_user_name: string;
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
export function creatorOf(
  world: World,
  made: { readonly creator_user_id: string; readonly creator_user_name: string },
): JsonObject {
  return userById(world, made.creator_user_id) === undefined
    ? {}
    : { creator_user_name: made.creator_user_name };
}
