// The lock of any backend: acquired, held with heartbeats, and released. A holder sends no request shortly before its lease expires.

import { Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { LatestClaim, LeaseTimes, LockClaim, LockOwner, StateBackend } from "../model/backend.ts";
import {
  ageOf,
  type Clock,
  type LockOptions,
  type Moment,
  momentOf,
  type Random,
  randomHex,
} from "../model/store.ts";
import {
  type Heartbeat,
  holderName,
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

export interface LockRequest extends Omit<LockOptions, "to"> {
  /** The fence must be greater than this one, which the state has seen. */
  readonly above: number;
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
  const deadline = clock.elapsed() + taking.timeoutMs;
  const watch = new ClaimWatch();
  let waitedFor: string | undefined;
  for (let beaten = 0; ; ) {
    const asked = clock.elapsed();
    const top = await backend.top();
    watch.saw(top, asked, clock.elapsed());
    const silence = top === undefined ? 0 : silenceOf(top, environment.times);
    const free =
      top === undefined || watch.silentMs > silence || (await isCertainlyFree(backend, top, environment));
    if (free) {
      const claim = {
        ...newClaim(environment, nextFence(Math.max(top?.fence ?? 0, taking.above), backend.names)),
        ...(top !== undefined && "claim" in top ? defined({ seq: top.claim.seq }) : {}),
      };
      if (await backend.claim(claim, top)) return claim;
      beaten += 1;
    }
    const elapsed = clock.elapsed();
    if (taking.signal?.aborted === true)
      throw failureOf("APPLY_INTERRUPTED", "stopped while waiting for the lock", {
        hint: "nothing was changed",
      });
    if (free && beaten <= AT_ONCE) continue;
    if (elapsed >= deadline) {
      if (free) throw lockContended(backend);
      throw new Failure(
        "claim" in top
          ? lockedBy(top.claim, await heartbeatOf(backend, top.claim, watch))
          : lockUnreadable(top.name, silence),
      );
    }
    const holder = top !== undefined && "claim" in top ? holderName(top.claim) : undefined;
    if (!free && waitedFor !== String(top.fence)) {
      waitedFor = String(top.fence);
      taking.onWait?.({ holder, timeoutMs: deadline - elapsed, silenceMs: silence });
    }
    await clock.sleep(Math.max(1, Math.min(POLL_MS, deadline - elapsed)), taking.signal);
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
    beat: 0,
    lease_ms: times.leaseMs,
    request_ms: times.requestMs,
  };
}

/**
 * How long a claim has not changed while this run watched it. Machines disagree about the time, so a date in a claim
 * says nothing about its age.
 */
class ClaimWatch {
  #content: string | undefined;
  /** By the monotonic clock: after the first read of this content, and before the last one. */
  #since = 0;
  #until = 0;
  /** Whether the claim changed while it was watched, so its holder was alive. */
  hasMoved = false;

  saw(top: LatestClaim | undefined, asked: number, answered: number): void {
    const content = JSON.stringify(top);
    this.#until = asked;
    if (content === this.#content) return;
    this.hasMoved = this.#content !== undefined;
    this.#content = content;
    this.#since = answered;
  }

  get silentMs(): number {
    return this.#until - this.#since;
  }
}

export function silenceOf(top: LatestClaim, { leaseMs, requestMs }: LeaseTimes): number {
  return silenceMs("claim" in top ? top.claim : { lease_ms: leaseMs, request_ms: requestMs });
}

/** Whether a lock is free without watching it: released, of a process that ended, or expired by the clock of the server. */
export async function isCertainlyFree(
  backend: StateBackend,
  top: LatestClaim,
  environment: LockEnvironment,
): Promise<boolean> {
  if (!("claim" in top)) return top.released;
  const { claim } = top;
  if (claim.released === true || environment.isCrashed(claim.owner)) return true;
  const now = await backend.serverNow?.();
  return now !== undefined && now - claim.renewed_at > silenceMs(claim);
}

async function heartbeatOf(
  backend: StateBackend,
  claim: LockClaim,
  { silentMs, hasMoved }: ClaimWatch,
): Promise<Heartbeat> {
  const now = await backend.serverNow?.();
  if (now !== undefined) return { silentMs: now - claim.renewed_at, isSeen: true };
  return { silentMs, isSeen: hasMoved };
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
  /** The begin of the last heartbeat that succeeded. */
  #renewedAt: Moment;
  #lost: Failure | undefined;
  /** Too late for a heartbeat: nothing more is sent, although no other run may have acquired the lock yet. */
  #isExpired = false;
  #beating: Promise<void> = Promise.resolve();

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
    if (this.#isExpired || !this.#mayWrite()) throw lockLost("it was not renewed in time");
  }

  #mayWrite(): boolean {
    const { clock, times } = this.#environment;
    return mayWrite(times, ageOf(clock, this.#renewedAt));
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
      // A run that watches may have found the lock expired and be about to acquire it, which a late heartbeat cannot
      // prevent. Only a server compares the heartbeat that was seen with the present one.
      this.#isExpired = this.#backend.serverNow === undefined && !this.#mayWrite();
      if (this.#isExpired || this.#lost !== undefined) return;
      const begun = momentOf(clock);
      const renewed = {
        ...this.#claim,
        renewed_at: begun.now,
        beat: this.#claim.beat + 1,
        seq: this.#durable(),
      };
      try {
        await this.#backend.renew(renewed);
        this.#claim = renewed;
        this.#renewedAt = begun;
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
