// The PostgreSQL backend of a state. Every write is one statement that checks whether its writer still holds the lock.

import { failureOf } from "../../../core/diagnostic.ts";
import { defined } from "../../../core/json.ts";
import { claimText, readClaim } from "../../lock/claim-file.ts";
import { lockLost } from "../../lock/lock.ts";
import {
  type BackendNames,
  corrupt,
  GENERATIONS,
  type JournalSink,
  type LatestClaim,
  type LockClaim,
  newerFormat,
  type StateBackend,
  type StateWrite,
  type StoredState,
  type StoredText,
} from "../../model/backend.ts";
import {
  columnNumber,
  columnText,
  type Database,
  isMissingTable,
  type PostgresUrl,
  type QueryResult,
  type Row,
  type Value,
} from "./database.ts";

type Statements = ReturnType<typeof statementsOf>;

interface PostgresBackendOptions {
  readonly database: Database;
  readonly url: PostgresUrl;
  /** Instead of the server's clock, for simulations. */
  readonly now?: () => number;
}

export class PostgresBackend implements StateBackend {
  readonly names: BackendNames;
  readonly #database: Database;
  readonly #name: string;
  readonly #schema: string;
  readonly #sql: Statements;
  readonly #now: (() => number) | undefined;

  constructor({ database, url, now }: PostgresBackendOptions) {
    this.#database = database;
    this.#name = url.state;
    this.#schema = url.schema;
    this.#sql = statementsOf(url.schema);
    this.#now = now;
    this.names = {
      location: url.shown,
      state: `the state "${url.state}"`,
      journal: `the journal of "${url.state}"`,
      key: `the column digest_key of ${url.schema}.states`,
    };
  }

  /** Without tables, no state exists. */
  async #look(sql: string, ...more: readonly Value[]): Promise<QueryResult> {
    try {
      return await this.#database.query(sql, [this.#name, ...more]);
    } catch (failure) {
      if (isMissingTable(failure)) return { rows: [], count: 0 };
      throw failure;
    }
  }

  #write(sql: string, ...more: readonly Value[]): Promise<QueryResult> {
    return this.#database.query(sql, [this.#name, ...more]);
  }

  async serverNow(): Promise<number> {
    if (this.#now !== undefined) return this.#now();
    return columnNumber((await this.#database.query(this.#sql.now, [])).rows[0], "now");
  }

  async prepare(): Promise<void> {
    const { makeRow } = this.#sql;
    try {
      await this.#write(makeRow);
    } catch (failure) {
      if (!isMissingTable(failure)) throw failure;
      await this.#database.script(tablesOf(this.#schema));
      await this.#write(makeRow);
    }
  }

  async load(): Promise<StoredState> {
    const [row] = (await this.#look(this.#sql.load)).rows;
    if (row === undefined) return this.#nothing();
    const version = columnNumber(row, "version");
    if (version > TABLES_VERSION) throw newerFormat(this.names.location, version);
    const state = storedText(this.names.state, columnText(row, "body"));
    const serial = columnNumber(row, "serial");
    if (serial > 0 && state === undefined)
      throw corrupt(this.names.state, 0, `the row with its serial ${serial} is missing`);
    const greatest = columnNumber(row, "greatest");
    if (greatest > serial)
      throw corrupt(this.names.state, 0, `it is at serial ${serial}, but serial ${greatest} exists`);
    return defined({ state, journal: storedJournal(this.names.journal, row) });
  }

  /** A row for the name may be missing; a state of that name may not be there then. */
  async #nothing(): Promise<StoredState> {
    const [row] = (await this.#look(this.#sql.orphans)).rows;
    if (columnText(row, "serial") === undefined) return {};
    throw corrupt(this.names.state, 0, `its row in ${this.#schema}.states is missing`);
  }

  /** A commit is durable before a later one of a statement that asks for it. */
  async syncJournal(): Promise<void> {}

  async serial(): Promise<number> {
    return columnNumber((await this.#look(this.#sql.serial)).rows[0], "serial");
  }

  async latestClaim(): Promise<LatestClaim | undefined> {
    const [row] = (await this.#look(this.#sql.top)).rows;
    const fence = columnNumber(row, "fence");
    if (row === undefined || fence === 0) return undefined;
    const text = columnText(row, "claim") ?? "";
    const released = row.released === true;
    const claim = readClaim(text, fence);
    if (claim === undefined) {
      const name = `the column claim of ${this.#schema}.states, where name = '${this.#name}'`;
      return { fence, name, unreadable: text, released };
    }
    const { released: _, ...rest } = claim;
    const dated: LockClaim = { ...rest, renewed_at: columnNumber(row, "renewed_at") };
    return { fence, claim: released ? { ...dated, released } : dated };
  }

  async claim(claim: LockClaim, over: LatestClaim | undefined): Promise<boolean> {
    const { fence, nonce } = claim;
    const released = claim.released === true;
    const lockClaim = over !== undefined && "claim" in over ? over.claim : undefined;
    const { count } = await this.#write(
      this.#sql.claim,
      fence,
      claimText(claim),
      nonce,
      released,
      this.#now?.() ?? null,
      over?.fence ?? 0,
      lockClaim?.renewed_at ?? null,
      lockClaim?.released ?? false,
    );
    return count === 1 || (await this.#isOurs(claim));
  }

  /** A statement that was repeated over a broken connection may find its own first run. */
  async #isOurs({ fence, nonce }: LockClaim): Promise<boolean> {
    const latest = await this.latestClaim();
    return (
      latest !== undefined && "claim" in latest && latest.fence === fence && latest.claim.nonce === nonce
    );
  }

  async renew({ fence, nonce, ...claim }: LockClaim): Promise<void> {
    const released = claim.released === true;
    const { count } = await this.#write(this.#sql.renew, fence, nonce, released, this.#now?.() ?? null);
    if (count === 0) throw lockLost("another run acquired it");
  }

  async putState({ fence }: LockClaim, { text: pieces, serial, before }: StateWrite): Promise<void> {
    const text = [...pieces].join("");
    const { count } = await this.#write(this.#sql.putState, fence, serial, before, text, GENERATIONS);
    if (count === 1) return;
    const [row] = (await this.#write(this.#sql.stood, text)).rows;
    if (columnNumber(row, "fence") !== fence) throw lockLost("another run acquired it");
    if (columnNumber(row, "serial") === serial && row?.same === true) return;
    const serialNow = columnText(row, "serial");
    throw failureOf("STATE_LINEAGE", `${this.names.state} is at serial ${serialNow} instead of ${before}`, {
      hint: "it was changed without the lock; check it, then run the command again",
    });
  }

  async beginJournal({ fence }: LockClaim, line: string): Promise<JournalSink> {
    const before = columnNumber((await this.#write(this.#sql.journal)).rows[0], "journal");
    const journal = before + 1;
    const { count } = await this.#write(this.#sql.beginJournal, fence, line, before);
    if (count === 0 && !(await this.#hasLines(journal, 0, [line]))) throw lockLost("another run acquired it");
    let lines = 1;
    return {
      write: async (_, more) => {
        const { count } = await this.#write(this.#sql.addLines, fence, journal, lines, more);
        if (count !== more.length && !(await this.#hasLines(journal, lines, more)))
          throw lockLost("another run acquired it");
        lines += more.length;
      },
      close: async () => undefined,
    };
  }

  async #hasLines(journal: number, from: number, lines: readonly string[]): Promise<boolean> {
    const [row] = (await this.#write(this.#sql.added, journal, from, lines)).rows;
    return row?.same === true;
  }

  async generations(): Promise<readonly number[]> {
    const { rows } = await this.#look(this.#sql.serials, GENERATIONS);
    return rows.map((row) => columnNumber(row, "serial"));
  }

  async generation(serial: number): Promise<StoredText | undefined> {
    const [row] = (await this.#look(this.#sql.generation, serial)).rows;
    return storedText(`version ${serial} of ${this.names.state}`, columnText(row, "body"));
  }

  async putGeneration({ fence }: LockClaim, serial: number, text: Iterable<string>): Promise<void> {
    const { count } = await this.#write(this.#sql.putGeneration, fence, serial, [...text].join(""));
    if (count === 0) throw lockLost("another run acquired it");
  }

  async keepAside(claim: LockClaim): Promise<string> {
    await this.renew(claim);
    const copyName = `${this.#name} aside ${claim.fence}`;
    await this.#write(this.#sql.asideState, copyName);
    await this.#write(this.#sql.asideJournal, copyName);
    return rowsNamed(copyName);
  }

  async copies(): Promise<readonly string[]> {
    const { rows } = await this.#look(this.#sql.copies);
    return rows.map((row) => rowsNamed(columnText(row, "name") ?? ""));
  }

  async key(): Promise<string | undefined> {
    return columnText((await this.#look(this.#sql.key)).rows[0], "digest_key");
  }

  async makeKey(text: string): Promise<void> {
    await this.#write(this.#sql.makeKey, text);
  }

  async putKey({ fence }: LockClaim, text: string | undefined): Promise<void> {
    const { count } = await this.#write(this.#sql.putKey, fence, text ?? null);
    if (count === 0) throw lockLost("another run acquired it");
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const rowsNamed = (copyName: string): string => `the rows named "${copyName}"`;

/** Raised when the tables change; a newer one is refused. */
const TABLES_VERSION = 1;

/** `schema` is a plain name. */
function tablesOf(schema: string): readonly string[] {
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
    copies: `select distinct name from ${generations} where starts_with(name, $1 || ' aside ') order by name`,
    key: `select digest_key from ${states} where name = $1`,
    makeKey: `update ${states} set digest_key = $2 where name = $1 and digest_key is null`,
    putKey: `update ${states} set digest_key = $3 where name = $1 and fence = $2`,
  } as const;
}

function storedText(name: string, text: string | undefined): StoredText | undefined {
  return text === undefined ? undefined : { name, bytes: new TextEncoder().encode(text) };
}

/** Undefined before the first version. A row is written atomically, so an unfinished or missing line is damage. */
function storedJournal(name: string, row: Row): StoredText | undefined {
  if (columnNumber(row, "journal") === 0) return undefined;
  const text = columnText(row, "text") ?? "";
  const bytes = new TextEncoder().encode(text);
  const lines = columnNumber(row, "lines");
  const whole = text.split("\n").length - 1;
  if (lines !== columnNumber(row, "present") || lines !== whole || !text.endsWith("\n"))
    throw corrupt(name, bytes.length, `it has ${whole} complete lines instead of ${lines}`);
  return { name, bytes };
}
