// Holds a lock: sends heartbeats, stops requests before the lease expires, and releases the lock.

import { Failure } from "../../core/diagnostic.ts";
import type { StateBackend } from "../model/backend.ts";
import type { LockClaim } from "../model/lock-claim.ts";
import type { LockEnvironment } from "./acquire.ts";
import { lockLost, mayWrite, renewEveryMs } from "./lease-rules.ts";

export class LockKeeper {
  readonly #backend: StateBackend;
  readonly #environment: LockEnvironment;
  readonly #durable: () => number;
  readonly #ending = new AbortController();
  #claim: LockClaim;
  #lost: Failure | undefined;
  #beating: Promise<void> = Promise.resolve();

  /** `durable`: number of the last entry that is. */
  constructor(backend: StateBackend, environment: LockEnvironment, claim: LockClaim, durable: () => number) {
    this.#durable = durable;
    this.#backend = backend;
    this.#environment = environment;
    this.#claim = claim;
  }

  /** As last renewed. */
  get claim(): LockClaim {
    return this.#claim;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  begin(): void {
    this.#beating = this.#beat();
  }

  /** Throws Failure with STATE_LOCK_LOST when the lock is lost or about to expire. */
  assertHeld(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (!mayWrite(this.#environment.times, this.#claim.renewed_at, this.#environment.clock.now()))
      throw lockLost("it was not renewed in time");
  }

  /** A state write that found another holder stops the waiting requests. */
  noticed(failure: unknown): void {
    if (isLost(failure)) this.#lost = failure;
  }

  /** Until it ends. A failure only lets the lease run out. */
  async #beat(): Promise<void> {
    const { clock, times } = this.#environment;
    const { signal } = this.#ending;
    for (;;) {
      await clock.sleep(renewEveryMs(times), signal);
      if (signal.aborted) return;
      try {
        const renewed = { ...this.#claim, renewed_at: clock.now(), seq: this.#durable() };
        await this.#backend.renew(renewed);
        this.#claim = renewed;
      } catch (failure) {
        if (isLost(failure)) this.#lost = failure;
      }
    }
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#beating;
  }

  /** If another run holds the lock now, there is nothing to release. */
  async release(): Promise<void> {
    try {
      await this.#backend.renew({ ...this.#claim, released: true, seq: this.#durable() });
    } catch (failure) {
      if (!isLost(failure)) throw failure;
    }
  }
}

function isLost(failure: unknown): failure is Failure {
  return failure instanceof Failure && failure.diagnostics[0]?.code === "STATE_LOCK_LOST";
}
