// The database of a fleet, from WORKSPACE_FLEET_DATABASE: results, leases, and the queue. Loaded on first use.

import { hostname } from "node:os";
import { type CommandContext, fromEnv } from "../../config/environment.ts";
import { authoritiesOf } from "../../config/network.ts";
import { PROGRAM } from "../../config/version.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import { openPauses, type Pauses } from "../../fleet/database/pauses.ts";
import { checkTables, openResultTable, prepareTables } from "../../fleet/database/tables.ts";
import { openLeases, type WorkspaceLeases } from "../../fleet/database/workspace-lease.ts";
import type { RunLimit } from "../../fleet/model/fleet.ts";
import type { ResultStore } from "../../fleet/model/result.ts";
import type { JobQueue } from "../../fleet/queue/job-queue.ts";
import type { QueueFacts } from "../../fleet/report/fleet-view.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import { databaseFailure, isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/database.ts";
import type { Clock } from "../../state/model/store.ts";
import { printDiagnostics } from "../output/diagnostics.ts";

const FLEET_DATABASE = "WORKSPACE_FLEET_DATABASE";

export interface FleetDatabase {
  readonly results: ResultStore;
  readonly leases: WorkspaceLeases;
  readonly pauses: Pauses;
  /** `read` changes no table. */
  openQueue(role: "work" | "send" | "read", fleet?: QueueUser): Promise<JobQueue>;
  close(): Promise<void>;
}

/** The limits of the fleet file, and the name of a worker. */
export interface QueueUser {
  readonly limits?: readonly RunLimit[] | undefined;
  readonly worker?: string;
}

export type DatabaseUse = "read" | "write";

/** Undefined if the variable is not set. To read needs no right to create or migrate the tables. Throws Failure. */
export async function openFleetDatabase(
  context: CommandContext,
  use: DatabaseUse,
): Promise<FleetDatabase | undefined> {
  const location = fromEnv(context, FLEET_DATABASE);
  if (location === undefined) return undefined;
  if (!isPostgresUrl(location))
    throw failureOf("CLI_USAGE", `${FLEET_DATABASE} is not a PostgreSQL URL`, {
      hint: "write it as postgres://user@host:5432/database",
    });
  const url = parsePostgresUrl(location, "fleet", context.env, "fleet");
  const { connectionOptions, openPgDatabase } = await import("../../state/backends/postgres/pg-database.ts");
  const authorities = authoritiesOf(context, undefined);
  const database = openPgDatabase({ url, clock: nodeClock, authorities });
  await (use === "read" ? checkTables : prepareTables)(database, url.schema, PROGRAM).catch(
    async (problem: unknown) => {
      await database.close();
      throw databaseFailure(problem, url);
    },
  );
  const results = openResultTable(database, url.schema, nodeClock);
  const closed = new AbortController();
  const onProblem = problemReporter(context, results, closed.signal);
  return {
    results,
    leases: openLeases(database, url.schema, nodeClock),
    pauses: openPauses(database, url.schema),
    async openQueue(role, user = {}) {
      const { openBossQueue } = await import("../../fleet/queue/boss-queue.ts");
      return openBossQueue({
        connection: connectionOptions(url, authorities),
        schema: url.schema,
        role,
        program: PROGRAM,
        clock: nodeClock,
        ...user,
        failure: (problem) => databaseFailure(problem, url),
        onProblem,
      });
    },
    close() {
      closed.abort();
      return database.close();
    },
  };
}

/** A lost connection fails many statements at once. */
const SILENCE_MS = 30_000;

/** Prints each problem once in a while, because statements in the background are repeated until they succeed, and the end of an outage. */
function problemReporter(
  context: CommandContext,
  results: ResultStore,
  closed: AbortSignal,
): (problem: Failure) => void {
  const printed = new Map<string, number>();
  const answersAgain = (outageMs: number): void =>
    context.stderr.write(`The database answers again after ${duration(outageMs)}.\n`);
  const watchOutage = outageWatch({ probe: () => results.now(), clock: nodeClock, closed, answersAgain });
  return ({ message, diagnostics }) => {
    const now = Date.now();
    if (now - (printed.get(message) ?? Number.NEGATIVE_INFINITY) >= SILENCE_MS) {
      printed.set(message, now);
      printDiagnostics(context, diagnostics);
    }
    watchOutage();
  };
}

export async function withQueue<T>(
  context: CommandContext,
  role: "work" | "send" | "read",
  work: (queue: JobQueue, database: FleetDatabase) => Promise<T>,
  user: QueueUser = {},
): Promise<T> {
  const database = await openFleetDatabase(context, role === "read" ? "read" : "write");
  if (database === undefined)
    throw failureOf("CLI_USAGE", `this command needs a database, and ${FLEET_DATABASE} is not set`, {
      hint: `set ${FLEET_DATABASE} to postgres://user@host:5432/database; on one machine, use \`workspace fleet run\``,
    });
  try {
    const queue = await database.openQueue(role, user);
    return await work(queue, database).finally(() => queue.close());
  } finally {
    await database.close();
  }
}

export function workerName(): string {
  return `${hostname()}:${process.pid}`;
}

/** The queue as status, reports, and metrics show it. */
export async function queueFacts(
  queue: JobQueue,
  { leases, pauses }: Pick<FleetDatabase, "leases" | "pauses">,
): Promise<QueueFacts> {
  const [jobs, active, workers, dead, paused, schedules] = await Promise.all([
    queue.jobs(),
    leases.active(),
    queue.workers(),
    queue.dead(),
    pauses.list(),
    queue.schedules(),
  ]);
  const scheduled = schedules.map(({ workspace }) => workspace);
  return { jobs, active, workers, dead, pauses: paused, scheduled };
}

/** Undefined for a role that may not read the queue, and for a database that has none yet. */
export async function readQueueFacts(database: Partial<FleetDatabase>): Promise<QueueFacts | undefined> {
  const { openQueue, leases, pauses } = database;
  if (openQueue === undefined || leases === undefined || pauses === undefined) return undefined;
  try {
    const queue = await openQueue("read");
    return await queueFacts(queue, { leases, pauses }).finally(() => queue.close());
  } catch (problem) {
    if (problem instanceof Failure) return undefined;
    throw problem;
  }
}

const PROBE_MS = 1_000;

interface OutageWatch {
  /** Fails while the database does not answer. */
  readonly probe: () => Promise<unknown>;
  readonly clock: Pick<Clock, "elapsed" | "sleep">;
  /** Ends the watch. */
  readonly closed: AbortSignal;
  /** Called once for each outage, with its length. */
  readonly answersAgain: (outageMs: number) => void;
}

/** To be called for each problem. A problem of a database that answers does not count. */
export function outageWatch({ probe, clock, closed, answersAgain }: OutageWatch): () => void {
  let isWatching = false;
  const answers = (): Promise<boolean> =>
    probe().then(
      () => true,
      () => false,
    );
  const watch = async (): Promise<void> => {
    const begun = clock.elapsed();
    if (await answers()) return;
    do await clock.sleep(PROBE_MS, closed);
    while (!closed.aborted && !(await answers()));
    if (!closed.aborted) answersAgain(clock.elapsed() - begun);
  };
  return () => {
    if (isWatching) return;
    isWatching = true;
    void watch().finally(() => {
      isWatching = false;
    });
  };
}
