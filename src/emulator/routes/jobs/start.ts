// How runs come to be: asked for, on schedule, as a retry or without a job; within the limits of the workspace (B 4.2, B 8).

import type { JsonObject } from "../../../core/json.ts";
import { ApiError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { attachRun } from "../clusters/activity.ts";
import { createCluster } from "../clusters/life.ts";
import type { GivenCluster } from "../clusters/spec.ts";
import { tagsOf } from "../compute/tags.ts";
import { type Job, jobById, newJobId, putJob } from "./job.ts";
import { armTimeout, failRun, lookSoon, runEnded } from "./life.ts";
import { mailRunStarted } from "./mails.ts";
import { activeLimitReached, countStart, hourlyLimitReached } from "./quota.ts";
import { activeRunsOf, newRunId, putRun, type Run, runById } from "./run.ts";
import type { JobSettings } from "./settings.ts";
import { type ReadTask, readJobCluster } from "./task.ts";

interface Creator {
  readonly creator_user_id: string;
  readonly creator_user_name: string;
}

interface JobStart extends Creator {
  readonly trigger: Run["trigger"];
  readonly overriding_parameters?: JsonObject;
  readonly retry_of?: Run;
}

/** A new run of a job: started, or SKIPPED when the job has as many as it may (B 2.2 max_concurrent_runs). */
export function startJobRun(world: World, job: Job, start: JobStart): Run {
  const { settings } = job;
  const run = newRun(world, job, start);
  putJob(world, { ...job, runs: run.number_in_job });
  const limit = settings.max_concurrent_runs;
  if (activeRunsOf(world, job.job_id).length >= limit) {
    return skip(world, run, `Skipped, because the limit of ${limit} concurrent runs of the job is reached.`);
  }
  return begin(world, run);
}

function newRun(world: World, job: Job, start: JobStart): Run {
  const { settings } = job;
  const { retry_of: previous, ...rest } = start;
  const id = newRunId(world);
  return {
    run_id: id,
    job_id: job.job_id,
    number_in_job: job.runs + 1,
    original_attempt_run_id: previous?.original_attempt_run_id ?? id,
    attempt: previous === undefined ? 0 : previous.attempt + 1,
    run_type: "JOB_RUN",
    run_name: settings.name,
    life_cycle_state: "PENDING",
    state_message: "Waiting for the cluster.",
    ...rest,
    ...(start.trigger === "PERIODIC" && settings.schedule !== undefined
      ? { schedule: settings.schedule }
      : {}),
    task: taskOf(settings),
    cluster_spec: clusterSpecOf(settings),
    start_time: world.now,
  };
}

/** A one-time run has a job id of its own and no job (B 4.2 rule 5; facts 4.8). */
export function startSubmittedRun(
  world: World,
  read: ReadTask,
  given: Creator & { readonly run_name: string; readonly timeout_seconds: number },
): Run {
  const { cluster, task, libraries } = read;
  const id = newRunId(world);
  return begin(world, {
    run_id: id,
    job_id: newJobId(world),
    number_in_job: 1,
    original_attempt_run_id: id,
    attempt: 0,
    run_type: "SUBMIT_RUN",
    trigger: "ONE_TIME",
    life_cycle_state: "PENDING",
    state_message: "Waiting for the cluster.",
    ...given,
    task,
    cluster_spec: { ...cluster, ...(libraries === undefined ? {} : { libraries }) },
    start_time: world.now,
  });
}

/** Another attempt, with the settings that the job has now and the parameters of the first. */
export function retryRun(world: World, id: number): void {
  const previous = runById(world, id);
  const job = previous === undefined ? undefined : jobById(world, previous.job_id);
  if (previous === undefined || job === undefined) return;
  const { creator_user_id, creator_user_name, overriding_parameters } = previous;
  startWithin(world, job, {
    trigger: "RETRY",
    creator_user_id,
    creator_user_name,
    ...(overriding_parameters === undefined ? {} : { overriding_parameters }),
    retry_of: previous,
  });
}

/** A start that nobody waits for: where the workspace has reached a limit, the run is skipped. */
export function startWithin(world: World, job: Job, start: JobStart): void {
  // A retry goes on with a start that was counted.
  const reached =
    activeLimitReached(world) ?? (start.trigger === "RETRY" ? undefined : hourlyLimitReached(world));
  if (reached === undefined) {
    const run = startJobRun(world, job, start);
    if (run.life_cycle_state !== "SKIPPED" && start.trigger !== "RETRY") countStart(world);
    return;
  }
  const run = newRun(world, job, start);
  putJob(world, { ...job, runs: run.number_in_job });
  skip(world, run, `Skipped. ${reached}`);
}

function skip(world: World, run: Run, message: string): Run {
  const skipped = putRun(world, {
    ...run,
    life_cycle_state: "SKIPPED",
    state_message: message,
    ended_at: world.now,
  });
  runEnded(world, skipped);
  return skipped;
}

/** PENDING on its cluster: the existing one, or one that is made for it. */
function begin(world: World, pending: Run): Run {
  putRun(world, pending);
  mailRunStarted(world, pending);
  armTimeout(world, pending);
  const { existing_cluster_id, new_cluster } = pending.cluster_spec;
  let cluster = String(existing_cluster_id);
  if (existing_cluster_id === undefined) {
    const made = makeCluster(world, pending, new_cluster as unknown as GivenCluster);
    if (made === undefined) return runById(world, pending.run_id) ?? pending;
    cluster = made;
  }
  const run = putRun(world, { ...pending, cluster_id: cluster });
  attachRun(world, cluster, run.run_id);
  lookSoon(world, run);
  return run;
}

/** The description was checked with the settings, but its pool may have gone since: then the run fails. */
function makeCluster(world: World, run: Run, description: GivenCluster): string | undefined {
  try {
    return createCluster(world, {
      ...readJobCluster(world, description),
      source: "JOB",
      user: "",
      creator: run.creator_user_name,
      job_tags: tagsOf({ RunName: run.run_name, JobId: String(run.job_id) }),
    }).cluster_id;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    failRun(world, run, error.message);
    return undefined;
  }
}

function taskOf(settings: JobSettings): JsonObject {
  const { notebook_task, spark_jar_task, spark_python_task, spark_submit_task } = settings;
  return {
    ...(notebook_task === undefined ? {} : { notebook_task }),
    ...(spark_jar_task === undefined ? {} : { spark_jar_task }),
    ...(spark_python_task === undefined ? {} : { spark_python_task }),
    ...(spark_submit_task === undefined ? {} : { spark_submit_task }),
  };
}

function clusterSpecOf(settings: JobSettings): JsonObject {
  const { existing_cluster_id, new_cluster, libraries } = settings;
  return {
    ...(existing_cluster_id === undefined ? {} : { existing_cluster_id }),
    ...(new_cluster === undefined ? {} : { new_cluster }),
    ...(libraries === undefined ? {} : { libraries }),
  };
}
