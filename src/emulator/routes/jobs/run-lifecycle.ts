// The life cycle of a run: it waits for its cluster, executes, cleans up, and ends (contract B 3.3; transitions: facts 4.8).

import { defined } from "../../../core/json.ts";
import { CLUSTERS, JOBS } from "../../world/limits.ts";
import type { Area, TimerRun, World } from "../../world/world.ts";
import { type Cluster, clusterById, isRunning } from "../clusters/cluster.ts";
import { detachRun, RUN_CLUSTER_CHECK, startCluster, terminateCluster } from "../clusters/lifecycle.ts";
import { scaleUp } from "../clusters/nodes.ts";
import { mailRunEnded } from "./emails.ts";
import { jobById } from "./job.ts";
import { dropRun, isActive, isVisible, type JobRunOutcome, putRun, type Run, runById } from "./run.ts";

const FINISH = "runs.finish";
const TIMEOUT = "runs.timeout";
const CLEANUP = "runs.cleanup";
export const RETRY = "runs.retry";
const RUN_RETENTION = "runs.retention";

export const byRun =
  (timer: (world: World, run: number) => void): TimerRun =>
  (world, { run_id }) =>
    timer(world, Number(run_id));

export const runTimers: NonNullable<Area["timers"]> = {
  [RUN_CLUSTER_CHECK]: byRun(lookAtCluster),
  [FINISH]: byRun(finishWork),
  [TIMEOUT]: byRun(timeOut),
  [CLEANUP]: byRun(cleanedUp),
  [RUN_RETENTION]: byRun(forgetRun),
};

/** The state of its cluster may have changed: what does that mean for the run? */
function lookAtCluster(world: World, id: number): void {
  const run = runById(world, id);
  if (run === undefined || run.cluster_id === undefined) return;
  const cluster = clusterById(world, run.cluster_id);
  if (run.life_cycle_state === "RUNNING") checkStillThere(world, run, cluster);
  if (run.life_cycle_state === "PENDING") waitForCluster(world, run, cluster);
}

function waitForCluster(world: World, run: Run, cluster: Cluster | undefined): void {
  if (cluster === undefined) failRun(world, run, `Cluster ${run.cluster_id} does not exist`);
  else if (isRunning(cluster)) beginWork(world, run, cluster);
  else if (cluster.state !== "TERMINATED") return;
  else if (run.started_cluster || cluster.source === "JOB") {
    failRun(world, run, `Cluster ${cluster.cluster_id} could not be started. ${cluster.state_message}`);
  } else {
    putRun(world, { ...run, started_cluster: true });
    startCluster(world, cluster, "");
  }
}

/** A driver that restarted or went away takes the work with it. */
function checkStillThere(world: World, run: Run, cluster: Cluster | undefined): void {
  if (cluster !== undefined && isRunning(cluster)) return;
  const what = cluster?.state === "RESTARTING" ? "restarted" : "terminated";
  failRun(world, run, `Cluster ${run.cluster_id} was ${what} during the run.`);
}

/** RUNNING, on a cluster that is up, or on none where the dialect's task needs none. */
export function beginWork(world: World, run: Run, cluster?: Cluster): Run {
  const working = putRun(world, {
    ...run,
    life_cycle_state: "RUNNING",
    state_message: "The task is running.",
    working_since: world.now,
    ...defined({ spark_context_id: cluster?.spark_context_id }),
  });
  if (cluster !== undefined) scaleUp(world, cluster.cluster_id);
  if (working.outcome !== undefined) endWork(world, working, working.outcome);
  else world.timers.set(`runs/${run.run_id}/finish`, world.now + JOBS.run_ms, FINISH, { run_id: run.run_id });
  return working;
}

function finishWork(world: World, id: number): void {
  const run = runById(world, id);
  if (run?.life_cycle_state === "RUNNING") endWork(world, run, { result_state: "SUCCESS", message: "" });
}

/** The limit holds from the start of the run, the time that its cluster takes included (contract B 2.2). */
export function armTimeout(world: World, run: Run): void {
  const seconds = run.timeout_seconds ?? jobById(world, run.job_id)?.settings.timeout_seconds ?? 0;
  const timer = `runs/${run.run_id}/timeout`;
  const due = Math.max(world.now, run.start_time + seconds * 1000);
  if (seconds === 0) world.timers.cancel(timer);
  else world.timers.set(timer, due, TIMEOUT, { run_id: run.run_id });
}

function timeOut(world: World, id: number): void {
  const run = runById(world, id);
  if (run?.life_cycle_state !== "PENDING" && run?.life_cycle_state !== "RUNNING") return;
  endWork(world, run, { result_state: "TIMED_OUT", message: "The run took longer than its timeout allows." });
}

/** Canceling what is ending or has ended does nothing (contract B 3.3). */
export function cancelRun(world: World, run: Run, message: string): void {
  if (run.life_cycle_state !== "PENDING" && run.life_cycle_state !== "RUNNING") return;
  endWork(world, run, { result_state: "CANCELED", message });
}

/** TERMINATING until the cluster is released. */
export function endWork(world: World, run: Run, outcome: JobRunOutcome): void {
  const { run_id } = run;
  const ownCluster = leaveCluster(world, run);
  const wait = ownCluster ? CLUSTERS.terminate_ms : JOBS.cleanup_ms;
  world.timers.set(`runs/${run_id}/cleanup`, world.now + wait, CLEANUP, { run_id });
  putRun(world, {
    ...run,
    life_cycle_state: "TERMINATING",
    state_message: outcome.message,
    outcome,
    cleaning_since: world.now,
  });
}

function cleanedUp(world: World, id: number): void {
  const run = runById(world, id);
  if (run?.life_cycle_state !== "TERMINATING") return;
  runEnded(world, putRun(world, { ...run, life_cycle_state: "TERMINATED", ended_at: world.now }));
}

/** INTERNAL_ERROR; a run that was working has the result FAILED as well (facts 4.8). */
export function failRun(world: World, run: Run, message: string): void {
  leaveCluster(world, run);
  const failed = putRun(world, {
    ...run,
    life_cycle_state: "INTERNAL_ERROR",
    state_message: message,
    outcome: { result_state: "FAILED", message },
    ended_at: world.now,
  });
  runEnded(world, failed);
}

/** Ends the work and lets go of the cluster; one that was made for the run is terminated. Says whether it was. */
function leaveCluster(world: World, run: Run): boolean {
  for (const timer of ["look", "finish", "timeout"]) world.timers.cancel(`runs/${run.run_id}/${timer}`);
  if (run.cluster_id === undefined) return false;
  detachRun(world, run.cluster_id, run.run_id);
  const cluster = clusterById(world, run.cluster_id);
  if (cluster === undefined || run.cluster_spec.new_cluster === undefined) return false;
  terminateCluster(world, cluster, {
    reason: { code: "JOB_FINISHED", type: "SUCCESS", parameters: {} },
    message: `Run ${run.run_id} has ended.`,
    user: "",
  });
  return true;
}

/** Mails, a retry where the job wants one, and 60 days of memory (contract B 4.2 rules 2 and 10). */
export function runEnded(world: World, run: Run): void {
  if (!isVisible(world, run)) {
    dropRun(world, run);
    return;
  }
  mailRunEnded(world, run);
  const { run_id } = run;
  world.timers.set(`runs/${run_id}/retention`, world.now + JOBS.retention_ms, RUN_RETENTION, { run_id });
  if (!wantsRetry(world, run)) return;
  const wait = jobById(world, run.job_id)?.settings.min_retry_interval_millis ?? 0;
  // Attempts lie a little apart, else one that fails at once would be retried without end at the same moment.
  const due = Math.max(world.now + wait, run.start_time + JOBS.least_between_attempts_ms);
  world.timers.set(`runs/${run_id}/retry`, due, RETRY, { run_id });
}

/** Unsuccessful is FAILED or INTERNAL_ERROR, and a timeout where the job says so; -1 retries without end (contract B 2.2). */
function wantsRetry(world: World, run: Run): boolean {
  const settings = jobById(world, run.job_id)?.settings;
  const { max_retries = 0, retry_on_timeout = false } = settings ?? {};
  if (max_retries >= 0 && run.attempt >= max_retries) return false;
  if (run.life_cycle_state === "INTERNAL_ERROR") return true;
  if (run.life_cycle_state !== "TERMINATED") return false;
  const result = run.outcome?.result_state;
  return result === "FAILED" || (result === "TIMED_OUT" && retry_on_timeout);
}

function forgetRun(world: World, id: number): void {
  const run = runById(world, id);
  if (run !== undefined && !isActive(run)) dropRun(world, run);
}
