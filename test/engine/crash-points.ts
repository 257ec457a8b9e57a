// The moments at which a simulated process can crash, counted from 0.

/** A new promise each time: a shared one would keep every waiter in memory. */
export const never = () => new Promise<never>(() => {});

/** Without `at` the process lives, and its points are collected. */
export class CrashPoints<Point> {
  readonly #at: number | undefined;
  readonly #crash = Promise.withResolvers<void>();
  readonly #passed: Point[] = [];
  #crashed = false;

  constructor(at?: number) {
    this.#at = at;
  }

  /** Passed points, the one of the crash included. */
  get passed(): readonly Point[] {
    return this.#passed;
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** Settles when the process crashes. */
  get stopped(): Promise<void> {
    return this.#crash.promise;
  }

  /** From the crash on, the returned promise never settles. Undefined means that the process continues. */
  pass(point: Point): Promise<never> | undefined {
    if (this.#crashed) return never();
    this.#passed.push(point);
    if (this.#passed.length - 1 !== this.#at) return undefined;
    this.#crashed = true;
    this.#crash.resolve();
    return never();
  }
}
