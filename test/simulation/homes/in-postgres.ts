// States in a real PostgreSQL server that the simulation starts: one schema for each story, one state for each copy of it.

import {
  type Database,
  type PostgresUrl,
  parsePostgresUrl,
} from "../../../src/state/backends/postgres/database.ts";
import { openPgDatabase } from "../../../src/state/backends/postgres/pg-database.ts";
import { PostgresBackend, statementsOf } from "../../../src/state/backends/postgres/postgres-backend.ts";
import type { Clock } from "../../../src/state/model/store.ts";
import type { Home, Line } from "../../engine/home.ts";
import type { ProcessOptions, Site } from "../../engine/site.ts";
import { type PostgresServer, startPostgres } from "../../state/backends/postgres/server.ts";
import { LATENCY_MS } from "./in-workspace.ts";

interface Running {
  readonly server: PostgresServer;
  /** Shared by all processes whose connection is not broken. */
  readonly database: Database;
}

const NO_CLOCK: Clock = {
  now: () => 0,
  elapsed: () => 0,
  // What has a signal limits the time of something; what has none waits before it connects again.
  sleep: (_ms, signal) =>
    signal === undefined
      ? Promise.reject(new Error("a connection broke that the simulation had not cut"))
      : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
};
const TABLES = ["states", "generations", "journal"] as const;

let running: Running | undefined;
let tried = false;
let starts = 0;
let names = 0;

/** The server, started with the first call; undefined, and said loudly, where there is none. */
export function serverHere(): PostgresServer | undefined {
  if (!tried) {
    tried = true;
    starts += 1;
    const server = startPostgres();
    if (server !== undefined)
      running = { server, database: openPgDatabase({ url: urlOf(server, "any", "any"), clock: NO_CLOCK }) };
  }
  return running?.server;
}

/** The number of starts: the connections end with each stop. */
export function startsOfServer(): number {
  return starts;
}

export async function stopServer(): Promise<void> {
  await running?.database.close();
  running?.server.stop();
  running = undefined;
  tried = false;
}

function urlOf(server: PostgresServer, state: string, schema: string): PostgresUrl {
  return parsePostgresUrl(server.url(state, `&schema=${schema}`), "default", {});
}

function here(): Running {
  if (serverHere() === undefined || running === undefined) throw new Error("there is no PostgreSQL here");
  return running;
}

interface HomeInPostgres extends Home {
  /** Names the state to a process. */
  readonly url: string;
  /** The rows of the state. */
  texts(): Promise<ReadonlyMap<string, string>>;
}

/** In a schema whose tables are not made yet. */
export function inPostgres(): HomeInPostgres {
  names += 1;
  return new InPostgres(`team ${names}`, `simulated_${names}`);
}

class InPostgres implements HomeInPostgres {
  readonly latencyMs = LATENCY_MS;
  readonly #state: string;
  readonly #schema: string;
  readonly #opened: Database[] = [];

  constructor(state: string, schema: string) {
    this.#state = state;
    this.#schema = schema;
  }

  get url(): string {
    return here().server.url(this.#state, `&schema=${this.#schema}`);
  }

  place(site: Site, options: ProcessOptions): PostgresBackend {
    const { server, database } = here();
    const url = urlOf(server, this.#state, this.#schema);
    const reached = options.socket === undefined ? database : this.#over(options.socket, url, site);
    return new PostgresBackend({
      database: lined(reached, url, site, options.line),
      url,
      now: () => site.clock.now(),
    });
  }

  /** A connection of one's own, which may break: between two tries the site's time passes. */
  #over(socket: string, url: PostgresUrl, site: Site): Database {
    const clock: Clock = {
      now: () => site.clock.now(),
      elapsed: () => site.clock.elapsed(),
      sleep: (ms) => site.pause(ms),
    };
    const database = openPgDatabase({ url: { ...url, host: socket }, clock });
    this.#opened.push(database);
    return database;
  }

  async #hasTables(): Promise<boolean> {
    const { rows } = await here().database.query("select to_regclass($1) is not null as made", [
      `${this.#schema}.states`,
    ]);
    return rows[0]?.made === true;
  }

  async texts(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    if (!(await this.#hasTables())) return found;
    for (const table of TABLES) {
      const sql = `select to_jsonb(t)::text as text from ${this.#schema}.${table} t where name = $1`;
      const { rows } = await here().database.query(sql, [this.#state]);
      found.set(`rows of ${table}`, rows.map((row) => valuesIn(JSON.parse(String(row.text)))).join("\n"));
    }
    return found;
  }

  async copy(): Promise<Home> {
    if (!(await this.#hasTables())) return inPostgres();
    names += 1;
    const name = `team ${names}`;
    for (const table of TABLES) {
      const named = `jsonb_populate_record(t, jsonb_build_object('name', $2::text))`;
      const sql = `insert into ${this.#schema}.${table} select (${named}).* from ${this.#schema}.${table} t where name = $1`;
      await here().database.query(sql, [this.#state, name]);
    }
    return new InPostgres(name, this.#schema);
  }

  async close(): Promise<void> {
    for (const database of this.#opened.splice(0)) await database.close();
  }
}

function valuesIn(row: Readonly<Record<string, unknown>>): string {
  return Object.values(row).map(String).join("\n");
}

const alone: Line = (_what, _changes, work) => work();

/** Every statement goes over the line, under the name that the program's list of statements gives it. */
function lined(database: Database, url: PostgresUrl, site: Site, line = alone): Database {
  const known = Object.entries(statementsOf(url.schema));
  const nameOf = (sql: string): string => known.find(([, text]) => text === sql)?.[0] ?? "a statement";
  return {
    query: (sql, values) =>
      line(nameOf(sql), !sql.startsWith("select"), () => site.underWay(() => database.query(sql, values))),
    script: (statements) => line("tables", true, () => site.underWay(() => database.script(statements))),
    close: () => database.close(),
  };
}
