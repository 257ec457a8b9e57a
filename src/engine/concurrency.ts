// Limits how many operations run at the same time.

interface Waiter {
  readonly rank: number;
  readonly begin: () => void;
}

export class Semaphore {
  #free: number;
  /** In the order of their ranks; those before `#next` have begun. */
  readonly #waiting: Waiter[] = [];
  #next = 0;

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  /** Calls `begin` with a slot, at once or when one is free. Of those that wait, the least rank begins first. */
  queue(begin: () => void, rank = -1): void {
    if (this.#free > 0) {
      this.#free -= 1;
      begin();
      return;
    }
    // Waiters come almost in their order, so most are added at the end.
    let at = this.#waiting.length;
    while (at > this.#next && (this.#waiting[at - 1]?.rank ?? 0) > rank) at -= 1;
    this.#waiting.splice(at, 0, { rank, begin });
  }

  take(): Promise<void> {
    return new Promise((resolve) => this.queue(resolve));
  }

  give(): void {
    const waiter = this.#waiting[this.#next];
    if (waiter === undefined) {
      this.#free += 1;
      return;
    }
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#next = 0;
    }
    waiter.begin();
  }

  async inside<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  /** Releases the caller's slot while it waits, then acquires one again, before what has not begun. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    this.give();
    try {
      return await wait();
    } finally {
      await this.take();
    }
  }
}
