// PostgreSQL through the driver `pg`, which is loaded with the first statement, over a few connections that end with the process.

import type { ConnectionOptions } from "node:tls";
import type { Pool } from "pg";
import { errorCode, failureOf, thrownText } from "../../../core/diagnostic.ts";
import { readRegularFile } from "../../../core/regular-file.ts";
import { type Clock, type StateStore, withinTime } from "../../model/store.ts";
import { BackedStateStore, type StoreOptions } from "../../store/state-store.ts";
import {
  type Database,
  databaseFailure,
  isMissingTable,
  isPassing,
  type PostgresUrl,
  type QueryResult,
  type Tls,
  type Value,
} from "./database.ts";
import { PostgresBackend } from "./postgres-backend.ts";

/** A statement that takes longer counts as broken: well below the lease, so that the holder learns of it in time. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Waits between tries over a broken connection: long enough for a restart of the server or the pooler. */
const WAITS_MS = [100, 300, 900, 2_700, 5_000] as const;
const CONNECTIONS = 3;
/** A server that does not answer keeps its connections open. They end with the process. */
const CLOSE_MS = 5_000;

interface PgOptions {
  readonly url: PostgresUrl;
  readonly clock: Clock;
  /** All authorities that are trusted where the URL names none, in PEM. Default: Node's own. */
  readonly authorities?: readonly string[];
}

export const openPgDatabase = (options: PgOptions): Database => new PgDatabase(options);

class PgDatabase implements Database {
  readonly #url: PostgresUrl;
  readonly #clock: Clock;
  readonly #authorities: readonly string[] | undefined;
  #pool: Promise<Pool> | undefined;
  /** A server that never answered is not waited for. */
  #contacted = false;

  constructor({ url, clock, authorities }: PgOptions) {
    this.#authorities = authorities;
    this.#url = url;
    this.#clock = clock;
  }

  query(sql: string, values: readonly Value[]): Promise<QueryResult> {
    return this.#steady(async (pool) => {
      const { rows, rowCount } = await pool.query<Record<string, unknown>>(sql, [...values]);
      return { rows, count: rowCount ?? 0 };
    });
  }

  script(statements: readonly string[]): Promise<void> {
    return this.#steady(async (pool) => {
      const client = await pool.connect();
      // Each statement reports its own failure; without a listener, a failure between two of them would end the
      // process.
      const ignored = (): void => undefined;
      client.on("error", ignored);
      let broken: Error | undefined;
      try {
        for (const sql of ["begin", ...statements, "commit"]) await client.query(sql);
      } catch (failure) {
        broken = failure instanceof Error ? failure : new Error(String(failure));
        throw failure;
      } finally {
        client.release(broken);
        client.off("error", ignored);
      }
    });
  }

  async #steady<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    this.#pool ??= this.#open();
    const pool = await this.#pool;
    for (let attempt = 0; ; attempt++) {
      try {
        const done = await work(pool);
        this.#contacted = true;
        return done;
      } catch (failure) {
        // An error from the server is also a response.
        if (/^[0-9A-Z]{5}$/.test(errorCode(failure) ?? "")) this.#contacted = true;
        const wait = WAITS_MS[attempt];
        if (wait === undefined || !this.#contacted || !isPassing(failure)) {
          // Callers handle a missing table.
          throw isMissingTable(failure) ? failure : databaseFailure(failure, this.#url);
        }
        await this.#clock.sleep(wait);
      }
    }
  }

  async #open(): Promise<Pool> {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({
      ...connectionOptions(this.#url, this.#authorities),
      max: CONNECTIONS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      idleTimeoutMillis: 5_000,
      allowExitOnIdle: true,
      keepAlive: true,
    });
    // A connection that breaks while it is idle is replaced with the next statement.
    pool.on("error", () => undefined);
    return pool;
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    if (pool !== undefined) await withinTime(this.#clock, CLOSE_MS, (await pool).end());
  }
}

export function connectionOptions(
  { host, port, user, password, database, tls, connectTimeoutMs }: PostgresUrl,
  authorities: readonly string[] | undefined,
) {
  return {
    host,
    port,
    user,
    database,
    password,
    ssl: tls.on ? tlsOptions(tls, authorities) : false,
    application_name: "workspace",
    connectionTimeoutMillis: connectTimeoutMs,
  } as const;
}

/** Sets certificate checks explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect. */
function tlsOptions(
  tls: Extract<Tls, { readonly on: true }>,
  authorities: readonly string[] | undefined,
): ConnectionOptions {
  const trusted = tls.authority === undefined ? authorities : [pem(tls.authority)];
  return {
    rejectUnauthorized: tls.checks !== "nothing",
    ...(tls.checks === "authority" ? { checkServerIdentity: () => undefined } : {}),
    ca: trusted && [...trusted],
    cert: tls.certificate && pem(tls.certificate),
    key: tls.key && pem(tls.key),
  };
}

function pem(path: string): string {
  try {
    return readRegularFile(path).toString("utf8");
  } catch (problem) {
    const cause = thrownText(problem);
    throw failureOf("CLI_FILE", `${path}, set in a PostgreSQL URL, cannot be read`, { cause });
  }
}

interface PostgresStoreOptions extends StoreOptions {
  readonly url: PostgresUrl;
  /** All authorities that are trusted where the URL names none, in PEM. Default: Node's own. */
  readonly authorities?: readonly string[];
}

export function openPostgresStore(options: PostgresStoreOptions): StateStore {
  const { url } = options;
  const database = openPgDatabase(options);
  return new BackedStateStore(new PostgresBackend({ database, url }), options);
}
