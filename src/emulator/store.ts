// The world as tables in memory: one transaction per request, undone when it throws, written through to disk where there is one.

import { randomBytes } from "node:crypto";
import type { JsonObject } from "../core/json.ts";
import { Schedule } from "./schedule.ts";
import { type BlobBytes, memoryBlobs } from "./store-blobs.ts";
import { KEY_BYTES, seal, unseal } from "./store-seal.ts";
import { Table, type TableChange } from "./store-table.ts";
import type { Blobs, Collection, Timers, World } from "./world.ts";

/** Where the rows outlive the process. */
export interface Disk {
  tables(): readonly string[];
  rows(table: string): Iterable<readonly [string, string]>;
  /** Writes all changes or none. */
  write(changes: readonly TableChange[]): void;
  close(): void;
}

export interface StoreParts {
  readonly disk?: Disk;
  readonly blobs?: BlobBytes;
  readonly key?: Uint8Array;
  /** Random bytes; the operating system's unless a simulation brings its own. */
  readonly random?: (count: number) => Uint8Array;
}

/** A timer whose time has come. */
export interface DueTimer {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly payload: JsonObject;
}

interface TimerRow {
  readonly at: number;
  readonly order: number;
  readonly type: string;
  readonly payload: JsonObject;
}

/** Names of the store's own tables; areas do not use them. */
export const OWN_TABLES = {
  timers: "$timers",
  sequences: "$sequences",
  blobs: "$blobs",
  mails: "$mails",
} as const;

/** The whole world as data, by table. */
export type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The tables of one world and the transaction that runs on them. */
export class Store {
  readonly #disk: Disk | undefined;
  readonly #bytes: BlobBytes;
  readonly #key: Uint8Array;
  readonly #random: (count: number) => Uint8Array;
  readonly #tables = new Map<string, Table>();
  readonly #dirty = new Set<Table>();
  readonly #schedule = new Schedule();
  #timerOrder = 0;
  #bornBlobs: string[] = [];
  #deadBlobs: string[] = [];
  #now = 0;
  #open = false;
  readonly world: World;

  constructor(parts: StoreParts = {}) {
    this.#disk = parts.disk;
    this.#bytes = parts.blobs ?? memoryBlobs();
    this.#random = parts.random ?? randomBytes;
    this.#key = parts.key ?? randomBytes(KEY_BYTES);
    this.world = this.#makeWorld();
    this.#readTimers();
    this.#sweepBlobs();
  }

  /** Runs work at a time as one transaction: all of it is on disk when this returns, none of it when it throws. */
  transact<T>(now: number, work: (world: World) => T): T {
    if (this.#open) throw new Error("transactions do not nest");
    this.#open = true;
    this.#now = now;
    try {
      const result = work(this.world);
      this.#commit();
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#open = false;
    }
  }

  /** The time of the next timer, or undefined when none is set. */
  nextDue(): number | undefined {
    for (;;) {
      const first = this.#schedule.first;
      if (first === undefined) return undefined;
      if (this.#standing(first.id)?.order === first.order) return first.at;
      this.#schedule.take();
    }
  }

  /** Takes the next timer off the schedule when it is due at `until`; its row goes when the caller runs it. */
  takeDue(until: number): DueTimer | undefined {
    const at = this.nextDue();
    if (at === undefined || at > until) return undefined;
    const due = this.#schedule.take();
    const row = due && this.#standing(due.id);
    return due && row && { id: due.id, at: row.at, type: row.type, payload: row.payload };
  }

  /** Every table with its rows. */
  dump(): Tables {
    const names = new Set([...(this.#disk?.tables() ?? []), ...this.#tables.keys()]);
    const filled = [...names].sort().map((name) => [name, this.#table(name)] as const);
    return Object.fromEntries(
      filled
        .filter(([, table]) => table.size > 0)
        .map(([name, table]) => [name, Object.fromEntries(table.entries())]),
    );
  }

  /** Puts other rows in the place of all rows. Part of the running transaction. */
  replace(tables: Tables): void {
    for (const [name, rows] of Object.entries(this.dump())) {
      for (const id of Object.keys(rows)) {
        if (name === OWN_TABLES.blobs) this.world.blobs.delete(id);
        this.#table(name).delete(id);
      }
    }
    for (const [name, rows] of Object.entries(tables)) {
      for (const [id, row] of Object.entries(rows)) this.#table(name).set(id, row);
    }
  }

  /** Puts a blob under an id of its own, as a snapshot has it. */
  putBlob(id: string, bytes: Uint8Array): void {
    this.#bytes.write(id, 0, bytes);
    this.#table(OWN_TABLES.blobs).set(id, bytes.length);
  }

  /** Reads the timers again after the rows were replaced. */
  reschedule(): void {
    this.#schedule.clear();
    this.#readTimers();
  }

  close(): void {
    this.#disk?.close();
    this.#bytes.close();
  }

  #table(name: string): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Table(name, this.#disk?.rows(name) ?? [], (touched) => this.#touch(touched));
      this.#tables.set(name, table);
    }
    return table;
  }

  #touch(table: Table): void {
    if (!this.#open) throw new Error(`table ${table.name} was changed outside a transaction`);
    this.#dirty.add(table);
  }

  #commit(): void {
    if (this.#dirty.size > 0) {
      this.#disk?.write([...this.#dirty].map((table) => table.changes()));
      for (const table of this.#dirty) table.commit();
      this.#dirty.clear();
    }
    for (const id of this.#deadBlobs) {
      if (!this.#table(OWN_TABLES.blobs).has(id)) this.#bytes.remove(id);
    }
    this.#bornBlobs = [];
    this.#deadBlobs = [];
  }

  #rollback(): void {
    for (const table of this.#dirty) table.rollback();
    this.#dirty.clear();
    for (const id of this.#bornBlobs) this.#bytes.remove(id);
    this.#bornBlobs = [];
    this.#deadBlobs = [];
  }

  #standing(id: string): TimerRow | undefined {
    return this.#table(OWN_TABLES.timers).get(id) as TimerRow | undefined;
  }

  #readTimers(): void {
    const table = this.#table(OWN_TABLES.timers) as Collection<unknown> as Collection<TimerRow>;
    for (const [id, row] of table.entries()) {
      this.#schedule.add({ id, at: row.at, order: row.order });
      this.#timerOrder = Math.max(this.#timerOrder, row.order);
    }
  }

  /** A process that was killed may have left bytes that no row names. */
  #sweepBlobs(): void {
    const rows = this.#table(OWN_TABLES.blobs);
    for (const id of this.#bytes.ids()) if (!rows.has(id)) this.#bytes.remove(id);
  }

  #makeWorld(): World {
    const store = this;
    return {
      collection: <T>(name: string) => this.#table(name) as Collection<unknown> as Collection<T>,
      blobs: this.#makeBlobs(),
      timers: this.#makeTimers(),
      get now() {
        return store.#now;
      },
      next: (sequence, from = 1) => this.#next(sequence, from),
      hex: (length) =>
        Buffer.from(this.#random(Math.ceil(length / 2)))
          .toString("hex")
          .slice(0, length),
      seal: (plain) => seal(this.#key, plain),
      unseal: (sealed) => unseal(this.#key, sealed),
      mail: (mail) =>
        this.#table(OWN_TABLES.mails).set(String(this.#next(OWN_TABLES.mails, 1)), {
          at: this.#now,
          ...mail,
        }),
    };
  }

  #next(sequence: string, from: number): number {
    const table = this.#table(OWN_TABLES.sequences);
    const last = table.get(sequence);
    const next = typeof last === "number" ? last + 1 : from;
    table.set(sequence, next);
    return next;
  }

  #makeTimers(): Timers {
    return {
      set: (id, at, type, payload) => {
        const order = ++this.#timerOrder;
        this.#table(OWN_TABLES.timers).set(id, { at, order, type, payload } satisfies TimerRow);
        this.#schedule.add({ id, at, order });
      },
      cancel: (id) => {
        this.#table(OWN_TABLES.timers).delete(id);
      },
    };
  }

  #makeBlobs(): Blobs {
    const rows = () => this.#table(OWN_TABLES.blobs);
    const size = (id: string): number => {
      const bytes = rows().get(id);
      if (typeof bytes !== "number") throw new Error(`there is no blob ${id}`);
      return bytes;
    };
    return {
      create: () => {
        const id = `b${this.#next(OWN_TABLES.blobs, 1)}`;
        rows().set(id, 0);
        this.#bornBlobs.push(id);
        return id;
      },
      append: (id, bytes) => {
        if (bytes.length === 0) return;
        const at = size(id);
        this.#bytes.write(id, at, bytes);
        rows().set(id, at + bytes.length);
      },
      size,
      read: (id, offset, length) => {
        const end = Math.min(size(id), offset + length);
        return end <= offset ? new Uint8Array(0) : this.#bytes.read(id, offset, end - offset);
      },
      delete: (id) => {
        if (rows().delete(id)) this.#deadBlobs.push(id);
      },
    };
  }
}
