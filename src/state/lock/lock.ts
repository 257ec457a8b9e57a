// The lock of any backend: acquired, held with heartbeats, and released. A holder sends no request shortly before its lease expires.

import { Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { LatestClaim, LeaseTimes, LockClaim, LockOwner, StateBackend } from "../model/backend.ts";
import { type Clock, type Random, randomHex } from "../model/ports.ts";
import {
  isOver,
  lockedBy,
  lockLost,
  lockUnreadable,
  mayWrite,
  nextFence,
  renewEveryMs,
  silenceMs,
} from "./lease-rules.ts";

/** What taking and holding a lock needs of its surroundings. */
export interface LockEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: LockOwner;
  /** Whether the owner's process has certainly ended. */
  readonly isCrashed: (owner: LockOwner) => boolean;
  readonly times: LeaseTimes;
}

export interface LockRequest {
  readonly timeoutMs: number;
  /** The fence must be greater than this one, which the state has seen. */
  readonly above: number;
  readonly signal?: AbortSignal;
}

const POLL_MS = 1000;
/** Number of immediate retries if another run acquires a free lock first; afterwards it waits as for a held lock. */
const AT_ONCE = 3;

/** Waits for the lock and acquires it. Throws Failure with STATE_LOCKED after the timeout. */
export async function acquireLock(
  backend: StateBackend,
  environment: LockEnvironment,
  taking: LockRequest,
): Promise<LockClaim> {
  const { clock } = environment;
  const deadline = clock.now() + taking.timeoutMs;
  const patience = new Patience();
  for (let beaten = 0; ; ) {
    const top = await backend.top();
    const free = top === undefined || (await isFree(backend, top, environment, patience));
    if (free) {
      const claim = {
        ...newClaim(environment, nextFence(Math.max(top?.fence ?? 0, taking.above), backend.names)),
        ...(top !== undefined && "claim" in top ? defined({ seq: top.claim.seq }) : {}),
      };
      if (await backend.claim(claim, top)) return claim;
      beaten += 1;
    }
    const now = clock.now();
    if (taking.signal?.aborted === true)
      throw failureOf("APPLY_INTERRUPTED", "stopped while waiting for the lock", {
        hint: "nothing was changed",
      });
    if (free && beaten <= AT_ONCE) continue;
    if (now >= deadline) throw free ? lockContended(backend) : whoHolds(top, await backend.now());
    await clock.sleep(Math.max(1, Math.min(POLL_MS, deadline - now)), taking.signal);
  }
}

export function newClaim({ clock, random, owner, times }: LockEnvironment, fence: number): LockClaim {
  const now = clock.now();
  return {
    fence,
    nonce: randomHex(random, 8),
    owner,
    taken_at: now,
    renewed_at: now,
    lease_ms: times.leaseMs,
    request_ms: times.requestMs,
  };
}

/** Remembers how long one and the same claim has been silent, by our own clock: the other machine's may be wrong. */
class Patience {
  #seen = "";
  #since = 0;
  silentFor(what: string, now: number): number {
    if (what !== this.#seen) {
      this.#seen = what;
      this.#since = now;
    }
    return now - this.#since;
  }
}

async function isFree(
  backend: StateBackend,
  top: LatestClaim,
  environment: LockEnvironment,
  patience: Patience,
): Promise<boolean> {
  const now = environment.clock.now();
  if (!("claim" in top)) {
    if (top.released) return true;
    const { leaseMs: lease_ms, requestMs: request_ms } = environment.times;
    const silence = silenceMs({ lease_ms, request_ms });
    return patience.silentFor(`${top.fence} ${top.unreadable}`, now) > silence;
  }
  const { claim } = top;
  if (isOver(claim, await backend.now(), backend.skewMs) || environment.isCrashed(claim.owner)) return true;
  return patience.silentFor(`${claim.fence} ${claim.renewed_at}`, now) > silenceMs(claim);
}

function whoHolds(top: LatestClaim, now: number): Failure {
  return new Failure("claim" in top ? lockedBy(top.claim, now) : lockUnreadable(top.name));
}

export function lockContended({ names }: StateBackend): Failure {
  return failureOf(
    "STATE_LOCKED",
    `the lock of ${names.place} is free, but every attempt to acquire it failed`,
    { hint: "other runs may be faster; wait with --lock-timeout 10m" },
  );
}

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
