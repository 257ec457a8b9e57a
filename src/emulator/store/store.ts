// The world as tables in memory and its durable timers: one transaction per request, rolled back if it throws, written through
// to disk if there is one.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { JsonObject } from "../../core/json.ts";
import type { Collection, Timers, World } from "../world/world.ts";
import { type BlobBytes, Contents, memoryBlobs } from "./blobs.ts";
import { Table, type TableChange, type TableDisk } from "./table.ts";

/** Where the rows outlive the process. */
export interface Disk extends TableDisk {
  tables(): readonly string[];
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

/** Names of the store's own tables; areas do not use them. */
export const OWN_TABLES = {
  timers: "$timers",
  sequences: "$sequences",
  blobs: "$blobs",
  mails: "$mails",
} as const;

export type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The tables of one world and the transaction that runs on them. */
export class Store {
  readonly #disk: Disk | undefined;
  readonly #bytes: BlobBytes;
  readonly #key: Uint8Array;
  readonly #random: (count: number) => Uint8Array;
  readonly #tables = new Map<string, Table>();
  readonly #dirty = new Set<Table>();
  readonly #contents: Contents;
  #now = 0;
  #open = false;
  readonly timers: TimerRows;
  readonly world: World;

  constructor(parts: StoreParts = {}) {
    this.#disk = parts.disk;
    this.#bytes = parts.blobs ?? memoryBlobs();
    this.#random = parts.random ?? randomBytes;
    this.#key = parts.key ?? randomBytes(KEY_BYTES);
    const newBlob = () => this.#next(OWN_TABLES.blobs, 1);
    this.#contents = new Contents(() => this.#rows<number>(OWN_TABLES.blobs), this.#bytes, newBlob);
    this.timers = new TimerRows(() => this.#rows<TimerRow>(OWN_TABLES.timers));
    this.world = this.#makeWorld();
    this.timers.read();
    this.#contents.sweep();
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

  dump(): Tables {
    const names = new Set([...(this.#disk?.tables() ?? []), ...this.#tables.keys()]);
    const tables = [...names].sort().map((name) => [name, this.#table(name)] as const);
    const filled = tables.filter(([, table]) => table.size > 0);
    return Object.fromEntries(filled.map(([name, table]) => [name, Object.fromEntries(table.entries())]));
  }

  /** Puts other rows and contents in the place of all there are. Part of the running transaction. */
  replace(tables: Tables, contents: ReadonlyMap<string, Uint8Array>): void {
    for (const [name, rows] of Object.entries(this.dump())) {
      for (const id of Object.keys(rows)) {
        if (name === OWN_TABLES.blobs) this.#contents.delete(id);
        else this.#table(name).delete(id);
      }
    }
    for (const [name, rows] of Object.entries(tables))
      for (const [id, row] of Object.entries(rows)) this.#table(name).set(id, row);
    for (const [id, bytes] of contents) this.#contents.put(id, bytes);
  }

  close(): void {
    this.#disk?.close();
    this.#bytes.close();
  }

  #table(name: string): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Table(name, this.#disk, (touched) => this.#touch(touched));
      this.#tables.set(name, table);
    }
    return table;
  }

  /** The caller says what a table holds: rows come from JSON, where no type can be seen. */
  #rows<T>(name: string): Collection<T> {
    return this.#table(name) as Collection<unknown> as Collection<T>;
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
    this.#contents.commit();
  }

  #rollback(): void {
    for (const table of this.#dirty) table.rollback();
    this.#dirty.clear();
    this.#contents.rollback();
  }

  #makeWorld(): World {
    const store = this;
    return {
      collection: <T>(name: string) => this.#rows<T>(name),
      blobs: this.#contents,
      timers: this.timers,
      get now() {
        return store.#now;
      },
      next: (sequence, from = 1) => this.#next(sequence, from),
      hex: (length) => this.#hex(length),
      seal: (plain) => seal(this.#key, plain),
      unseal: (sealed) => unseal(this.#key, sealed),
      mail: (mail) => {
        this.#rows(OWN_TABLES.mails).set(String(this.#next(OWN_TABLES.mails, 1)), { at: this.#now, ...mail });
      },
    };
  }

  #hex(length: number): string {
    const bytes = this.#random(Math.ceil(length / 2));
    return Buffer.from(bytes).toString("hex").slice(0, length);
  }

  #next(sequence: string, from: number): number {
    const rows = this.#rows<number>(OWN_TABLES.sequences);
    const last = rows.get(sequence);
    const next = last === undefined ? from : last + 1;
    rows.set(sequence, next);
    return next;
  }
}

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns the random value, the tag, and the ciphertext as base64. */
function seal(key: Uint8Array, plain: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
}

/** The decrypted text. Throws if it was changed, or if the key is another one. */
function unseal(key: Uint8Array, sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return plain.toString("utf8");
}

interface Due {
  readonly id: string;
  readonly at: number;
  readonly order: number;
}

/** Sorted by time, then by creation. Canceled timers stay; the reader of the first one checks whether it is still valid. */
export class DueQueue {
  readonly #sorted: Due[] = [];

  get first(): Due | undefined {
    return this.#sorted[0];
  }

  add(due: Due): void {
    let from = 0;
    let to = this.#sorted.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#sorted[middle];
      if (other !== undefined && (other.at < due.at || (other.at === due.at && other.order < due.order)))
        from = middle + 1;
      else to = middle;
    }
    this.#sorted.splice(from, 0, due);
  }

  take(): Due | undefined {
    return this.#sorted.shift();
  }

  clear(): void {
    this.#sorted.length = 0;
  }
}

interface TimerRow {
  readonly at: number;
  readonly order: number;
  readonly type: string;
  readonly payload: JsonObject;
}

type DueTimer = Omit<TimerRow, "order"> & { readonly id: string };

/** The schedule may contain more than the rows (canceled or undone timers); a row decides whether a timer is valid. */
class TimerRows implements Timers {
  readonly #rows: () => Collection<TimerRow>;
  readonly #schedule = new DueQueue();
  #order = 0;

  constructor(rows: () => Collection<TimerRow>) {
    this.#rows = rows;
  }

  set(id: string, at: number, type: string, payload: JsonObject): void {
    const order = ++this.#order;
    this.#rows().set(id, { at, order, type, payload });
    this.#schedule.add({ id, at, order });
  }

  cancel(id: string): void {
    this.#rows().delete(id);
  }

  nextDue(): number | undefined {
    for (;;) {
      const first = this.#schedule.first;
      if (first === undefined) return undefined;
      if (this.#rows().get(first.id)?.order === first.order) return first.at;
      this.#schedule.take();
    }
  }

  /** Takes the next timer off the schedule when it is due at `until`; its row goes when the caller runs it. */
  takeDue(until: number): DueTimer | undefined {
    const at = this.nextDue();
    if (at === undefined || at > until) return undefined;
    const due = this.#schedule.take();
    const row = due && this.#rows().get(due.id);
    return due && row && { id: due.id, at: row.at, type: row.type, payload: row.payload };
  }

  /** Reads the schedule out of the rows; again after the rows were replaced. */
  read(): void {
    this.#schedule.clear();
    for (const [id, row] of this.#rows().entries()) {
      this.#schedule.add({ id, at: row.at, order: row.order });
      this.#order = Math.max(this.#order, row.order);
    }
  }
}
