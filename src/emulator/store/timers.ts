// Durable timers: a row each, and a queue by time, then by creation.

import type { JsonObject } from "../../core/json.ts";
import type { Collection, Timers } from "../world/world.ts";

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

export interface TimerRow {
  readonly at: number;
  readonly order: number;
  readonly type: string;
  readonly payload: JsonObject;
}

export type DueTimer = Omit<TimerRow, "order"> & { readonly id: string };

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

  /** Reads the schedule out of the rows; again after the rows were replaced. */
  read(): void {
    this.#schedule.clear();
    for (const [id, row] of this.#rows().entries()) {
      this.#schedule.add({ id, at: row.at, order: row.order });
      this.#order = Math.max(this.#order, row.order);
    }
  }
}
