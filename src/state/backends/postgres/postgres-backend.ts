// The PostgreSQL backend of a state. Every write is one statement that checks whether its writer still holds the lock.

import { failureOf } from "../../../core/diagnostic.ts";
import { defined } from "../../../core/json.ts";
import { claimText, lockLost, readClaim } from "../../lock/lease-rules.ts";
import {
  type BackendNames,
  GENERATIONS,
  type JournalSink,
  type LatestClaim,
  type LockClaim,
  type StateBackend,
  type StateWrite,
  type StoredState,
  type StoredText,
} from "../../model/backend.ts";
import { corrupt, newerFormat } from "../../model/failures.ts";
import {
  columnNumber,
  columnText,
  type Database,
  isMissingTable,
  type QueryResult,
  type Value,
} from "./database.ts";
import { statementsOf, storedJournal, storedText, TABLES_VERSION, tablesOf } from "./tables.ts";
import type { PostgresUrl } from "./url.ts";

type Statements = ReturnType<typeof statementsOf>;

export interface PostgresBackendOptions {
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
      place: url.shown,
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
    if (version > TABLES_VERSION) throw newerFormat(this.names.place, version);
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
  async settle(): Promise<void> {}

  async serial(): Promise<number> {
    return columnNumber((await this.#look(this.#sql.serial)).rows[0], "serial");
  }

  async top(): Promise<LatestClaim | undefined> {
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
    const seen = over !== undefined && "claim" in over ? over.claim : undefined;
    const { count } = await this.#write(
      this.#sql.claim,
      fence,
      claimText(claim),
      nonce,
      released,
      this.#now?.() ?? null,
      over?.fence ?? 0,
      seen?.renewed_at ?? null,
      seen?.released ?? false,
    );
    return count === 1 || (await this.#isOurs(claim));
  }

  /** A statement that was repeated over a broken connection may find its own first run. */
  async #isOurs({ fence, nonce }: LockClaim): Promise<boolean> {
    const top = await this.top();
    return top !== undefined && "claim" in top && top.fence === fence && top.claim.nonce === nonce;
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
    const found = columnText(row, "serial");
    throw failureOf("STATE_LINEAGE", `${this.names.state} is at serial ${found} instead of ${before}`, {
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
      write: async (more) => {
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
    const aside = `${this.#name} aside ${claim.fence}`;
    await this.#write(this.#sql.asideState, aside);
    await this.#write(this.#sql.asideJournal, aside);
    return `the rows named "${aside}"`;
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
