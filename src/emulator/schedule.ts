// The order in which timers come due: a binary heap by time, then by the order in which they were set.

export interface Due {
  readonly id: string;
  readonly at: number;
  readonly order: number;
}

/** Entries are never taken out when a timer is cancelled; who takes the first one checks that it still stands. */
export class Schedule {
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
