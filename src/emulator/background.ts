// Background work: timers of the areas and late commits, run in the order of their times.

import { OWN_TABLES, type Store } from "./store/store.ts";
import type { EmulatorClock } from "./world/clock.ts";
import type { Area, TimerRun } from "./world/world.ts";

interface Late {
  readonly at: number;
  readonly run: () => unknown;
}

export class BackgroundWork {
  readonly #store: Store;
  readonly #clock: EmulatorClock;
  readonly #runs: ReadonlyMap<string, TimerRun>;
  #late: Late[] = [];
  #busy = false;

  constructor(store: Store, clock: EmulatorClock, areas: readonly Area[]) {
    this.#store = store;
    this.#clock = clock;
    this.#runs = new Map(areas.flatMap((area) => Object.entries(area.timers ?? {})));
  }

  /** Keeps a request to be done at a later time of the clock; gone when the process is. */
  later(at: number, run: () => unknown): void {
    this.#late = [...this.#late, { at, run }].sort((a, b) => a.at - b.at);
  }

  forgetLate(): void {
    this.#late = [];
  }

  /** Runs all that is due by now. A late request that comes due asks for this again; that inner call does nothing. */
  catchUp(): void {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const now = this.#clock.now();
      while (this.#step(now)) {}
    } finally {
      this.#busy = false;
    }
  }

  #step(now: number): boolean {
    const late = this.#late[0];
    const timerAt = this.#store.timers.nextDue() ?? Number.POSITIVE_INFINITY;
    if (late !== undefined && late.at <= now && late.at < timerAt) {
      this.#late = this.#late.slice(1);
      late.run();
      return true;
    }
    const due = this.#store.timers.takeDue(now);
    if (due === undefined) return false;
    try {
      this.#store.transact(due.at, (world) => {
        const run = this.#runs.get(due.type);
        if (run === undefined) throw new Error(`no area runs timers of type ${due.type}`);
        world.collection(OWN_TABLES.timers).delete(due.id);
        run(world, due.payload, due.at);
      });
    } catch (error) {
      this.#store.transact(due.at, (world) => world.collection(OWN_TABLES.timers).delete(due.id));
      throw error;
    }
    return true;
  }
}
