// The tables of states: created on first use, in a separate schema and in one serialized transaction; their statements, and the pieces of a state in their rows.

import type { StoredText } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import { columnNumber, columnText, type Row } from "./database.ts";

/** Raised when the tables change; a newer one is refused. */
export const TABLES_VERSION = 1;

/** `schema` is a plain name. */
export function tablesOf(schema: string): readonly string[] {
  return [
    `select pg_advisory_xact_lock(hashtext('workspace state tables'))`,
    `do $$ begin if to_regnamespace('${schema}') is null then create schema ${schema}; end if; end $$`,
    `create table if not exists ${schema}.format (version integer not null)`,
    `insert into ${schema}.format (version) select ${TABLES_VERSION} where not exists (select from ${schema}.format)`,
    `create table if not exists ${schema}.states (
       name text primary key,
       serial bigint not null default 0,
       fence bigint not null default 0,
       claim text,
       nonce text not null default '',
       released boolean not null default true,
       renewed_at bigint not null default 0,
       journal bigint not null default 0,
       lines bigint not null default 0,
       digest_key text
     )`,
    `create table if not exists ${schema}.generations (
       name text not null,
       serial bigint not null,
       fence bigint not null,
       written_at timestamptz not null default now(),
       body text not null,
       primary key (name, serial)
     )`,
    `create table if not exists ${schema}.journal (
       name text not null,
       journal bigint not null,
       n bigint not null,
       line text not null,
       primary key (name, journal, n)
     )`,
  ];
}

/** Columns: `states` has a row for each state with its lock; `lines` counts the rows that its journal must have. */
export function statementsOf(schema: string) {
  const states = `${schema}.states`;
  const generations = `${schema}.generations`;
  const isEarlier = `serial is distinct from (select serial from ${schema}.states where name = $1)`;
  const journal = `${schema}.journal`;
  const serverNow = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
  // A server may be configured to answer before a commit is on disk; this backend requires durable commits.
  const durable = `durable as materialized (select case when current_setting('synchronous_commit') = 'off'
    then set_config('synchronous_commit', 'on', true) end)`;
  return {
    now: `select ${serverNow} as now`,
    load: `select s.serial, s.journal, s.lines, g.body,
        (select max(version) from ${schema}.format) as version,
        (select max(later.serial) from ${generations} later where later.name = s.name) as greatest,
        (select string_agg(j.line, '' order by j.n) from ${journal} j where j.name = s.name and j.journal = s.journal) as text,
        (select count(*) from ${journal} j where j.name = s.name and j.journal = s.journal) as present
      from ${states} s left join ${generations} g on g.name = s.name and g.serial = s.serial where s.name = $1`,
    serial: `select serial from ${states} where name = $1`,
    orphans: `select max(serial) as serial from ${generations} where name = $1`,
    makeRow: `insert into ${states} (name) values ($1) on conflict do nothing`,
    top: `select fence, claim, released, renewed_at from ${states} where name = $1`,
    claim: `with ${durable} update ${states} set fence = $2, claim = $3, nonce = $4, released = $5, renewed_at = coalesce($6::bigint, ${serverNow})
      from durable where name = $1 and fence = $7 and fence < $2 and ($8::bigint is null or (renewed_at = $8 and released = $9))`,
    /** A released lock stays released, because a heartbeat may arrive late. */
    renew: `update ${states} set released = $4, renewed_at = coalesce($5::bigint, ${serverNow})
      where name = $1 and fence = $2 and nonce = $3 and not released`,
    /** Compare and set: the fence and the serial have to be the ones that the writer knows. */
    putState: `with ${durable},
      moved as (update ${states} set serial = $3 where name = $1 and fence = $2 and serial = $4 returning name),
      old as (delete from ${generations} g using moved where g.name = moved.name and g.serial <> $3 and g.serial not in
        (select serial from ${generations} where name = $1 order by serial desc limit $6))
      insert into ${generations} (name, serial, fence, body) select moved.name, $3, $2, $5 from moved, durable
      on conflict (name, serial) do update set fence = excluded.fence, body = excluded.body, written_at = now()`,
    stood: `select s.fence, s.serial, g.body = $2 as same from ${states} s
      left join ${generations} g on g.name = s.name and g.serial = s.serial where s.name = $1`,
    journal: `select journal from ${states} where name = $1`,
    /** Compare and set as well: carried out once more, it must not put an empty journal over one that has lines. */
    beginJournal: `with ${durable},
      begun as (update ${states} set journal = $4::bigint + 1, lines = 1
        where name = $1 and fence = $2 and journal = $4::bigint returning name, journal),
      old as (delete from ${journal} j using begun where j.name = begun.name and j.journal < begun.journal)
      insert into ${journal} (name, journal, n, line) select name, journal, 0, $3 from begun, durable`,
    addLines: `with ${durable},
      held as (update ${states} set lines = $4::bigint + cardinality($5::text[])
        where name = $1 and fence = $2 and journal = $3 and lines = $4::bigint returning name)
      insert into ${journal} (name, journal, n, line) select held.name, $3, $4::bigint + added.n - 1, added.line
      from held, durable, unnest($5::text[]) with ordinality as added (line, n)`,
    added: `select array_agg(j.line order by j.n) = $4::text[] as same from ${journal} j, ${states} s
      where s.name = $1 and s.journal = $2 and j.name = s.name and j.journal = s.journal and j.n >= $3`,
    serials: `select serial from ${generations} where name = $1 and ${isEarlier} order by serial desc limit $2`,
    generation: `select body from ${generations} where name = $1 and serial = $2 and ${isEarlier}`,
    putGeneration: `update ${generations} set body = $4 where name = $1 and serial = $3
      and exists (select from ${states} where name = $1 and fence = $2)`,
    asideState: `insert into ${generations} (name, serial, fence, body)
      select $2, g.serial, g.fence, g.body from ${generations} g join ${states} s on s.name = g.name and s.serial = g.serial
      where s.name = $1 on conflict do nothing`,
    asideJournal: `insert into ${journal} (name, journal, n, line)
      select $2, j.journal, j.n, j.line from ${journal} j join ${states} s on s.name = j.name and s.journal = j.journal
      where s.name = $1 on conflict do nothing`,
    key: `select digest_key from ${states} where name = $1`,
    makeKey: `update ${states} set digest_key = $2 where name = $1 and digest_key is null`,
    putKey: `update ${states} set digest_key = $3 where name = $1 and fence = $2`,
  } as const;
}

export function storedText(name: string, text: string | undefined): StoredText | undefined {
  return text === undefined ? undefined : { name, bytes: new TextEncoder().encode(text) };
}

/** Undefined before the first version. A row is written atomically, so an unfinished or missing line is damage. */
export function storedJournal(name: string, row: Row): StoredText | undefined {
  if (columnNumber(row, "journal") === 0) return undefined;
  const text = columnText(row, "text") ?? "";
  const bytes = new TextEncoder().encode(text);
  const lines = columnNumber(row, "lines");
  const whole = text.split("\n").length - 1;
  if (lines !== columnNumber(row, "present") || lines !== whole || !text.endsWith("\n"))
    throw corrupt(name, bytes.length, `it has ${whole} complete lines instead of ${lines}`);
  return { name, bytes };
}
