// Time that passes only when everybody waits for it.

import type { Clock } from "../../src/state/model/store.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Rounds of the event loop in which whatever runs in this process comes to an end. */
const PATIENCE = 20;

function realPause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The clock of a machine that is set to another time, which may change while it runs, or that has stopped. */
export class OffsetClock implements Clock {
  readonly base: VirtualClock;
  offsetMs: number;
  stoppedAt: number | undefined;

  constructor(base: VirtualClock, offsetMs: number) {
    this.base = base;
    this.offsetMs = offsetMs;
  }

  now(): number {
    return this.stoppedAt ?? this.base.now() + this.offsetMs;
  }

  elapsed(): number {
    return this.base.elapsed();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.base.sleep(ms, signal);
  }
}

export class VirtualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();
  /** Moves other clocks along. */
  readonly #onAdvance: (ms: number) => Promise<unknown>;

  constructor(now: number, onAdvance: (ms: number) => Promise<unknown> = async () => undefined) {
    this.#now = now;
    this.#onAdvance = onAdvance;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const sleeper: Sleeper = {
        // A timer of Node has whole milliseconds, and so has the time of a machine.
        at: this.#now + Math.ceil(ms),
        wake: () => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake, { once: true });
    });
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    await this.#onAdvance(ms);
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.#now) sleeper.wake();
  }

  /** Runs until `work` settles; whenever nothing else happens, time jumps to the next sleeper. */
  async drive<T>(work: Promise<T>, busy: () => boolean = () => false): Promise<T> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => undefined);
    for (let idle = 0, busyFor = 0; !settled; ) {
      // Long work is done by another process, which needs the processor.
      await (busyFor > PATIENCE ? realPause() : new Promise((resolve) => setImmediate(resolve)));
      busyFor = busy() ? busyFor + 1 : 0;
      idle = busyFor > 0 ? 0 : idle + 1;
      if (settled || idle < 4) continue;
      idle = 0;
      const next = Math.min(...[...this.#sleepers].map((sleeper) => sleeper.at));
      if (Number.isFinite(next)) await this.advance(Math.max(0, next - this.#now));
    }
    return done;
  }
}
