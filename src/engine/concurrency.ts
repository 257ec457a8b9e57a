// Limits how many operations run at the same time.

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #freed: (() => void) | undefined;

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  /** Resolves when a slot is free, and acquires it. */
  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free += 1;
      this.#freed?.();
    } else next();
  }

  /** Calls `notify` whenever a slot becomes free and no operation waits for it. */
  whenFreed(notify: () => void): void {
    this.#freed = notify;
  }

  async inside<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  /** Releases the caller's slot while it waits, then acquires one again. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    this.give();
    try {
      return await wait();
    } finally {
      await this.take();
    }
  }
}
