// The job queue on pg-boss. Only this file loads pg-boss.

import type { PgBoss } from "pg-boss";
import { error, Failure } from "../../core/diagnostic.ts";
import { queueSchema, storable, tooNew } from "../database/tables.ts";
import { LONGEST_TIMEOUT_MS } from "../model/fleet.ts";
import { diagnosticsIn, RESULT_STATUSES } from "../model/result.ts";
import {
  DEAD_LETTER_OPTIONS,
  DEAD_LETTERS,
  type DeadJob,
  HEARTBEAT_REFRESH_S,
  type JobOutcome,
  type JobQueue,
  jobOf,
  jobOptions,
  QUEUE,
  QUEUE_OPTIONS,
  SUPERVISION_S,
} from "./job-queue.ts";

/** Version of the tables of the pinned pg-boss. An older program must not work on newer tables. */
export const QUEUE_VERSION = 46;

const MOST_ROWS = 100_000;
/** A worker without jobs asks again after this time. */
const POLLING_S = 2;
/** For the statements of pg-boss; results and leases have other connections. */
const QUEUE_CONNECTIONS = 4;

export interface QueueOptions {
  readonly connection: Readonly<Record<string, unknown>>;
  /** The schema of the fleet's own tables. */
  readonly schema: string;
  /** `work` also fires schedules and finds jobs of lost workers; `read` changes no table. */
  readonly role: "work" | "send" | "read";
  readonly failure: (problem: unknown) => Failure;
  /** A problem that pg-boss met in the background and will meet again or not. */
  readonly onProblem: (problem: Failure) => void;
}

export async function openBossQueue(options: QueueOptions): Promise<JobQueue> {
  const { PgBoss: Boss } = await import("pg-boss");
  const { role, schema, failure } = options;
  const works = role === "work";
  const boss = new Boss({
    ...options.connection,
    schema: queueSchema(schema),
    createSchema: false,
    migrate: role !== "read",
    supervise: works,
    schedule: works,
    registerInstance: works,
    superviseIntervalSeconds: SUPERVISION_S,
    monitorIntervalSeconds: SUPERVISION_S,
    queueCacheIntervalSeconds: SUPERVISION_S,
    max: QUEUE_CONNECTIONS,
    openTelemetry: { enabled: false },
  });
  boss.on("error", (problem) => options.onProblem(failure(asError(problem))));
  try {
    await boss.start();
    const version = (await boss.schemaVersion()) ?? 0;
    if (version > QUEUE_VERSION) throw tooNew(`queue has version ${version}`, QUEUE_VERSION);
    if (role !== "read") await createQueues(boss);
    // A queue that an older worker created gets the options of this one.
    if (works) await boss.updateQueue(QUEUE, QUEUE_OPTIONS);
  } catch (problem) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw isMissing(problem) ? new Failure(noQueue()) : failure(problem);
  }
  return withFailures(queueOn(boss), failure);
}

/** pg-boss gives this error no code. */
function isMissing(problem: unknown): boolean {
  return problem instanceof Error && problem.message === "pg-boss is not installed";
}

function noQueue(): ReturnType<typeof error> {
  return error("FLEET_DATABASE", "the database has no queue yet", {
    hint: "to create the queue, run `workspace fleet enqueue`, `fleet schedule`, or `fleet worker`",
  });
}

/** pg-boss copies some errors into plain objects, and adds the names of its parts. */
function asError(problem: Partial<Error>): Error {
  const message = (problem.message ?? "").replace(/ \(Queue: [^)]*\)$/, "");
  return Object.assign(new Error(message), problem, { message });
}

async function createQueues(boss: PgBoss): Promise<void> {
  if ((await boss.getQueue(QUEUE)) === null) {
    await boss.createQueue(DEAD_LETTERS, { policy: "standard", ...DEAD_LETTER_OPTIONS });
    await boss.createQueue(QUEUE, { policy: "exclusive", ...QUEUE_OPTIONS });
  }
}

function queueOn(boss: PgBoss): JobQueue {
  return {
    async enqueue(workspaces, command) {
      const jobs = workspaces.map((workspace) => ({
        id: crypto.randomUUID(),
        data: { workspace: workspace.name, command },
        ...jobOptions(workspace),
      }));
      const inserted = new Set(await boss.insert(QUEUE, jobs, { returnId: true }));
      return jobs.flatMap(({ id, singletonKey }) => (inserted.has(id) ? [] : [singletonKey]));
    },
    async work(parallelism, run) {
      await boss.work(
        QUEUE,
        {
          localConcurrency: parallelism,
          pollingIntervalSeconds: POLLING_S,
          burstWhenReadyExceeds: 1,
          heartbeatRefreshSeconds: HEARTBEAT_REFRESH_S,
          includeMetadata: true,
          perJobResults: true,
        },
        (jobs) =>
          Promise.all(
            jobs.map(async ({ id, data, retryCount, signal }) => {
              const job = jobOf(data);
              const { outcome, output }: JobOutcome =
                job === undefined
                  ? { outcome: "dead", output: { status: "failed", worker: "", diagnostics: [] } }
                  : await run({ ...job, id, attempt: retryCount + 1, signal });
              return { id, status: STATUSES[outcome], output: storable(output) };
            }),
          ),
      );
    },
    stopTaking: () => boss.offWork(QUEUE, { wait: true }),
    async schedules() {
      const found = await boss.getSchedules(QUEUE, undefined, { limit: MOST_ROWS });
      return found.map(({ key, cron, timezone, options }) => ({
        workspace: key,
        cron,
        timezone,
        expireInSeconds: options?.expireInSeconds,
      }));
    },
    async putSchedule(workspace) {
      const { cron, timezone } = workspace.schedule ?? { cron: "", timezone: "UTC" };
      const job = { workspace: workspace.name, command: "drift" };
      // A schedule that came due while no worker ran starts once.
      const options = { tz: timezone, key: workspace.name, missed: "once" } as const;
      await boss.schedule(QUEUE, cron, job, { ...options, ...jobOptions(workspace) });
    },
    removeSchedule: (workspace) => boss.unschedule(QUEUE, workspace),
    async dead() {
      const found = await boss.findJobs(DEAD_LETTERS, { queued: true, limit: MOST_ROWS });
      return found.flatMap(({ id, data, createdOn, sourceOutput, sourceRetryCount }): DeadJob[] => {
        const job = jobOf(data) ?? { workspace: UNREADABLE, command: "drift" };
        const attempts = (sourceRetryCount ?? 0) + 1;
        return [{ ...job, id, failedAt: createdOn.getTime(), attempts, failure: failureOf(sourceOutput) }];
      });
    },
    /** Not `redrive`, which removes the dead letter of a workspace that has a job, and forgets how long a job may run. */
    async retryDead(dead) {
      const known = dead.filter(({ workspace }) => workspace !== UNREADABLE);
      const jobs = known.map(({ workspace, command }) => ({
        id: crypto.randomUUID(),
        data: { workspace, command },
        ...jobOptions({ name: workspace, timeoutMs: LONGEST_TIMEOUT_MS }),
      }));
      if (jobs.length === 0) return 0;
      const inserted = new Set(await boss.insert(QUEUE, jobs, { returnId: true }));
      const moved = known.flatMap(({ id }, at) => (inserted.has(jobs[at]?.id ?? "") ? [id] : []));
      if (moved.length > 0) await boss.deleteJob(DEAD_LETTERS, moved);
      return moved.length;
    },
    async removeDead(ids) {
      // pg-boss refuses an empty list.
      if (ids.length > 0) await boss.deleteJob(DEAD_LETTERS, [...ids]);
    },
    close: () => boss.stop({ graceful: true, timeout: 1_000 }),
  };
}

/** In place of a name, for a job that `workspace` did not write. */
const UNREADABLE = "?";

const STATUSES = { done: "completed", failed: "failed", dead: "deadletter" } as const;

type UnreadFailure = { readonly [Field in keyof DeadJob["failure"]]?: unknown };

/** pg-boss wraps what it writes itself, such as a lost heartbeat, in `value`. */
function failureOf(output: object | null): DeadJob["failure"] {
  const found = (output ?? {}) as { readonly value?: object };
  const { status, worker, diagnostics, message } = { ...found, ...found.value } as UnreadFailure;
  const known = RESULT_STATUSES.find((one) => one === status);
  return {
    status: known,
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

/** Every method rejects with a diagnostic that names the server and no password. */
function withFailures(queue: JobQueue, failure: (problem: unknown) => Failure): JobQueue {
  type Method = (...args: readonly unknown[]) => Promise<unknown>;
  const methods = Object.entries<Method>(queue as unknown as Record<string, Method>).map(
    ([name, method]): [string, Method] => [
      name,
      (...args) =>
        method(...args).catch((problem: unknown) => {
          throw failure(problem);
        }),
    ],
  );
  return Object.fromEntries(methods) as unknown as JobQueue;
}
