// The job queue on pg-boss. Only this file opens pg-boss.

import type { FlowJob, JobWithMetadata, PgBoss } from "pg-boss";
import { error, type Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { Clock } from "../../state/model/store.ts";
import { queueSchema, storable, tooNew } from "../database/tables.ts";
import { limitGroups, type RunLimit } from "../model/fleet.ts";
import { deadLetters, stopJobs, stoppedJobs } from "./ended-jobs.ts";
import {
  DEAD_LETTERS,
  deferralsOf,
  type FleetJob,
  GATES,
  HEARTBEAT_REFRESH_S,
  type JobOutcome,
  type JobQueue,
  jobOf,
  jobOptions,
  KEPT_A_MONTH,
  type NewJob,
  optionsText,
  type PresentJob,
  QUEUE,
  QUEUE_OPTIONS,
  type QueueWorker,
  SUPERVISION_S,
  scheduledOptions,
  UNREADABLE,
  writerOf,
} from "./job-queue.ts";

/** Version of the tables of the pinned pg-boss. An older program must not work on newer tables. */
export const QUEUE_VERSION = 46;

const MOST_ROWS = 100_000;
/** A worker without jobs asks again after this time. */
const POLLING_S = 2;
/** For the statements of pg-boss; results and leases have other connections. */
const QUEUE_CONNECTIONS = 4;

interface QueueOptions {
  readonly connection: Readonly<Record<string, unknown>>;
  /** The schema of the fleet's own tables. */
  readonly schema: string;
  /** `work` also fires schedules and finds jobs of lost workers; `read` changes no table. */
  readonly role: "work" | "send" | "read";
  /** Version of this program, and the name of this process among the workers. */
  readonly program: string;
  readonly worker?: string;
  readonly limits?: readonly RunLimit[];
  /** Seconds until a worker without jobs asks again. */
  readonly pollingS?: number | undefined;
  readonly clock: Pick<Clock, "now">;
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
    instanceName: `${options.worker ?? ""} ${options.program}`,
    instanceHeartbeatSeconds: SUPERVISION_S,
    superviseIntervalSeconds: SUPERVISION_S,
    monitorIntervalSeconds: SUPERVISION_S,
    queueCacheIntervalSeconds: SUPERVISION_S,
    max: QUEUE_CONNECTIONS,
    openTelemetry: { enabled: false },
  });
  let isOpen = false;
  // Until then, a problem in the background is one that opening meets too.
  boss.on("error", (problem) => isOpen && options.onProblem(failure(asError(problem))));
  try {
    await boss.start();
    const version = (await boss.schemaVersion()) ?? 0;
    if (version > QUEUE_VERSION) throw tooNew("queue", version, undefined, options.program, QUEUE_VERSION);
    if (role !== "read") {
      await assertWritable(boss, schema);
      await createQueues(boss);
    }
    // A queue that an older worker created gets the options of this one.
    if (works) await boss.updateQueue(QUEUE, QUEUE_OPTIONS);
  } catch (problem) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    // pg-boss gives this error no code.
    if (!(problem instanceof Error) || problem.message !== "pg-boss is not installed") throw failure(problem);
    throw failureOf("FLEET_DATABASE", "the database has no queue yet", {
      hint: "to create the queue, run `workspace fleet enqueue`, `fleet schedule`, or `fleet worker`",
    });
  }
  isOpen = true;
  return withFailures(queueOn(boss, options), failure);
}

/** A command that has nothing to change would otherwise succeed for a role that can only read. */
async function assertWritable(boss: PgBoss, schema: string): Promise<void> {
  const table = `${queueSchema(schema)}.version`;
  await boss.getDb().executeSql(`update ${table} set version = version where false`);
}

/** pg-boss copies some errors into plain objects, and adds the names of its parts. */
function asError(problem: Partial<Error>): Error {
  const message = (problem.message ?? "").replace(/ \(Queue: [^)]*\)$/, "");
  return Object.assign(new Error(message), problem, { message });
}

async function createQueues(boss: PgBoss): Promise<void> {
  if ((await boss.getQueue(QUEUE)) !== null) return;
  await boss.createQueue(DEAD_LETTERS, { policy: "standard", ...KEPT_A_MONTH });
  await boss.createQueue(GATES, { policy: "standard", ...KEPT_A_MONTH });
  await boss.createQueue(QUEUE, { policy: "exclusive", ...QUEUE_OPTIONS });
}

/** The name under which a worker is in the registry: `host:4711 0.1.0`. */
const INSTANCE = /^(.*) (\S+)$/;

function queueOn(boss: PgBoss, options: QueueOptions): JobQueue {
  return {
    ...enqueueing(boss, options),
    ...working(boss, options),
    ...takenJobs(boss, options),
    ...presentJobs(boss, options),
    workers: () => workersOf(boss),
    ...schedules(boss, options),
    stopped: () => stoppedJobs(boss, options.schema),
    stop: (ids) => stopJobs(boss, options.schema, ids),
    ...deadLetters(boss, options),
    close: () => boss.stop({ graceful: true, timeout: 1_000 }),
  };
}

type Part<Methods extends keyof JobQueue> = Pick<JobQueue, Methods>;

function enqueueing(
  boss: PgBoss,
  { program, limits = [], clock }: QueueOptions,
): Part<"enqueue" | "enqueueWaves"> {
  const insertOf = ({ workspace, command, priority }: NewJob, rollout?: FleetJob["rollout"]) => ({
    id: crypto.randomUUID(),
    data: { workspace: workspace.name, command, version: program, ...(rollout && { rollout }) },
    ...jobOptions(workspace, priority, limitGroups(workspace, limits)[0]),
  });
  const presentOf = async (names: readonly string[]): Promise<readonly PresentJob[]> => {
    if (names.length > 20)
      return (await everyJob(boss, clock)).filter(({ workspace }) => names.includes(workspace));
    const pages = await Promise.all(names.map((key) => boss.findJobs(QUEUE, { key, limit: PAGE })));
    return pages.flat().flatMap((job) => presentJob(job, clock.now()));
  };
  return {
    async enqueue(jobs) {
      const inserts = jobs.map((job) => insertOf(job));
      const inserted = new Set(await boss.insert(QUEUE, inserts, { returnId: true }));
      const refused = inserts.flatMap(({ id, singletonKey }) => (inserted.has(id) ? [] : [singletonKey]));
      return refused.length === 0 ? [] : presentOf(refused);
    },
    async enqueueWaves(rollout, waves) {
      const names = waves.flatMap(({ jobs }) => jobs.map(({ workspace }) => workspace.name));
      const inTheWay = await presentOf(names);
      if (inTheWay.length > 0) return inTheWay;
      const gate = (at: number): readonly string[] => (at === 0 ? [] : [`gate ${at}`]);
      await boss.flow(
        waves.flatMap(({ name: wave, jobs }, at) => [
          ...jobs.map((job): FlowJob => {
            const { data, ...options } = insertOf(job, { id: rollout, wave });
            return { ref: job.workspace.name, name: QUEUE, data, options, dependsOn: [...gate(at)] };
          }),
          {
            ref: `gate ${at + 1}`,
            name: GATES,
            data: { rollout, wave },
            dependsOn: jobs.map(({ workspace }) => workspace.name),
          },
        ]),
      );
      return [];
    },
  };
}

function working(
  boss: PgBoss,
  { limits = [], program, pollingS = POLLING_S }: QueueOptions,
): Part<"work" | "stopTaking"> {
  return {
    async work(parallelism, run) {
      const tiers = Object.fromEntries(limits.map((limit) => [tierOf(limit), limit.runs]));
      await boss.work(
        QUEUE,
        {
          localConcurrency: parallelism,
          pollingIntervalSeconds: pollingS,
          burstWhenReadyExceeds: 1,
          heartbeatRefreshSeconds: HEARTBEAT_REFRESH_S,
          includeMetadata: true,
          perJobResults: true,
          ...(limits.length === 0 ? {} : { groupConcurrency: { default: MOST_IN_A_GROUP, tiers } }),
        },
        (jobs) =>
          Promise.all(
            jobs.map(async ({ id, data, retryCount, retryLimit, signal }) => {
              const job = jobOf(data);
              const attempt = retryCount + 1 - deferralsOf(data);
              const isLastAttempt = retryCount >= retryLimit;
              const { outcome, output }: JobOutcome =
                job === undefined
                  ? unreadable(data, program)
                  : await run({ ...job, id, attempt, isLastAttempt, signal });
              return { id, status: STATUSES[outcome], output: storable(output) };
            }),
          ),
      );
      await boss.work(GATES, { pollingIntervalSeconds: pollingS }, async () => undefined);
    },
    async stopTaking() {
      await Promise.all([boss.offWork(QUEUE, { wait: true }), boss.offWork(GATES, { wait: true })]);
    },
  };
}

function takenJobs(boss: PgBoss, { schema }: QueueOptions): Part<"wasCancelled" | "defer" | "othersRunning"> {
  return {
    async wasCancelled(id) {
      const [job] = await boss.findJobs(QUEUE, { id });
      return job?.state === "cancelled";
    },
    /** As a try that does not count: pg-boss has no other way back for a job that was taken. */
    async defer({ id }, { name }, until, paused) {
      const [job] = await boss.findJobs<object>(QUEUE, { id });
      const transaction = await boss.getDb().beginTransaction?.();
      if (job === undefined || transaction === undefined) return;
      try {
        const { db } = transaction;
        // First, because a job without a further try would become a dead letter.
        await db.executeSql(
          `update ${queueSchema(schema)}.job set retry_limit = retry_limit + 1
           where name = $1 and id = $2 and state = 'active'`,
          [QUEUE, id],
        );
        await boss.fail(QUEUE, id, { message: `${name} is paused` }, { db });
        const data = {
          ...job.data,
          deferred: deferralsOf(job.data) + 1,
          ...defined({ paused }),
        };
        await boss.update(QUEUE, data, { id, startAfter: new Date(until), db });
        await transaction.commit();
      } catch (problem) {
        await transaction.rollback();
        throw problem;
      }
    },
    /**
     * pg-boss counts a group when it hands out a job, and two polls at the same moment count without each other. Each job is counted once
     * more after it was handed out: of two such jobs, at least the later one sees the other.
     */
    async othersRunning({ id }, workspaces) {
      const { rows } = await boss.getDb().executeSql(
        `select count(*)::int as others from ${queueSchema(schema)}.job
         where name = $1 and state = 'active' and singleton_key = any($2::text[]) and id <> $3`,
        [QUEUE, workspaces, id],
      );
      return Number(rows[0]?.others ?? 0);
    },
  };
}

function presentJobs(boss: PgBoss, { clock }: QueueOptions): Part<"jobs" | "cancel" | "release"> {
  return {
    jobs: () => everyJob(boss, clock),
    async cancel(jobs) {
      if (jobs.length === 0) return 0;
      // The type of the answer has no members; it counts those that were not over.
      const answer = await boss.cancel(
        QUEUE,
        jobs.map(({ id }) => id),
      );
      return (answer as { readonly affected?: number }).affected ?? 0;
    },
    async release(pauses) {
      const jobs = await everyJob(boss, clock);
      const paused = jobs.filter((job) => job.paused !== undefined && pauses.includes(job.paused));
      for (const { id } of paused) {
        const [job] = await boss.findJobs<{ readonly paused?: string }>(QUEUE, { id });
        const { paused: _paused, ...data } = job?.data ?? {};
        await boss.update(QUEUE, data, { id, startAfter: 0 });
      }
      return paused.length;
    },
  };
}

async function everyJob(boss: PgBoss, clock: QueueOptions["clock"]): Promise<readonly PresentJob[]> {
  const jobs: PresentJob[] = [];
  for (let after: string | undefined; ; ) {
    const page = await boss.findJobs(QUEUE, { limit: PAGE, ...defined({ after }) });
    jobs.push(...page.flatMap((job) => presentJob(job, clock.now())));
    after = page.length < PAGE ? undefined : page.at(-1)?.id;
    if (after === undefined) return jobs;
  }
}

async function workersOf(boss: PgBoss): Promise<readonly QueueWorker[]> {
  const instances = await boss.getInstances({ limit: 1000 });
  return instances
    .filter(
      ({ stoppedOn, workers, name, live }) =>
        name !== null && stoppedOn === null && (live || workers.length > 0),
    )
    .map(({ name, host, heartbeatOn, live, workers, metrics }): QueueWorker => {
      const [, worker = name ?? host, version = "?"] = INSTANCE.exec(name ?? "") ?? [];
      const takes = workers.filter(({ queue }) => queue === QUEUE);
      return {
        name: worker,
        version,
        heartbeatAt: heartbeatOn.getTime(),
        live,
        running: takes.reduce((sum, { active }) => sum + active, 0),
        parallelism: takes.reduce((sum, { localConcurrency }) => sum + localConcurrency, 0),
        ...(typeof metrics?.rss === "number" ? { memoryBytes: metrics.rss } : {}),
      };
    });
}

function schedules(
  boss: PgBoss,
  { limits = [] }: QueueOptions,
): Part<"schedules" | "putSchedule" | "removeSchedule"> {
  return {
    async schedules() {
      const schedules = await boss.getSchedules(QUEUE, undefined, { limit: MOST_ROWS });
      return schedules.map(({ key, cron, timezone, options }) => ({
        workspace: key,
        cron,
        timezone,
        options: optionsText({ ...options }),
      }));
    },
    async putSchedule(workspace) {
      const { cron, timezone } = workspace.schedule ?? { cron: "", timezone: "UTC" };
      const job = { workspace: workspace.name, command: "drift" };
      // A schedule that came due while no worker ran starts once.
      const options = { tz: timezone, key: workspace.name, missed: "once" } as const;
      await boss.schedule(QUEUE, cron, job, { ...options, ...scheduledOptions(workspace, limits) });
    },
    removeSchedule: (workspace) => boss.unschedule(QUEUE, workspace),
  };
}

const PAGE = 10_000;
/** Groups without a limit: the fleet file that enqueued a job may have had one. */
const MOST_IN_A_GROUP = 1_000;

function tierOf({ of }: RunLimit): string {
  return of === "per_host" ? of : `${of.label}=${of.value}`;
}

function presentJob(job: JobWithMetadata<unknown>, now: number): readonly PresentJob[] {
  const { id, data, state, createdOn, startedOn, startAfter, blocked, retryCount, priority } = job;
  const read = jobOf(data) ?? { workspace: UNREADABLE, command: "drift" as const };
  if (state !== "created" && state !== "retry" && state !== "active") return [];
  const waits = blocked || startAfter.getTime() > now;
  return [
    {
      ...read,
      id,
      state: state === "active" ? "running" : waits ? "waiting" : "queued",
      createdAt: createdOn.getTime(),
      startAfter: startAfter.getTime(),
      attempt: retryCount + 1 - deferralsOf(data),
      priority,
      ...(state === "active" ? { startedAt: startedOn.getTime() } : {}),
    },
  ];
}

/** A newer worker may know the command, so the job goes back until no try is left. */
function unreadable(data: unknown, program: string): JobOutcome {
  const writer = writerOf(data);
  const by = writer === undefined ? "another program" : `workspace ${writer}`;
  const hint =
    writer === undefined
      ? "remove it with `workspace fleet dead-letters --remove`"
      : `update the workers to ${writer}`;
  const message = `${by} wrote a job that this worker (workspace ${program}) cannot read`;
  const diagnostics = [error("FLEET_UNKNOWN", message, { hint })];
  return { outcome: "failed", output: { status: "failed", worker: "", diagnostics } };
}

const STATUSES = { done: "completed", failed: "failed", dead: "deadletter" } as const;

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
