// How runs start: by request, by schedule, as a retry, or without a job; within the limits of the workspace (contract B 4.2, contract B 8).

import { defined, type JsonObject } from "../../../core/json.ts";
import { nextFiring } from "../../../core/quartz.ts";
import { ApiError } from "../../world/errors.ts";
import { JOBS } from "../../world/limits.ts";
import { type Collection, EXTRA, type World } from "../../world/world.ts";
import { attachRun, notifyRun, startNewCluster } from "../clusters/lifecycle.ts";
import type { GivenCluster } from "../clusters/settings.ts";
import { tagsOf } from "../compute.ts";
import { mailRunStarted } from "./emails.ts";
import { type Creator, type Job, jobById, newJobId, putJob } from "./job.ts";
import { activeRunJobs, activeRunsOf, newRunId, putRun, type Run, runById } from "./run.ts";
import { armTimeout, beginWork, failRun, runEnded } from "./run-lifecycle.ts";
import { type ReadTask, readJobCluster } from "./task.ts";

interface JobStart extends Creator {
  readonly trigger: Run["trigger"];
  readonly overriding_parameters?: JsonObject;
  readonly retry_of?: Run;
}

interface SubmittedStart extends Creator {
  readonly run_name: string;
  readonly timeout_seconds: number;
  readonly extra?: JsonObject;
}

/** A new run of a job: started, or SKIPPED where a limit is reached, of the workspace or of the job (contract B 2.2 max_concurrent_runs). */
export function startJobRun(world: World, job: Job, start: JobStart, reached?: string): Run {
  const run = newRun(world, job, start);
  putJob(world, { ...job, runs: run.number_in_job });
  if (reached !== undefined) return skip(world, run, `Skipped. ${reached}`);
  const limit = job.settings.max_concurrent_runs;
  if (activeRunsOf(world, job.job_id).length < limit) return begin(world, run);
  return skip(world, run, `Skipped, because the limit of ${limit} concurrent runs of the job is reached.`);
}

function newRun(world: World, job: Job, start: JobStart): Run {
  const { settings } = job;
  const { notebook_task, spark_jar_task, spark_python_task, spark_submit_task } = settings;
  const { existing_cluster_id, new_cluster, libraries } = settings;
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
    ...defined({ schedule: start.trigger === "PERIODIC" ? settings.schedule : undefined }),
    task: defined({ notebook_task, spark_jar_task, spark_python_task, spark_submit_task }),
    cluster_spec: defined({ existing_cluster_id, new_cluster, libraries }),
    ...tasksOf(settings.extra),
    start_time: world.now,
  };
}

/** A one-time run has its own job ID and no job (contract B 4.2 rule 5; facts 4.8). */
export function startSubmittedRun(world: World, read: ReadTask, { extra, ...settings }: SubmittedStart): Run {
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
    ...settings,
    task,
    ...tasksOf(extra),
    cluster_spec: { ...cluster, ...defined({ libraries }) },
    start_time: world.now,
  });
}

/** Each job with a schedule has a timer for the next time that it fires (contract B 2.2, CronSchedule). */
export const FIRE = "jobs.fire";

export function armSchedule(world: World, job: Job): void {
  const { schedule } = job.settings;
  const timer = `jobs/${job.job_id}/schedule`;
  const due =
    schedule === undefined || schedule.pause_status === "PAUSED"
      ? undefined
      : nextFiring(schedule.quartz_cron_expression, schedule.timezone_id, world.now);
  if (due === undefined) world.timers.cancel(timer);
  else world.timers.set(timer, due, FIRE, { job_id: job.job_id });
}

export function fireSchedule(world: World, id: number): void {
  const job = jobById(world, id);
  if (job === undefined) return;
  const { creator_user_id, creator_user_name } = job;
  startWithin(world, job, { trigger: "PERIODIC", creator_user_id, creator_user_name });
  armSchedule(world, job);
}

/** Another attempt, with the settings that the job has now and the parameters of the first. */
export function retryRun(world: World, id: number): void {
  const previous = runById(world, id);
  const job = previous === undefined ? undefined : jobById(world, previous.job_id);
  if (previous === undefined || job === undefined) return;
  const { creator_user_id, creator_user_name, overriding_parameters } = previous;
  const asBefore = { creator_user_id, creator_user_name, ...defined({ overriding_parameters }) };
  startWithin(world, job, { trigger: "RETRY", ...asBefore, retry_of: previous });
}

/** A start without a client: if the workspace has reached a limit, the run is skipped. A retry continues a start that was counted. */
function startWithin(world: World, job: Job, start: JobStart): void {
  const isCounted = start.trigger === "RETRY";
  const reached = activeLimitReached(world) ?? (isCounted ? undefined : hourlyLimitReached(world));
  const run = startJobRun(world, job, start, reached);
  if (run.life_cycle_state !== "SKIPPED" && !isCounted) countStart(world);
}

function skip(world: World, run: Run, message: string): Run {
  const end = { life_cycle_state: "SKIPPED", state_message: message, ended_at: world.now } as const;
  const skipped = putRun(world, { ...run, ...end });
  runEnded(world, skipped);
  return skipped;
}

/** A run that has ended begins again under its ID. The contract has no such call; a dialect has. */
export function restartRun(world: World, run: Run): Run {
  for (const timer of ["retry", "retention"]) world.timers.cancel(`runs/${run.run_id}/${timer}`);
  const { outcome, working_since, cleaning_since, ended_at, cluster_id, spark_context_id, ...rest } = run;
  const { started_cluster, ...pending } = rest;
  return begin(world, {
    ...pending,
    life_cycle_state: "PENDING",
    state_message: "Waiting for the cluster.",
    start_time: world.now,
  });
}

/** PENDING on its cluster: the existing one, or one that is made for it. */
function begin(world: World, pending: Run): Run {
  putRun(world, pending);
  mailRunStarted(world, pending);
  armTimeout(world, pending);
  const { existing_cluster_id, new_cluster } = pending.cluster_spec;
  if (existing_cluster_id === undefined && new_cluster === undefined) return beginWork(world, pending);
  const cluster =
    existing_cluster_id === undefined
      ? makeCluster(world, pending, new_cluster as unknown as GivenCluster)
      : String(existing_cluster_id);
  if (cluster === undefined) return runById(world, pending.run_id) ?? pending;
  const run = putRun(world, { ...pending, cluster_id: cluster });
  attachRun(world, cluster, run.run_id);
  notifyRun(world, run.run_id);
  return run;
}

/** The description was checked with the settings, but its pool may have gone since: then the run fails. */
function makeCluster(world: World, run: Run, description: GivenCluster): string | undefined {
  try {
    return startNewCluster(world, {
      ...readJobCluster(world, withExtra(description)),
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

/** What a dialect keeps of a job for its runs. */
function tasksOf(extra: JsonObject | undefined): { readonly extra?: JsonObject } {
  const { tasks, job_clusters } = extra ?? {};
  if (tasks === undefined) return {};
  return { extra: { tasks, ...defined({ job_clusters }) } };
}

function withExtra(description: GivenCluster & { readonly extra?: JsonObject }): GivenCluster {
  return description.extra === undefined ? description : { ...description, [EXTRA]: description.extra };
}

/** Throws REQUEST_LIMIT_EXCEEDED when the workspace can start no run now (contract B 4.2 rule 4). */
export function checkLimits(world: World): void {
  const reached = activeLimitReached(world) ?? hourlyLimitReached(world);
  if (reached !== undefined) throw new ApiError("REQUEST_LIMIT_EXCEEDED", reached);
}

function activeLimitReached(world: World): string | undefined {
  if (activeRunJobs(world).size < JOBS.active_runs) return undefined;
  return `The workspace has ${JOBS.active_runs} active runs, which is the limit.`;
}

/** The times of the last thousand starts, as a ring. */
const startsOf = (world: World): Collection<number> => world.collection("jobs.starts");

function hourlyLimitReached(world: World): string | undefined {
  const starts = startsOf(world);
  const oldest = starts.get(String((starts.get("count") ?? 0) % JOBS.starts_per_hour));
  if (oldest === undefined || oldest + JOBS.hour_ms <= world.now) return undefined;
  return `The workspace has started ${JOBS.starts_per_hour} runs within an hour, which is the limit.`;
}

export function countStart(world: World): void {
  const starts = startsOf(world);
  const count = starts.get("count") ?? 0;
  starts.set(String(count % JOBS.starts_per_hour), world.now);
  starts.set("count", count + 1);
}
