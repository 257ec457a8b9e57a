// The tables of a fleet in PostgreSQL, and the results in them.

import { type Failure, failureOf } from "../../core/diagnostic.ts";
import {
  columnNumber,
  type Database,
  isMissingTable,
  type Row,
} from "../../state/backends/postgres/database.ts";
import { FLEET_COMMANDS, KEPT_RESULTS, type ResultStore, resultIn } from "../model/result.ts";

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
      `create index results_newest on ${schema}.results (workspace, started_at desc, id desc)`,
      `create index results_age on ${schema}.results (started_at)`,
      `create table ${schema}.leases (
         workspace text primary key,
         token text not null,
         worker text not null,
         expires_at timestamptz not null
       )`,
    ],
  },
  {
    version: 2,
    statements: (schema) => [
      `create index results_latest on ${schema}.results (workspace, command, started_at desc, id desc)`,
      `drop index ${schema}.results_newest`,
    ],
  },
];

export function queueSchema(schema: string): string {
  return `${schema}_jobs`;
}

/** Creates or migrates the tables. Throws Failure FLEET_DATABASE if they are newer than this program. */
export async function prepareTables(
  database: Database,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const found = await checkTables(database, schema, migrations);
  if (found === newestOf(migrations)) return;
  await database.script([
    `select pg_advisory_xact_lock(hashtext('workspace fleet tables ${schema}'))`,
    ...[schema, queueSchema(schema)].map(
      (name) =>
        `do $$ begin if to_regnamespace('${name}') is null then create schema ${name}; end if; end $$`,
    ),
    `create table if not exists ${schema}.format (version integer not null)`,
    ...migrations.map(({ version, statements }) => migrationOf(schema, version, statements(schema))),
  ]);
}

/** The version of the tables; older ones, and none, can be read. Throws Failure FLEET_DATABASE if they are newer than this program. */
export async function checkTables(
  database: Database,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  const found = await tablesVersion(database, schema);
  const newest = newestOf(migrations);
  if (found > newest) throw tooNew(`tables of the fleet have version ${found}`, newest);
  return found;
}

function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

export function tooNew(what: string, known: number): Failure {
  return failureOf("FLEET_DATABASE", `the ${what}, and this program supports up to ${known}`, {
    hint: "update `workspace` on this machine to the version of the other workers",
  });
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

async function tablesVersion(database: Database, schema: string): Promise<number> {
  const rows = await rowsIfPresent(database, `select max(version) as version from ${schema}.format`, []);
  return columnNumber(rows[0], "version");
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

/** Results of workspaces that left the fleet are removed at this age. */
const LONGEST_KEPT = "400 days";

/** `schema` is a plain name; the database is closed with the store. */
export function openResultTable(database: Database, schema: string): ResultStore {
  const table = `${schema}.results`;
  let pruned = false;
  return {
    /**
     * A repeated run replaces its result, except an apply that found its changes made. The order has no time in the future and none before
     * an earlier result of the workspace, so clocks of workers that are ahead or behind do not change it.
     */
    async add({ workspace, command, status, startedAt, ...rest }, run = crypto.randomUUID()) {
      const body = JSON.stringify(storable({ workspace, command, status, startedAt, ...rest }));
      await database.query(
        `insert into ${table} as old (workspace, run, command, status, started_at, body)
         values ($1, $2, $3, $4, greatest(
           least(to_timestamp($5::bigint / 1000.0), clock_timestamp()),
           (select max(started_at) from ${table} where workspace = $1)), $6::jsonb)
         on conflict (run) do update set
           status = excluded.status, started_at = excluded.started_at, body = excluded.body
         where not (old.command = 'apply' and old.status = 'changes' and excluded.status = 'ok')`,
        [workspace, run, command, status, startedAt, body],
      );
      await database.query(
        `delete from ${table} where id in (
           select id from ${table} where workspace = $1 and command = $2
           order by started_at desc, id desc offset $3)`,
        [workspace, command, KEPT_RESULTS],
      );
      if (pruned) return;
      pruned = true;
      await database.query(`delete from ${table} where started_at < now() - interval '${LONGEST_KEPT}'`, []);
    },
    async recent(limit, workspaces) {
      // The findings of older results are not read: they are large, and no report shows them.
      const rows = await rowsIfPresent(
        database,
        `select name, body from unnest($2::text[]) as name cross join unnest($3::text[]) as wanted cross join lateral (
           select case when row_number() over (order by started_at desc, id desc) = 1
             then body else body - 'diagnostics' end as body, started_at, id
           from ${table} where workspace = name and command = wanted
           order by started_at desc, id desc limit $1) as found
         order by name, started_at desc, id desc`,
        [limit, workspaces, FLEET_COMMANDS],
      );
      const results = rows.flatMap(({ name, body }) => {
        const result = resultIn(body);
        return result !== undefined && result.workspace === name ? [result] : [];
      });
      return Map.groupBy(results, ({ workspace }) => workspace);
    },
    close: () => database.close(),
  };
}
