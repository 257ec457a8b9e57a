// One trial: every workspace of a farm is checked for drift through the queue, calmly or while workers are killed.

import { nodeClock } from "../../src/state/backends/file/node-ports.ts";
import { parsePostgresUrl } from "../../src/state/backends/postgres/database.ts";
import { openPgDatabase } from "../../src/state/backends/postgres/pg-database.ts";
import type { Farm } from "./farm.ts";
import { runFleetCommand, startWorker, type WorkerPlace, type WorkerProcess } from "./workers.ts";

export interface TrialOptions extends WorkerPlace {
  readonly farm: Farm;
  readonly workers: number;
  /** How often the same workers check every workspace; the processes of their runs start in the first round. */
  readonly rounds: number;
  /** Kills a random worker with SIGKILL after this time, again and again, and starts another one. */
  readonly killEveryMs?: number;
  /** Called once, when half of the workspaces are checked. */
  readonly halfway?: () => void;
  readonly random: () => number;
  readonly deadlineMs: number;
}

export interface TrialFigures {
  readonly workspaces: number;
  readonly workers: number;
  readonly round: number;
  readonly seconds: number;
  /** Processor time of the workers that were not killed. */
  readonly cpuSeconds: number;
  readonly killed: number;
  /** Workspaces with a result of this round. */
  readonly checked: number;
  readonly failed: number;
  readonly lost: number;
  readonly twiceAtOnce: number;
  /** Visits of the farm; more than workspaces where killed workers left jobs. */
  readonly visits: number;
}

const LOOK_MS = 250;

export async function runTrial(options: TrialOptions): Promise<readonly TrialFigures[]> {
  const { folder, database, workers: count, rounds } = options;
  const db = await openCounter(database);
  await runFleetCommand(folder, database, ["enqueue", "drift"]);
  const workers = Array.from({ length: count }, () => startWorker(options));
  const figures: TrialFigures[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const since = await db.now();
    if (round > 1) await runFleetCommand(folder, database, ["enqueue", "drift"]);
    figures.push({ ...(await checkAll(options, workers, db, since)), round });
  }
  for (const { child } of workers) child.kill("SIGTERM");
  await Promise.all(workers.map(({ ended }) => ended));
  await db.close();
  return figures;
}

async function checkAll(
  options: TrialOptions,
  workers: WorkerProcess[],
  db: Awaited<ReturnType<typeof openCounter>>,
  since: string,
): Promise<Omit<TrialFigures, "round">> {
  const { farm, random } = options;
  const total = farm.urls.length;
  farm.clear();
  const cpuBefore = cpuSeconds(workers);
  const begun = performance.now();
  let killed = 0;
  let nextKill = begun + (options.killEveryMs ?? Number.POSITIVE_INFINITY);
  let restarted = options.halfway === undefined;
  let found = { checked: 0, failed: 0, open: total };
  while (found.open > 0 && performance.now() - begun < options.deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    found = await db.count(since);
    if (!restarted && found.checked >= total / 2) {
      restarted = true;
      options.halfway?.();
    }
    if (performance.now() < nextKill) continue;
    killed++;
    nextKill = performance.now() + (options.killEveryMs ?? 0) * (0.5 + random());
    await replaceOne(workers, options, random);
  }
  return {
    workspaces: total,
    workers: workers.length,
    seconds: (performance.now() - begun) / 1000,
    cpuSeconds: cpuSeconds(workers) - cpuBefore,
    killed,
    checked: found.checked,
    failed: found.failed,
    lost: total - found.checked,
    twiceAtOnce: farm.overlaps(),
    visits: farm.visits().reduce((sum, visits) => sum + visits.length, 0),
  };
}

const cpuSeconds = (workers: readonly WorkerProcess[]): number =>
  workers.reduce((sum, worker) => sum + worker.cpuSeconds(), 0);

async function replaceOne(workers: WorkerProcess[], place: WorkerPlace, random: () => number): Promise<void> {
  const at = Math.floor(random() * workers.length);
  const victim = workers[at];
  victim?.child.kill("SIGKILL");
  await victim?.ended;
  workers[at] = startWorker(place);
}

async function openCounter(url: string) {
  const { schema, ...parsed } = parsePostgresUrl(url, "fleet", {}, "fleet");
  const database = openPgDatabase({ url: { schema, ...parsed }, clock: nodeClock });
  const jobs = `${schema}_jobs.job`;
  return {
    async now() {
      const { rows } = await database.query("select clock_timestamp()::text as now", []);
      return String(rows[0]?.now);
    },
    async count(since: string) {
      const { rows } = await database.query(
        `select count(*)::int as checked, (count(*) filter (where status not in ('ok', 'changes')))::int as failed,
           (select count(*)::int from ${jobs} where name = 'fleet' and state in ('created', 'retry', 'active')) as open
         from ${schema}.results where started_at >= $1::timestamptz`,
        [since],
      );
      return rows[0] as { readonly checked: number; readonly failed: number; readonly open: number };
    },
    close: () => database.close(),
  };
}
