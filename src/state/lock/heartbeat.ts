// The lock of a run: it renews its claim with heartbeats, ends the run in time when it is lost, and releases it.

import { Failure } from "../../core/diagnostic.ts";
import type { LeaseTimes, LockClaim, StateBackend } from "../model/backend.ts";
import { ageOf, type Moment, momentOf } from "../model/store.ts";
import { nextFence } from "./claim-file.ts";
import { type LockEnvironment, lockLost, overtaken, silenceMs } from "./lock.ts";

export class LockKeeper {
  readonly #backend: StateBackend;
  readonly #environment: LockEnvironment;
  readonly #durable: () => number;
  readonly #ending = new AbortController();
  #claim: LockClaim;
  /** The begin of the last heartbeat that succeeded. */
  #renewedAt: Moment;
  #lost: Failure | undefined;
  #beating: Promise<void> = Promise.resolve();
  /** One at a time: two would write the same file. */
  #renewing: Promise<void> = Promise.resolve();

  /** `durable`: number of the last entry that is. */
  constructor(backend: StateBackend, environment: LockEnvironment, claim: LockClaim, durable: () => number) {
    this.#durable = durable;
    this.#backend = backend;
    this.#environment = environment;
    this.#claim = claim;
    const { now, elapsed } = momentOf(environment.clock);
    this.#renewedAt = { now: claim.renewed_at, elapsed: elapsed - Math.max(0, now - claim.renewed_at) };
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
    if (!this.#mayWrite()) throw lockLost("it was not renewed in time");
  }

  #mayWrite(): boolean {
    const { clock, times } = this.#environment;
    return mayWrite(times, ageOf(clock, this.#renewedAt));
  }

  /**
   * The claim for a write of the state. A run that was blocked or suspended renews it before, or acquires the lock
   * again if it has expired. Throws Failure with STATE_LOCK_LOST if another run acquired it meanwhile.
   */
  async heldClaim(): Promise<LockClaim> {
    if (this.#lost === undefined && !this.#mayWrite()) {
      await this.#renew();
      if (this.#isExpired()) await this.#acquireAgain();
    }
    if (this.#lost !== undefined) throw this.#lost;
    return this.#claim;
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
      if (signal.aborted || this.#lost !== undefined) return;
      await this.#renew();
    }
  }

  #renew(): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renewNow());
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    if (this.#lost !== undefined || this.#isExpired()) return;
    const begun = momentOf(this.#environment.clock);
    const renewed = this.#nextClaim(begun);
    try {
      await this.#backend.renew(renewed);
      // A run that read the claim before may be about to acquire the lock by now.
      if (this.#isExpired()) return;
      this.#claim = renewed;
      this.#renewedAt = begun;
    } catch (failure) {
      this.noticed(failure);
    }
  }

  #nextClaim(begun: Moment): LockClaim {
    return { ...this.#claim, renewed_at: begun.now, beat: this.#claim.beat + 1, seq: this.#durable() };
  }

  /**
   * Whether a run that watches may have found the lock expired and be about to acquire it, which a late heartbeat cannot
   * prevent. Only a server compares the heartbeat that was read with the present one.
   */
  #isExpired(): boolean {
    const { clock, times } = this.#environment;
    if (this.#backend.serverNow !== undefined) return false;
    return (
      ageOf(clock, this.#renewedAt) >= silenceMs({ lease_ms: times.leaseMs, request_ms: times.requestMs })
    );
  }

  /** Only one run can create the next fencing token, so either no other run acquired the lock since, or this one has lost it. */
  async #acquireAgain(): Promise<void> {
    const begun = momentOf(this.#environment.clock);
    const { fence, nonce } = this.#claim;
    const latest = await this.#backend.latestClaim();
    const isOwn =
      latest !== undefined && "claim" in latest && latest.fence === fence && latest.claim.nonce === nonce;
    const next = { ...this.#nextClaim(begun), fence: nextFence(fence, this.#backend.names) };
    if (isOwn && (await this.#backend.claim(next, latest))) {
      this.#claim = next;
      this.#renewedAt = begun;
    } else this.#lost = overtaken(isOwn ? next.fence : latest?.fence);
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

export const LEASE_TIMES: LeaseTimes = { leaseMs: 60_000, requestMs: 60_000 };

function renewEveryMs(times: LeaseTimes): number {
  return times.leaseMs / 4;
}

/** A holder stops before its lease expires, because another run may be waiting for that. `ageMs`: of the last heartbeat. */
export function mayWrite(times: LeaseTimes, ageMs: number): boolean {
  return ageMs < (times.leaseMs * 3) / 4;
}
