// A table in memory that keeps the changes of the running transaction separate, so that a rollback drops them.

import { parseJson } from "../../core/exact-json.ts";
import type { Collection } from "../world/world.ts";

/** A row from the disk, parsed at its first use. */
class Unread {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Stands for a row that was looked for on disk and is not there. */
const ABSENT = Symbol("absent");

/** What a transaction did to one table: removals come before writes. */
export interface TableChange {
  readonly table: string;
  readonly removed: ReadonlySet<string>;
  readonly written: ReadonlyMap<string, unknown>;
}

/** Where the committed rows of tables lie. Each commit is written there before the table hears of it. */
export interface TableDisk {
  /** All rows of a table, in the order in which their ids were first set. */
  rows(table: string): Iterable<readonly [string, string]>;
  find(table: string, id: string): string | undefined;
  exceeds(table: string, count: number): boolean;
}

/** A larger table is read row by row until a request needs all of it, so that a large world opens at once. */
const SMALL = 1000;

export class Table implements Collection<unknown> {
  readonly name: string;
  readonly #disk: TableDisk | undefined;
  readonly #touched: (table: Table) => void;
  /** All rows in their order, or only rows that were read. */
  #committed = new Map<string, unknown>();
  #whole: boolean;
  #written = new Map<string, unknown>();
  #removed = new Set<string>();
  #added = 0;

  constructor(name: string, disk: TableDisk | undefined, touched: (table: Table) => void) {
    this.name = name;
    this.#disk = disk;
    this.#touched = touched;
    this.#whole = disk === undefined;
    if (disk?.exceeds(name, SMALL) === false) this.#readAll();
  }

  get size(): number {
    this.#readAll();
    return this.#committed.size - this.#removed.size + this.#added;
  }

  has(id: string): boolean {
    return this.#written.has(id) || (!this.#removed.has(id) && this.#isCommitted(id));
  }

  get(id: string): unknown {
    if (this.#written.has(id)) return this.#written.get(id);
    return this.#removed.has(id) ? undefined : this.#read(id);
  }

  set(id: string, value: unknown): void {
    if (!this.#written.has(id) && this.#isNew(id)) this.#added++;
    this.#written.set(id, deepFreeze(value));
    this.#touched(this);
  }

  delete(id: string): boolean {
    if (!this.has(id)) return false;
    if (this.#written.delete(id) && this.#isNew(id)) this.#added--;
    if (this.#isCommitted(id)) this.#removed.add(id);
    this.#touched(this);
    return true;
  }

  *keys(): IterableIterator<string> {
    this.#readAll();
    for (const id of this.#committed.keys()) if (!this.#removed.has(id)) yield id;
    for (const id of this.#written.keys()) if (this.#isNew(id)) yield id;
  }

  *entries(): IterableIterator<[string, unknown]> {
    for (const id of this.keys()) yield [id, this.get(id)];
  }

  *values(): IterableIterator<unknown> {
    for (const [, value] of this.entries()) yield value;
  }

  /** What the running transaction changed here. */
  changes(): TableChange {
    return { table: this.name, removed: this.#removed, written: this.#written };
  }

  commit(): void {
    for (const id of this.#removed) {
      if (this.#whole) this.#committed.delete(id);
      else this.#committed.set(id, ABSENT);
    }
    for (const [id, value] of this.#written) this.#committed.set(id, value);
    this.rollback();
  }

  rollback(): void {
    this.#written = new Map();
    this.#removed = new Set();
    this.#added = 0;
  }

  /** An id that a commit appends at the end: never seen, or removed and set again. */
  #isNew(id: string): boolean {
    return this.#removed.has(id) || !this.#isCommitted(id);
  }

  #isCommitted(id: string): boolean {
    return this.#whole ? this.#committed.has(id) : this.#find(id) !== ABSENT;
  }

  /** The committed value of an ID, `Unread` or parsed; `ABSENT` or undefined if there is none. */
  #find(id: string): unknown {
    const row = this.#committed.get(id);
    if (row !== undefined || this.#whole) return row;
    const text = this.#disk?.find(this.name, id);
    const unread = text === undefined ? ABSENT : new Unread(text);
    this.#committed.set(id, unread);
    return unread;
  }

  /** Every row, in the order of the disk; rows that were read already are not read again. */
  #readAll(): void {
    if (this.#whole) return;
    const rowsInUse = this.#committed;
    this.#committed = new Map();
    for (const [id, text] of this.#disk?.rows(this.name) ?? [])
      this.#committed.set(id, rowsInUse.get(id) ?? new Unread(text));
    this.#whole = true;
  }

  #read(id: string): unknown {
    const value = this.#find(id);
    if (value === ABSENT) return undefined;
    if (!(value instanceof Unread)) return value;
    const parsed = deepFreeze(parseJson(value.text));
    this.#committed.set(id, parsed);
    return parsed;
  }
}

/** Freezes a JSON value and all in it. What is frozen already was frozen here, whole. */
function deepFreeze(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
