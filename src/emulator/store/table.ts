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
}

export class Table implements Collection<unknown> {
  readonly name: string;
  readonly #touched: (table: Table) => void;
  readonly #committed = new Map<string, unknown>();
  #written = new Map<string, unknown>();
  #removed = new Set<string>();
  #added = 0;

  constructor(name: string, disk: TableDisk | undefined, touched: (table: Table) => void) {
    this.name = name;
    this.#touched = touched;
    for (const [id, text] of disk?.rows(name) ?? []) this.#committed.set(id, new Unread(text));
  }

  get size(): number {
    return this.#committed.size - this.#removed.size + this.#added;
  }

  has(id: string): boolean {
    return this.#written.has(id) || (!this.#removed.has(id) && this.#committed.has(id));
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
    if (this.#committed.has(id)) this.#removed.add(id);
    this.#touched(this);
    return true;
  }

  *keys(): IterableIterator<string> {
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
    for (const id of this.#removed) this.#committed.delete(id);
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
    return this.#removed.has(id) || !this.#committed.has(id);
  }

  #read(id: string): unknown {
    const value = this.#committed.get(id);
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
