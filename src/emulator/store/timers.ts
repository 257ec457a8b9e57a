// Durable timers: a row each, and a binary heap by time, then by creation.

import type { JsonObject } from "../../core/json.ts";
import type { Collection, Timers } from "../world/world.ts";

interface Due {
  readonly id: string;
  readonly at: number;
  readonly order: number;
}

/** Entries are not removed when a timer is canceled; the reader of the first one checks whether it is still valid. */
export class DueQueue {
  readonly #heap: Due[] = [];

  get first(): Due | undefined {
    return this.#heap[0];
  }

  add(due: Due): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(due);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(due, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = due;
  }

  take(): Due | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return first;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #sink(due: Due): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      let next = left;
      if (right !== undefined && before(right, left)) {
        next = right;
        child++;
      }
      if (!before(next, due)) break;
      heap[index] = next;
      index = child;
    }
    heap[index] = due;
  }
}

function before(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

export interface DueTimer {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly payload: JsonObject;
}

export interface TimerRow {
  readonly at: number;
  readonly order: number;
  readonly type: string;
  readonly payload: JsonObject;
}

/** The schedule may contain more than the rows (canceled or undone timers); a row decides whether a timer is valid. */
export class TimerRows implements Timers {
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

  /** Reads the schedule out of the rows. */
  read(): void {
    this.#schedule.clear();
    for (const [id, row] of this.#rows().entries()) {
      this.#schedule.add({ id, at: row.at, order: row.order });
      this.#order = Math.max(this.#order, row.order);
    }
  }
}
