// A stored run, the indexes by which runs are found, and its answer (contract B 2.3).

import { defined, type JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Collection, World } from "../../world/world.ts";
import { type Creator, creatorOf, type JobSchedule, jobsOf } from "./job.ts";

type LifeCycle = "PENDING" | "RUNNING" | "TERMINATING" | "TERMINATED" | "SKIPPED" | "INTERNAL_ERROR";
/** Of the values seen; CANCELED is what such a service answers (facts 4.8). */
type JobRunResult = "SUCCESS" | "FAILED" | "TIMED_OUT" | "CANCELED" | "SKIPPED";

export interface JobRunOutcome {
  readonly result_state: Exclude<JobRunResult, "SKIPPED">;
  readonly message: string;
  /** What the notebook passed to its exit call. */
  readonly result?: string;
  /** The reason for a missing output. */
  readonly error?: string;
  /** What a dialect shows of the work in addition. */
  readonly error_trace?: string;
  readonly logs?: string;
}

export interface Run extends Creator {
  readonly run_id: number;
  readonly job_id: number;
  readonly number_in_job: number;
  readonly original_attempt_run_id: number;
  /** 0 for the first attempt, then one more for each retry. */
  readonly attempt: number;
  readonly run_type: "JOB_RUN" | "SUBMIT_RUN";
  readonly trigger: "PERIODIC" | "ONE_TIME" | "RETRY";
  readonly run_name: string;
  readonly life_cycle_state: LifeCycle;
  readonly state_message: string;
  readonly schedule?: JobSchedule;
  readonly task: JsonObject;
  readonly cluster_spec: JsonObject;
  /** Fields of a dialect. */
  readonly extra?: JsonObject;
  readonly overriding_parameters?: JsonObject;
  readonly cluster_id?: string;
  readonly spark_context_id?: string;
  /** The run has started its existing cluster; it does so once. */
  readonly started_cluster?: true;
  readonly start_time: number;
  readonly working_since?: number;
  readonly cleaning_since?: number;
  readonly ended_at?: number;
  /** Set when the work has ended, or, on a run that has not begun, told how it will end. */
  readonly outcome?: JobRunOutcome;
  /** Of a one-time run, which has no job to ask. */
  readonly timeout_seconds?: number;
}

const FIRST_ID = 9_400_001;

const runsOf = (world: World): Collection<Run> => world.collection("runs");
/** Active runs, with the id of their job. At most as many as may be active. */
export const activeRunJobs = (world: World): Collection<number> => world.collection("runs.active");
export const runNumbers = (world: World): Collection<number> => world.collection("runs.byJob");
const lastRun = (world: World): Collection<number> => world.collection("runs.last");

export function newRunId(world: World): number {
  const id = world.next("runs", FIRST_ID);
  lastRun(world).set("id", id);
  return id;
}

export const isActive = ({ life_cycle_state: state }: Run): boolean =>
  state === "PENDING" || state === "RUNNING" || state === "TERMINATING";

export const runById = (world: World, id: number | string): Run | undefined => runsOf(world).get(String(id));

/** Keeps a run and sees that the indexes know it. */
export function putRun(world: World, run: Run): Run {
  const id = String(run.run_id);
  if (!runsOf(world).has(id)) runNumbers(world).set(`${run.job_id}/${run.number_in_job}`, run.run_id);
  runsOf(world).set(id, run);
  if (!isActive(run)) activeRunJobs(world).delete(id);
  else if (!activeRunJobs(world).has(id)) activeRunJobs(world).set(id, run.job_id);
  return run;
}

export function dropRun(world: World, run: Run): void {
  const id = String(run.run_id);
  runsOf(world).delete(id);
  activeRunJobs(world).delete(id);
  runNumbers(world).delete(`${run.job_id}/${run.number_in_job}`);
  for (const timer of ["look", "finish", "timeout", "cleanup", "retry", "retention"])
    world.timers.cancel(`runs/${id}/${timer}`);
}

/** The runs of a deleted job are invisible, also those that have yet to end (contract B 4.2 rule 2). */
export const isVisible = (world: World, run: Run): boolean =>
  run.run_type === "SUBMIT_RUN" || jobsOf(world).has(String(run.job_id));

/** Throws the error that the service gives for a run that is not there (facts 4.8). */
export function runOr400(world: World, id: string): Run {
  const run = runById(world, id);
  if (run === undefined || !isVisible(world, run)) throw invalidValue(`Run ${id} does not exist.`);
  return run;
}

export function* latestRuns(world: World): Generator<Run> {
  let left = runsOf(world).size;
  for (let id = lastRun(world).get("id") ?? 0; left > 0; id--) {
    const run = runById(world, id);
    if (run === undefined) continue;
    left--;
    if (isVisible(world, run)) yield run;
  }
}

export function* latestRunsOf(world: World, job: string): Generator<Run> {
  for (let number = jobsOf(world).get(job)?.runs ?? 1; number > 0; number--) {
    const id = runNumbers(world).get(`${job}/${number}`);
    const run = id === undefined ? undefined : runById(world, id);
    if (run !== undefined && isVisible(world, run)) yield run;
  }
}

export function activeRunsOf(world: World, job: number): Run[] {
  return [...activeRunJobs(world).entries()]
    .filter(([, of]) => of === job)
    .flatMap(([id]) => runById(world, id) ?? []);
}

/** A result is there when the work has begun and ended, and always when the run is terminated (facts 4.8). */
export function resultOf(run: Run): JobRunResult | undefined {
  const { life_cycle_state: state, working_since } = run;
  if (state === "PENDING" || state === "RUNNING") return undefined;
  if (state === "SKIPPED") return state;
  return state === "TERMINATED" || working_since !== undefined ? run.outcome?.result_state : undefined;
}

export function describeRun(world: World, run: Run): JsonObject {
  const { cluster_id, spark_context_id, extra } = run;
  return {
    job_id: run.job_id,
    run_id: run.run_id,
    number_in_job: run.number_in_job,
    original_attempt_run_id: run.original_attempt_run_id,
    state: defined({
      life_cycle_state: run.life_cycle_state,
      result_state: resultOf(run),
      state_message: run.state_message,
    }),
    ...defined({ schedule: run.schedule as JsonObject | undefined }),
    task: run.task,
    cluster_spec: run.cluster_spec,
    // Each part is omitted until it is known (contract B 2.3).
    ...defined({
      cluster_instance: cluster_id && defined({ cluster_id, spark_context_id }),
      overriding_parameters: run.overriding_parameters,
    }),
    start_time: run.start_time,
    ...durations(run),
    trigger: run.trigger,
    ...creatorOf(world, run),
    run_name: run.run_name,
    run_page_url: `https://workspace.invalid/#job/${run.job_id}/run/${run.number_in_job}`,
    run_type: run.run_type,
    ...defined({ extra }),
  };
}

/** Setting up, working and cleaning up, in milliseconds; zero for what has not ended. Their sum is the run's whole time. */
function durations(run: Run): JsonObject {
  const { start_time, working_since, cleaning_since, ended_at } = run;
  const setUp = working_since ?? cleaning_since ?? ended_at;
  return {
    setup_duration: setUp === undefined ? 0 : setUp - start_time,
    execution_duration:
      working_since === undefined ? 0 : (cleaning_since ?? ended_at ?? working_since) - working_since,
    cleanup_duration: cleaning_since === undefined || ended_at === undefined ? 0 : ended_at - cleaning_since,
  };
}
