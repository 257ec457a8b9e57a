// A fleet as JSON: its workspaces, its status and queue, results of runs, and jobs that failed every time.

import { secondsOf } from "../../core/duration.ts";
import { diagnosticJson } from "../../report/text/diagnostic-text.ts";
import type { FleetWorkspace, Schedule } from "../model/fleet.ts";
import type { WorkspaceResult } from "../model/result.ts";
import type { DeadJob, PresentJob } from "../queue/job-queue.ts";
import { type FleetView, type QueueView, verdict } from "./fleet-view.ts";

const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
const seconds = (ms: number | undefined) => (ms === undefined ? undefined : secondsOf(ms));

const scheduleJson = ({ cron, timezone, jitterMs }: Schedule) => ({
  cron,
  timezone,
  jitter_s: seconds(jitterMs),
});

export function fleetWorkspaceJson(workspace: FleetWorkspace): Record<string, unknown> {
  const { name, spec, target, host, profile, state, variables, environment, labels } = workspace;
  const { schedule, timeoutMs, memoryMb, maintenance } = workspace;
  return {
    name,
    spec,
    target,
    host,
    profile,
    state,
    variables,
    environment,
    labels,
    schedule: schedule && scheduleJson(schedule),
    timeout_s: secondsOf(timeoutMs),
    memory_mb: memoryMb,
    maintenance: maintenance?.map((window) => ({
      ...scheduleJson(window),
      duration_s: secondsOf(window.durationMs),
    })),
  };
}

/** With its log, if the result has it. */
export function resultJson(result: WorkspaceResult): Record<string, unknown> {
  const { requests } = result;
  return {
    workspace: result.workspace,
    command: result.command,
    status: result.status,
    exit_code: result.exitCode,
    started_at: time(result.startedAt),
    duration_s: secondsOf(result.durationMs),
    counts: result.counts,
    drift: result.drift,
    drifted: result.drifted,
    diagnostics: result.diagnostics.map(diagnosticJson),
    requests: requests && {
      sent: requests.sent,
      unanswered: requests.unanswered,
      retried: requests.retried,
      last_http_status: requests.lastStatus,
      host: requests.host,
    },
    lock_wait_s: seconds(result.lockWaitMs),
    memory_bytes: result.memoryBytes,
    attempt: result.attempt,
    reverted: result.reverted,
    wrote: result.wrote,
    tried_again: result.triedAgain,
    worker: result.worker,
    version: result.version,
    log: result.log,
  };
}

export function deadJobJson({ workspace, command, id, rollout, failedAt, attempts, failure }: DeadJob) {
  return {
    workspace,
    command,
    job: id,
    wave: rollout?.wave,
    failed_at: time(failedAt),
    attempts,
    status: failure.status,
    worker: failure.worker,
    message: failure.message,
    diagnostics: failure.diagnostics.map(diagnosticJson),
  };
}

export function fleetJson(view: FleetView): Record<string, unknown> {
  return {
    made_at: new Date(view.madeAt).toISOString(),
    verdict: verdict(view),
    states: view.states,
    drift: view.drift,
    days: view.days,
    workspaces: view.rows.map((row) => ({
      name: row.workspace,
      labels: row.labels,
      state: row.state,
      status: row.status,
      ...(row.last && {
        command: row.last.command,
        started_at: new Date(row.last.startedAt).toISOString(),
        duration_s: secondsOf(row.last.durationMs),
        age_s: seconds(row.ageMs),
        worker: row.last.worker,
        version: row.last.version,
      }),
      cause: row.cause && {
        command: row.cause.command,
        attempts: row.cause.attempts,
        code: row.cause.code,
        message: row.cause.message,
        last_http_status: row.cause.lastStatus,
      },
      changes: row.changes,
      drift: row.drift,
      drifted: row.drifted,
      drift_age_s: seconds(row.driftAgeMs),
      failures_in_a_row: row.failuresInARow,
      trend: row.trend,
      diagnostics: row.diagnostics.map(diagnosticJson),
    })),
    queue: view.queue && queueJson(view.queue),
  };
}

function queueJson({ queued, waiting, running, next, workers, pauses, dead, unscheduled }: QueueView) {
  const jobJson = (job: PresentJob) => ({
    workspace: job.workspace,
    command: job.command,
    job: job.id,
    created_at: time(job.createdAt),
    start_after: time(job.startAfter),
    attempt: job.attempt,
    priority: job.priority,
    wave: job.rollout?.wave,
  });
  return {
    queued: queued.map(jobJson),
    waiting: waiting.map(jobJson),
    running: running.map(({ workspace, command, worker, version, startedAt, attempt, run }) => ({
      workspace,
      command,
      worker,
      version,
      started_at: time(startedAt),
      attempt,
      job: run,
    })),
    next: next && { workspace: next.workspace, at: time(next.at) },
    workers: workers.map((worker) => ({
      name: worker.name,
      version: worker.version,
      live: worker.live,
      heartbeat_at: time(worker.heartbeatAt),
      running: worker.running,
      parallelism: worker.parallelism,
      memory_bytes: worker.memoryBytes,
    })),
    pauses: pauses.map(({ createdAt, until, of, ...pause }) => ({
      ...pause,
      workspaces_paused: of,
      created_at: time(createdAt),
      until: time(until),
    })),
    dead: dead.length,
    unscheduled,
  };
}
