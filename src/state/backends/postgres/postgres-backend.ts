// Rows of a database as the place of a state. Every write is one statement that finds for itself whether its writer still holds the lock.

import { error, Failure } from "../../../core/diagnostic.ts";
import { type Claim, claimText, lockLost, readClaim } from "../../lock/lease-rules.ts";
import {
  GENERATIONS,
  type Piece,
  type Place,
  type PlaceNames,
  type PutState,
  type Sink,
  type Stored,
  type Top,
} from "../../model/backend.ts";
import { corrupt, newerFormat } from "../../model/failures.ts";
import { type Answer, type Database, numberIn, sqlState, textIn, type Value } from "./database.ts";
import { journalPiece, pieceOf } from "./rows.ts";
import { statementsOf, TABLES_VERSION, tablesOf } from "./tables.ts";
import type { PostgresUrl } from "./url.ts";

type Statements = ReturnType<typeof statementsOf>;

const NO_TABLES: ReadonlySet<string | undefined> = new Set(["42P01", "3F000"]);

export interface PostgresPlaceOptions {
  readonly database: Database;
  readonly url: PostgresUrl;
  /** Instead of the server's clock, for simulations. */
  readonly now?: () => number;
}

export class PostgresPlace implements Place {
  readonly names: PlaceNames;
  /** Every claim is dated by the server. */
  readonly skewMs = 0;
  readonly #database: Database;
  readonly #name: string;
  readonly #schema: string;
  readonly #sql: Statements;
  readonly #now: (() => number) | undefined;

  constructor({ database, url, now }: PostgresPlaceOptions) {
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

  /** Where the tables are not there yet there is nothing. */
  async #look(sql: string, ...more: readonly Value[]): Promise<Answer> {
    try {
      return await this.#database.query(sql, [this.#name, ...more]);
    } catch (failure) {
      if (NO_TABLES.has(sqlState(failure))) return { rows: [], count: 0 };
      throw failure;
    }
  }

  #write(sql: string, ...more: readonly Value[]): Promise<Answer> {
    return this.#database.query(sql, [this.#name, ...more]);
  }

  async now(): Promise<number> {
    if (this.#now !== undefined) return this.#now();
    return numberIn((await this.#database.query(this.#sql.now, [])).rows[0], "now");
  }

  async prepare(): Promise<void> {
    const { makeRow } = this.#sql;
    try {
      await this.#write(makeRow);
    } catch (failure) {
      if (!NO_TABLES.has(sqlState(failure))) throw failure;
      await this.#database.script(tablesOf(this.#schema));
      await this.#write(makeRow);
    }
  }

  async load(): Promise<Stored> {
    const [row] = (await this.#look(this.#sql.load)).rows;
    if (row === undefined) return this.#nothing();
    const version = numberIn(row, "version");
    if (version > TABLES_VERSION) throw newerFormat(this.names.place, version);
    const state = pieceOf(this.names.state, textIn(row, "body"));
    const serial = numberIn(row, "serial");
    if (serial > 0 && state === undefined)
      throw corrupt(this.names.state, 0, `the row with its serial ${serial} is missing`);
    const greatest = numberIn(row, "greatest");
    if (greatest > serial)
      throw corrupt(this.names.state, 0, `it is at serial ${serial}, and there is a later one, ${greatest}`);
    const journal = journalPiece(this.names.journal, row);
    return {
      ...(state === undefined ? {} : { state }),
      ...(journal === undefined ? {} : { journal }),
    };
  }

  /** A row for the name may be missing; a state of that name may not be there then. */
  async #nothing(): Promise<Stored> {
    const [row] = (await this.#look(this.#sql.orphans)).rows;
    if (textIn(row, "serial") === undefined) return {};
    throw corrupt(this.names.state, 0, `its row in ${this.#schema}.states is missing`);
  }

  /** A commit is durable before a later one of a statement that asks for it. */
  async settle(): Promise<void> {}

  async serial(): Promise<number> {
    return numberIn((await this.#look(this.#sql.serial)).rows[0], "serial");
  }

  async top(): Promise<Top | undefined> {
    const [row] = (await this.#look(this.#sql.top)).rows;
    const fence = numberIn(row, "fence");
    if (row === undefined || fence === 0) return undefined;
    const text = textIn(row, "claim") ?? "";
    const released = row.released === true;
    const claim = readClaim(text, fence);
    if (claim === undefined) {
      const name = `the column claim of ${this.#schema}.states, where name = '${this.#name}'`;
      return { fence, name, unreadable: text, released };
    }
    const { released: _, ...rest } = claim;
    const dated: Claim = { ...rest, renewed_at: numberIn(row, "renewed_at") };
    return { fence, claim: released ? { ...dated, released } : dated };
  }

  async claim(claim: Claim, over: Top | undefined): Promise<boolean> {
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
  async #isOurs({ fence, nonce }: Claim): Promise<boolean> {
    const top = await this.top();
    return top !== undefined && "claim" in top && top.fence === fence && top.claim.nonce === nonce;
  }

  async renew({ fence, nonce, ...claim }: Claim): Promise<void> {
    const released = claim.released === true;
    const { count } = await this.#write(this.#sql.renew, fence, nonce, released, this.#now?.() ?? null);
    if (count === 0) throw new Failure(lockLost("another run took it over"));
  }

  async putState(claim: Claim, { text, serial, before }: PutState): Promise<void> {
    const { fence } = claim;
    const { count } = await this.#write(this.#sql.putState, fence, serial, before, text, GENERATIONS);
    if (count === 1) return;
    const [row] = (await this.#write(this.#sql.stood, text)).rows;
    if (numberIn(row, "fence") !== fence) throw new Failure(lockLost("another run took it over"));
    if (numberIn(row, "serial") === serial && row?.same === true) return;
    throw new Failure(
      error(
        "STATE_LINEAGE",
        `${this.names.state} is at serial ${textIn(row, "serial")}, and not at ${before}`,
        {
          hint: "it was changed by something that did not hold the lock; look at it, then run the command again",
        },
      ),
    );
  }

  async beginJournal({ fence }: Claim, line: string): Promise<Sink> {
    const before = numberIn((await this.#write(this.#sql.journal)).rows[0], "journal");
    const journal = before + 1;
    const { count } = await this.#write(this.#sql.beginJournal, fence, line, before);
    if (count === 0 && !(await this.#hasLines(journal, 0, [line])))
      throw new Failure(lockLost("another run took it over"));
    let lines = 1;
    return {
      write: async (more) => {
        const { count } = await this.#write(this.#sql.addLines, fence, journal, lines, more);
        if (count !== more.length && !(await this.#hasLines(journal, lines, more)))
          throw new Failure(lockLost("another run took it over"));
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
    return rows.map((row) => numberIn(row, "serial"));
  }

  async generation(serial: number): Promise<Piece | undefined> {
    const [row] = (await this.#look(this.#sql.generation, serial)).rows;
    return pieceOf(`generation ${serial} of ${this.names.state}`, textIn(row, "body"));
  }

  async putGeneration({ fence }: Claim, serial: number, text: string): Promise<void> {
    const { count } = await this.#write(this.#sql.putGeneration, fence, serial, text);
    if (count === 0) throw new Failure(lockLost("another run took it over"));
  }

  async keepAside(claim: Claim): Promise<string> {
    await this.renew(claim);
    const aside = `${this.#name} aside ${claim.fence}`;
    await this.#write(this.#sql.asideState, aside);
    await this.#write(this.#sql.asideJournal, aside);
    return `the rows named "${aside}"`;
  }

  async key(): Promise<string | undefined> {
    return textIn((await this.#look(this.#sql.key)).rows[0], "digest_key");
  }

  async makeKey(text: string): Promise<void> {
    await this.#write(this.#sql.makeKey, text);
  }

  async putKey({ fence }: Claim, text: string | undefined): Promise<void> {
    const { count } = await this.#write(this.#sql.putKey, fence, text ?? null);
    if (count === 0) throw new Failure(lockLost("another run took it over"));
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
