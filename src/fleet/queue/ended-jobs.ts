// Jobs that ended without success: the dead letters of pg-boss, the later waves of a queued apply that such a job stops, and how both start again.

import type { JobWithMetadata, PgBoss } from "pg-boss";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import type { Clock } from "../../state/model/store.ts";
import { queueSchema } from "../database/tables.ts";
import { LONGEST_TIMEOUT_MS } from "../model/fleet.ts";
import { diagnosticsIn, RESULT_STATUSES, type ResultStore, type WorkspaceResult } from "../model/result.ts";
import {
  DEAD_LETTERS,
  type DeadJob,
  deferralsOf,
  type FleetJob,
  GATES,
  type JobQueue,
  jobOf,
  jobOptions,
  PRIORITIES,
  type PresentJob,
  QUEUE,
  QUEUE_OPTIONS,
  type StoppedJob,
  UNREADABLE,
} from "./job-queue.ts";

interface RolloutOptions {
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

/** Cancels jobs, and with them the later waves. Returns how many were not over, and all that this canceled. */
export async function cancelJobs(
  options: RolloutOptions,
  jobs: readonly PresentJob[],
): Promise<{ readonly cancelled: number; readonly jobs: readonly CancelledJob[] }> {
  const { queue, results } = options;
  // First, so that a crash leaves no canceled job with its former result. The worker of a job that runs replaces the result. Without waves, a job that did not start leaves nothing behind.
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
  const end = isCancelled ? "was canceled" : "failed";
  return error("FLEET_CANCELLED", `not started, because wave "${wave}" ${end} (${workspace})`, {
    hint: isCancelled
      ? "to apply the rest, enqueue it again"
      : `fix ${workspace}, then run \`workspace fleet dead-letters --retry ${shellWord(workspace)}\`; the waves continue`,
  });
}

export function wasCancelled({ command, workspace }: FleetJob): Diagnostic {
  return error("FLEET_CANCELLED", `the ${command} of ${workspace} was canceled`, {
    hint: `to start it again, run \`workspace fleet enqueue ${shellWord(command)} ${shellWord(workspace)}\``,
  });
}

/** Jobs that wait for a wave in which a job failed at every attempt or was canceled. */
export async function stoppedJobs(boss: PgBoss, schema: string): Promise<readonly StoppedJob[]> {
  const { rows } = await boss.getDb().executeSql(
    laterJobs(queueSchema(schema), {
      ended: `ended.state in ('failed', 'cancelled') and exists (
        select from ${queueSchema(schema)}.job where name = $1 and state = 'created' and blocked)`,
      later: "later.state = 'created' and later.blocked",
    }),
    [QUEUE, GATES],
  );
  return rows.flatMap(({ id, data, cause, state }): StoppedJob[] => {
    const [job, ended] = [jobOf(data), jobOf(cause)];
    if (job === undefined || ended?.rollout === undefined) return [];
    const { wave } = ended.rollout;
    const by = { workspace: ended.workspace, wave, isCancelled: state === "cancelled" };
    return [{ ...job, id: String(id), by }];
  });
}

/** Cancels jobs so that `continueWaves` finds them: others that are canceled stay so. */
export async function stopJobs(boss: PgBoss, schema: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await boss.getDb().executeSql(
    `update ${queueSchema(schema)}.job set data = data || '{"stopped": true}'
     where name = $1 and id = any($2::uuid[]) and state = 'created' and blocked`,
    [QUEUE, ids],
  );
  await boss.cancel(QUEUE, [...ids]);
}

/** Lets the stopped jobs of the waves after these jobs wait again, except those of workspaces that have another job. */
export async function continueWaves(boss: PgBoss, schema: string, ended: readonly DeadJob[]): Promise<void> {
  if (ended.length === 0) return;
  const { rows } = await boss.getDb().executeSql(
    laterJobs(queueSchema(schema), {
      ended: "ended.id = any($3::uuid[])",
      later: `later.state = 'cancelled' and later.data -> 'stopped' = 'true' and not exists (
        select from ${queueSchema(schema)}.job as other
        where other.name = $1 and other.singleton_key = later.singleton_key and other.state <= 'active')`,
    }),
    [QUEUE, GATES, ended.map(({ source }) => source)],
  );
  const ids = rows.map(({ id }) => String(id));
  if (ids.length === 0) return;
  await boss.resume(QUEUE, ids);
  await boss
    .getDb()
    .executeSql(
      `update ${queueSchema(schema)}.job set data = data - 'stopped' where name = $1 and id = any($2::uuid[])`,
      [QUEUE, ids],
    );
}

/** Lets a job of a wave that failed start again, with all its tries. False if its workspace has another job or pg-boss removed it. */
export async function repeatJob(boss: PgBoss, { workspace, source }: DeadJob): Promise<boolean> {
  const jobs = await boss.findJobs<object>(QUEUE, { key: workspace, limit: MOST_JOBS });
  const job = jobs.find(({ id, state }) => id === source && state === "failed");
  if (job === undefined || jobs.some(({ state }) => PRESENT.has(state))) return false;
  await boss.retry(QUEUE, job.id);
  const tries = job.retryCount + 1;
  const data = { ...job.data, deferred: tries };
  await boss.update(QUEUE, data, { id: job.id, retryLimit: tries + QUEUE_OPTIONS.retryLimit, startAfter: 0 });
  return true;
}

/** Of one workspace; those that ended are removed after a day. */
const MOST_JOBS = 10_000;
const PRESENT: ReadonlySet<string> = new Set(["created", "retry", "active"]);

/** Follows the gates after the jobs that ended to all later waves. Of several jobs that ended, `cause` is the first. */
function laterJobs(schema: string, { ended, later }: { readonly ended: string; readonly later: string }) {
  return `with recursive causes as (
      select distinct on (gate.child_id) gate.child_id as gate, ended.data, ended.state, ended.completed_on
      from ${schema}.job as ended
      join ${schema}.job_dependency as gate on gate.parent_name = ended.name and gate.parent_id = ended.id
      where ended.name = $1 and ended.blocking and ${ended}
      order by gate.child_id, ended.completed_on
    ), gates as (
      select gate, gate as cause from causes
      union
      select next.child_id, gates.cause from gates
      join ${schema}.job_dependency as job on job.parent_name = $2 and job.parent_id = gates.gate
      join ${schema}.job_dependency as next on next.parent_name = $1 and next.parent_id = job.child_id
    )
    select distinct on (later.id) later.id, later.data, causes.data as cause, causes.state::text as state
    from gates
    join causes on causes.gate = gates.cause
    join ${schema}.job_dependency as job on job.parent_name = $2 and job.parent_id = gates.gate
    join ${schema}.job as later on later.name = $1 and later.id = job.child_id and ${later}
    order by later.id, causes.completed_on`;
}

const MOST_LETTERS = 100_000;

export function deadLetters(
  boss: PgBoss,
  { program, schema }: { readonly program: string; readonly schema: string },
): Pick<JobQueue, "dead" | "retryDead" | "removeDead"> {
  return {
    async dead() {
      const letters = await boss.findJobs(DEAD_LETTERS, { queued: true, limit: MOST_LETTERS });
      return letters.map(deadJob);
    },
    /**
     * A job of a wave starts again under its ID, so that its wave waits for it. Others get a new job. Not `redrive`, which removes the
     * dead letter of a workspace that has a job, and forgets how long a job may run.
     */
    async retryDead(dead) {
      const repeated: DeadJob[] = [];
      for (const job of dead)
        if (job.rollout !== undefined && (await repeatJob(boss, job))) repeated.push(job);
      await continueWaves(boss, schema, repeated);
      const fresh = dead.filter((job) => job.workspace !== UNREADABLE && !repeated.includes(job));
      const jobs = fresh.map(({ workspace, command }) => ({
        id: crypto.randomUUID(),
        data: { workspace, command, version: program },
        ...jobOptions({ name: workspace, timeoutMs: LONGEST_TIMEOUT_MS }, PRIORITIES[command]),
      }));
      const inserted = new Set(jobs.length === 0 ? [] : await boss.insert(QUEUE, jobs, { returnId: true }));
      const moved = [...repeated, ...fresh.filter((_, at) => inserted.has(jobs[at]?.id ?? ""))].map(
        ({ id }) => id,
      );
      if (moved.length > 0) await boss.deleteJob(DEAD_LETTERS, moved);
      return moved.length;
    },
    async removeDead(ids) {
      // pg-boss refuses an empty list.
      if (ids.length > 0) await boss.deleteJob(DEAD_LETTERS, [...ids]);
    },
  };
}

function deadJob(letter: JobWithMetadata<unknown>): DeadJob {
  const { id, data, createdOn, sourceId, sourceOutput, sourceRetryCount } = letter;
  return {
    ...(jobOf(data) ?? { workspace: UNREADABLE, command: "drift" }),
    id,
    ...defined({ source: sourceId ?? undefined }),
    failedAt: createdOn.getTime(),
    attempts: (sourceRetryCount ?? 0) + 1 - deferralsOf(data),
    failure: failureOf(sourceOutput),
  };
}

type UnreadFailure = { readonly [Field in keyof DeadJob["failure"]]?: unknown };

/** pg-boss wraps what it writes itself, such as a lost heartbeat, in `value`. */
function failureOf(output: object | null): DeadJob["failure"] {
  const wrapped = (output ?? {}) as { readonly value?: object };
  const { status, worker, diagnostics, message } = { ...wrapped, ...wrapped.value } as UnreadFailure;
  return {
    status: RESULT_STATUSES.find((name) => name === status),
    ...(typeof worker === "string" ? { worker } : {}),
    diagnostics: diagnosticsIn(diagnostics),
    ...(typeof message === "string" ? { message: queueMessage(message) } : {}),
  };
}

/** What a message of pg-boss means to the user of a fleet. It does not name the worker. */
function queueMessage(message: string): string {
  const [, what] = QUEUE_MESSAGES.find(([pattern]) => pattern.test(message)) ?? [];
  if (what === undefined) return message;
  return `${what}; check the logs of the workers, then run \`workspace fleet dead-letters --retry\``;
}

const QUEUE_MESSAGES = [
  [/^job heartbeat timeout$/, "the worker stopped or lost the database before the run ended"],
  [/^(job timed out$|handler execution exceeded )/, "the run did not stop at its time limit"],
] as const;
