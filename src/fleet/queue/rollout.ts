// Decides what becomes of the later waves of a queued apply when a job of a wave ends without success, however it ended.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { Clock } from "../../state/model/store.ts";
import type { ResultStore, WorkspaceResult } from "../model/result.ts";
import type { FleetJob, JobQueue, PresentJob, StoppedJob } from "./job-queue.ts";

export interface RolloutOptions {
  readonly queue: Pick<JobQueue, "cancel" | "stopped" | "stop">;
  readonly results: Pick<ResultStore, "add">;
  readonly clock: Pick<Clock, "now">;
  /** The version of the program. */
  readonly program: string;
  /** The worker, if one decides. */
  readonly name?: string;
}

/** Cancels the jobs of later waves that can no longer start, each with a result that says why. Returns them. */
export async function stopRollouts(options: RolloutOptions): Promise<readonly StoppedJob[]> {
  const { queue, results } = options;
  const stopped = await queue.stopped();
  // A crash after the results repeats them; a crash before them would lose them.
  for (const job of stopped) await results.add(unstarted(options, job, notStarted(job)), job.id);
  await queue.stop(stopped.map(({ id }) => id));
  return stopped;
}

type CancelledJob = Pick<PresentJob, "id" | "workspace" | "command" | "state">;

/** Cancels jobs, and with them the later waves. Returns how many were not over, and all that this cancelled. */
export async function cancelJobs(
  options: RolloutOptions,
  jobs: readonly PresentJob[],
): Promise<{ readonly cancelled: number; readonly jobs: readonly CancelledJob[] }> {
  const { queue, results } = options;
  // First, so that a crash leaves no cancelled job with its former result. The worker of a job that runs replaces the result. Without waves, a job that did not start leaves nothing behind.
  for (const job of jobs)
    if (job.rollout !== undefined) await results.add(unstarted(options, job, wasCancelled(job)), job.id);
  const cancelled = await queue.cancel(jobs);
  const stopped = await stopRollouts(options);
  return {
    cancelled: cancelled + stopped.length,
    jobs: [...jobs, ...stopped.map((job) => ({ ...job, state: "waiting" as const }))],
  };
}

function unstarted(
  { clock, program, name }: RolloutOptions,
  { workspace, command }: FleetJob,
  reason: Diagnostic,
): WorkspaceResult {
  return {
    workspace,
    command,
    status: "interrupted",
    startedAt: clock.now(),
    durationMs: 0,
    counts: {},
    drift: {},
    diagnostics: [reason],
    version: program,
    ...(name !== undefined && { worker: name }),
  };
}

function notStarted({ by: { workspace, wave, isCancelled } }: StoppedJob): Diagnostic {
  const end = isCancelled ? "was cancelled" : "failed";
  return error("FLEET_CANCELLED", `not started, because wave "${wave}" ${end} (${workspace})`, {
    hint: isCancelled
      ? "to apply the rest, enqueue it again"
      : `fix ${workspace}, then run \`workspace fleet dead-letters --retry ${shellWord(workspace)}\`; the waves continue`,
  });
}

export function wasCancelled({ command, workspace }: FleetJob): Diagnostic {
  return error("FLEET_CANCELLED", `the ${command} of ${workspace} was cancelled`, {
    hint: `to start it again, run \`workspace fleet enqueue ${shellWord(command)} ${shellWord(workspace)}\``,
  });
}
