// The tables of a fleet: results and leases, in a schema of their own. Migrations only go forward, one process at a time.

import { error, Failure } from "../../core/diagnostic.ts";
import { columnNumber, type Database, sqlState } from "../../state/backends/postgres/database.ts";

/** The statements that lead to a version from the one before. A landed migration never changes. */
export interface Migration {
  readonly version: number;
  readonly statements: (schema: string) => readonly string[];
}

/** Older programs must be able to work with the tables of a newer one until they end: add, never rename or remove. */
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
];

/** The schema of the job queue; its name follows from the schema of the fleet's own tables. */
export function queueSchema(schema: string): string {
  return `${schema}_jobs`;
}

/**
 * Creates or migrates the tables. Throws Failure FLEET_DATABASE if they are newer than this program. A role that may
 * only read never gets to a change, because nothing is changed if the version is the right one.
 */
export async function prepareTables(
  database: Database,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  const found = await tablesVersion(database, schema);
  if (found > newest) throw new Failure(tooNew(`tables of the fleet have version ${found}`, newest));
  if (found === newest) return;
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

export function tooNew(what: string, known: number): ReturnType<typeof error> {
  return error("FLEET_DATABASE", `the ${what}, and this program supports up to ${known}`, {
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

const MISSING: ReadonlySet<string> = new Set(["42P01", "3F000"]);

async function tablesVersion(database: Database, schema: string): Promise<number> {
  try {
    const { rows } = await database.query(`select max(version) as version from ${schema}.format`, []);
    return columnNumber(rows[0], "version");
  } catch (failure) {
    if (MISSING.has(sqlState(failure) ?? "")) return 0;
    throw failure;
  }
}
