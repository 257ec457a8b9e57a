// Days of a fleet in minutes: each round makes the database believe that 15 minutes have passed, then every workspace is checked. Workers, their
// queue, and PostgreSQL are real; a run is a value. The database restarts, hosts fail, and workers are replaced by a newer version.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FleetCommand, WorkspaceResult } from "../../src/fleet/model/result.ts";
import { PRIORITIES } from "../../src/fleet/queue/job-queue.ts";
import { openFleet, server } from "../../test/fleet/queue/fleet-server.ts";
import { startWorker } from "../../test/fleet/queue/fleet-worker.ts";
import { resultOf, workspaceNamed } from "../../test/fleet/queue/workspaces.ts";

export interface SoakOptions {
  readonly schema: string;
  readonly rounds: number;
  readonly workspaces: number;
  /** Rounds after which the database restarts, and after which workers of the next version replace the present ones. */
  readonly restartEvery: number;
  readonly upgradeEvery: number;
  readonly sampleEvery: number;
}

export interface SoakSample {
  readonly round: number;
  readonly heapMiB: number;
  readonly results: number;
  readonly jobs: number;
  readonly databaseMiB: number;
}

export interface SoakFigures {
  readonly runs: number;
  /** Runs whose result is not in the database. */
  readonly lost: number;
  readonly twiceAtOnce: number;
  readonly restarts: number;
  readonly upgrades: number;
  readonly versions: readonly string[];
  readonly samples: readonly SoakSample[];
}

const ROUND = "interval ''15 minutes''";
const APPLY_EVERY = 16;
const ROUND_LIMIT_MS = 120_000;

export async function soak(options: SoakOptions): Promise<SoakFigures> {
  const { schema, rounds, restartEvery, upgradeEvery, sampleEvery } = options;
  const workspaces = Array.from({ length: options.workspaces }, (_, at) => workspaceNamed(`w${at}`));
  const names = workspaces.map(({ name }) => name);
  const fleet = await openFleet(schema);
  const sender = await fleet.openQueue("send");
  const running = new Set<string>();
  const figures = { runs: 0, lost: 0, twiceAtOnce: 0, restarts: 0, upgrades: 0 };
  const samples: SoakSample[] = [];
  let round = 0;
  /** Every fifth workspace fails in every seventh round, as a host that does not answer for a while. */
  const fails = (at: number): boolean => at % 5 === 0 && round % 7 === 0;
  const executeAs =
    (version: string) =>
    async ({ name }: { readonly name: string }, _: AbortSignal, job: { command: FleetCommand }) => {
      if (running.has(name)) figures.twiceAtOnce += 1;
      running.add(name);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running.delete(name);
      const status = fails(names.indexOf(name)) ? "failed" : "ok";
      return resultOf(name, status, { command: job.command, durationMs: round, version });
    };
  const start = () => {
    const program = `0.1.${figures.upgrades}`;
    const how = { parallelism: 4, program, pollingS: 0.5 };
    return startWorker(schema, workspaces, executeAs(program), how);
  };
  let worker = await start();
  try {
    for (round = 1; round <= rounds; round++) {
      await passTime(fleet, schema);
      const command: FleetCommand = round % APPLY_EVERY === 0 ? "apply" : "drift";
      if (round % restartEvery === 0) {
        server?.restart();
        figures.restarts += 1;
      }
      await enqueue(sender, workspaces, command);
      if (round % upgradeEvery === 0) {
        // The older worker finishes what it runs, and the newer one takes the rest of the round.
        const older = worker;
        figures.upgrades += 1;
        worker = await start();
        await older.end();
      }
      figures.runs += names.length;
      figures.lost += await missing(fleet.results, names, command, round);
      if (round % sampleEvery === 0) samples.push({ round, ...(await sampleOf(fleet, schema)) });
    }
    const last = await fleet.results.recent(100, names);
    const versions = [...new Set([...last.values()].flat().flatMap(({ version }) => version ?? []))].sort();
    return { ...figures, versions, samples };
  } finally {
    await worker.end();
    await sender.close();
    await fleet.database.close();
  }
}

type OpenFleet = Awaited<ReturnType<typeof openFleet>>;

/** A restart of the database ends connections, so a command of an operator is repeated. */
async function enqueue(
  sender: Awaited<ReturnType<OpenFleet["openQueue"]>>,
  workspaces: readonly ReturnType<typeof workspaceNamed>[],
  command: FleetCommand,
): Promise<void> {
  const jobs = workspaces.map((workspace) => ({ workspace, command, priority: PRIORITIES[command] }));
  for (let attempt = 1; ; attempt++)
    try {
      await sender.enqueue(jobs);
      return;
    } catch (problem) {
      if (attempt === 20) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

/** The workspaces whose result of this round does not arrive. */
async function missing(
  results: OpenFleet["results"],
  names: readonly string[],
  command: FleetCommand,
  round: number,
): Promise<number> {
  const isOfRound = (result: WorkspaceResult): boolean =>
    result.command === command && result.durationMs === round;
  const end = performance.now() + ROUND_LIMIT_MS;
  for (;;) {
    const recent = await results.recent(1, names).catch(() => new Map<string, readonly WorkspaceResult[]>());
    const left = names.filter((name) => recent.get(name)?.some(isOfRound) !== true).length;
    if (left === 0 || performance.now() > end) return left;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Every time in both schemas moves into the past. */
async function passTime({ database }: OpenFleet, schema: string): Promise<void> {
  const { rows } = await database.query(
    `select c.table_schema || '.' || quote_ident(c.table_name) as name,
       string_agg(quote_ident(c.column_name) || ' = ' || quote_ident(c.column_name) || ' - ${ROUND}', ', ') as moves
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = any($1::text[]) and c.data_type = 'timestamp with time zone'
       and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
       and not exists (select from pg_inherits i join pg_class p on p.oid = i.inhrelid
         where p.oid = (quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))::regclass)
     group by 1`,
    [[schema, `${schema}_jobs`]],
  );
  for (const { name, moves } of rows) await database.query(`update ${name} set ${moves}`, []);
}

async function sampleOf({ database }: OpenFleet, schema: string): Promise<Omit<SoakSample, "round">> {
  const { rows } = await database.query(
    `select (select count(*) from ${schema}.results)::int as results,
       (select count(*) from ${schema}_jobs.job)::int as jobs,
       (pg_database_size(current_database()) / 1048576)::int as size`,
    [],
  );
  collectGarbage();
  const [row] = rows;
  return {
    heapMiB: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
    results: Number(row?.results),
    jobs: Number(row?.jobs),
    databaseMiB: Number(row?.size),
  };
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
