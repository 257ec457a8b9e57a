// The tables of a fleet in PostgreSQL, and the results in them.

import { type Failure, failureOf } from "../../core/diagnostic.ts";
import {
  columnNumber,
  columnText,
  type Database,
  isMissingTable,
  type Row,
} from "../../state/backends/postgres/database.ts";
import type { Clock } from "../../state/model/store.ts";
import {
  FLEET_COMMANDS,
  KEPT_LOGS,
  KEPT_RESULTS,
  type ResultStore,
  resultIn,
  type WorkspaceResult,
} from "../model/result.ts";

/** The statements that lead to a version from the one before. A landed migration never changes. */
interface Migration {
  readonly version: number;
  readonly statements: (schema: string) => readonly string[];
}

/** Older programs must be able to work with the tables of a newer one until they end: add, never rename or remove what their statements name. */
const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    statements: (schema) => [
      `create table ${schema}.results (
         id bigint generated always as identity primary key,
         workspace text not null,
         run text not null unique,
         command text not null,
         status text not null,
         started_at timestamptz not null,
         body jsonb not null
       )`,
      `create index results_latest on ${schema}.results (workspace, command, started_at desc, id desc)`,
      `create index results_age on ${schema}.results (started_at)`,
      `create table ${schema}.leases (
         workspace text primary key,
         token text not null,
         worker text not null,
         expires_at timestamptz not null,
         command text,
         run text,
         attempt integer,
         started_at timestamptz not null,
         version text,
         log text
       )`,
      `create table ${schema}.pauses (
         id text primary key,
         body jsonb not null,
         until timestamptz,
         created_at timestamptz not null default clock_timestamp()
       )`,
    ],
  },
];

export function queueSchema(schema: string): string {
  return `${schema}_jobs`;
}

/** Creates or migrates the tables. Throws Failure FLEET_DATABASE if they are newer than `program`, the version of this program. */
export async function prepareTables(
  database: Database,
  schema: string,
  program: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const presentVersion = await checkTables(database, schema, program, migrations);
  if (presentVersion === newestOf(migrations)) return;
  await database.script([
    `select pg_advisory_xact_lock(hashtext('workspace fleet tables ${schema}'))`,
    ...[schema, queueSchema(schema)].map(
      (name) =>
        `do $$ begin if to_regnamespace('${name}') is null then create schema ${name}; end if; end $$`,
    ),
    `create table if not exists ${schema}.format (version integer not null, program text)`,
    ...migrations.map(({ version, statements }) => migrationOf(schema, version, statements(schema))),
    `update ${schema}.format set program = '${program.replaceAll("'", "")}' where program is null`,
  ]);
}

/** The version of the tables; older ones, and none, can be read. Throws Failure FLEET_DATABASE if they are newer than this program. */
export async function checkTables(
  database: Database,
  schema: string,
  program: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  const rows = await rowsIfPresent(database, `select max(version) as version from ${schema}.format`, []);
  const version = columnNumber(rows[0], "version");
  const newest = newestOf(migrations);
  if (version > newest)
    throw tooNew("tables of the fleet", version, await writerOf(database, schema), program, newest);
  return version;
}

function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

export function tooNew(
  what: string,
  version: number,
  writer: string | undefined,
  program: string,
  newest: number,
): Failure {
  const by = writer === undefined ? "" : ` (of workspace ${writer})`;
  const message = `the ${what} have version ${version}${by}, and this program (workspace ${program}) supports up to ${newest}`;
  return failureOf("FLEET_DATABASE", what === "queue" ? message.replace(" have ", " has ") : message, {
    hint: `update this machine to ${writer === undefined ? "the version of the other workers" : `workspace ${writer}`}`,
  });
}

/** The program that made the newest tables. */
async function writerOf(database: Database, schema: string): Promise<string | undefined> {
  const sql = `select program from ${schema}.format order by version desc limit 1`;
  const rows = await rowsIfPresent(database, sql, []).catch(() => []);
  return columnText(rows[0], "program");
}

/** Another process may have migrated since the version was read, so each step checks it again under the lock. */
function migrationOf(schema: string, version: number, statements: readonly string[]): string {
  return `do $migration$ begin
    if coalesce((select max(version) from ${schema}.format), 0) < ${version} then
      ${statements.join(";\n")};
      insert into ${schema}.format (version) values (${version});
    end if;
  end $migration$`;
}

/** No rows if the table or its schema does not exist. */
async function rowsIfPresent(
  database: Database,
  sql: string,
  values: Parameters<Database["query"]>[1],
): Promise<readonly Row[]> {
  try {
    return (await database.query(sql, values)).rows;
  } catch (failure) {
    if (isMissingTable(failure)) return [];
    throw failure;
  }
}

/** Messages contain what specs and services wrote, and PostgreSQL refuses the character 0 and half of a surrogate pair in JSON. */
export function storable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === "string" ? part.toWellFormed().replaceAll("\0", "\uFFFD") : part,
  );
}

/** Removing old logs reads all results, so it is done now and then: at the first result of a process, and after each so many. */
const LOGS_PRUNED_EVERY = 500;

/** Results of workspaces that left the fleet are removed at this age. */
const LONGEST_KEPT = "400 days";

/** `schema` is a plain name; the database is closed with the store. `clock`: the one that gave results their times. */
export function openResultTable(database: Database, schema: string, clock: Pick<Clock, "now">): ResultStore {
  const table = `${schema}.results`;
  let pruned = false;
  let added = 0;
  return {
    /**
     * A repeated run replaces its result, except an apply that found its changes made, and a run that ended before it was canceled. The time is that of the database, from which the
     * age of the result is taken, and never before an earlier result of the workspace: clocks of workers do not change ages or the order.
     */
    async add(result, run = crypto.randomUUID()) {
      const { workspace, command, status, startedAt } = result;
      const body = JSON.stringify(storable(result));
      const ageMs = Math.max(0, Math.round(clock.now() - startedAt));
      await database.query(
        `insert into ${table} as old (workspace, run, command, status, started_at, body)
         values ($1, $2, $3, $4, greatest(
           clock_timestamp() - $5::bigint * interval '1 millisecond',
           (select max(started_at) from ${table} where workspace = $1)), $6::jsonb)
         on conflict (run) do update set
           status = excluded.status, started_at = excluded.started_at, body = excluded.body
         where not (old.command = 'apply' and old.status = 'changes' and excluded.status = 'ok')
           and not (old.status in ('ok', 'changes') and excluded.status = 'interrupted')`,
        [workspace, run, command, status, ageMs, body],
      );
      await database.query(
        `delete from ${table} where id in (
           select id from ${table} where workspace = $1 and command = $2
           order by started_at desc, id desc offset $3)`,
        [workspace, command, KEPT_RESULTS],
      );
      added += 1;
      if (added % LOGS_PRUNED_EVERY === 1) await removeOldLogs(database, table);
      if (pruned) return;
      pruned = true;
      await database.query(`delete from ${table} where started_at < now() - interval '${LONGEST_KEPT}'`, []);
    },
    async recent(limit, workspaces) {
      const rows = await rowsIfPresent(database, recentRows(table), [limit, workspaces, FLEET_COMMANDS]);
      return Map.groupBy(resultsIn(rows), ({ workspace }) => workspace);
    },
    async logs(workspace, limit) {
      const rows = await rowsIfPresent(
        database,
        `select workspace as name, body, (extract(epoch from started_at) * 1000)::float8 as started
         from ${table} where workspace = $1 order by started_at desc, id desc limit $2`,
        [workspace, limit],
      );
      return resultsIn(rows);
    },
    async now() {
      const { rows } = await database.query(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
        [],
      );
      return Math.round(columnNumber(rows[0], "now"));
    },
    close: () => database.close(),
  };
}

/** The findings of older results are not read: they are large, and no report shows them. */
const recentRows = (
  table: string,
) => `select name, body, (extract(epoch from started_at) * 1000)::float8 as started
  from unnest($2::text[]) as name cross join unnest($3::text[]) as wanted cross join lateral (
    select case when row_number() over (order by started_at desc, id desc) = 1
      then body - 'log' else body - 'diagnostics' - 'log' end as body, started_at, id
    from ${table} where workspace = name and command = wanted and jsonb_typeof(body) = 'object'
    order by started_at desc, id desc limit $1) as found
  order by name, started_at desc, id desc`;

async function removeOldLogs(database: Database, table: string): Promise<void> {
  await database.query(
    `update ${table} set body = body - 'log' where body ? 'log' and id in (
       select id from (
         select id, body, row_number() over (partition by workspace order by started_at desc, id desc) as place
         from ${table} where body ? 'log') as logged
       where place > $1)`,
    [KEPT_LOGS],
  );
}

function resultsIn(rows: readonly Row[]): readonly WorkspaceResult[] {
  return rows.flatMap(({ name, body, started }) => {
    const result = resultIn(body);
    if (result === undefined || result.workspace !== name) return [];
    return [{ ...result, startedAt: Math.round(Number(started)) }];
  });
}
