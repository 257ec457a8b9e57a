// How a run acquires the lock of any backend: it waits for the holder, and decides when the lease of a silent one is over. `heartbeat` holds the lock.

import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import type { LatestClaim, LeaseTimes, LockClaim, LockOwner, StateBackend } from "../model/backend.ts";
import { type Clock, type LockOptions, type Random, randomHex } from "../model/store.ts";
import { nextFence } from "./claim-file.ts";

/** What taking and holding a lock needs of its surroundings. */
export interface LockEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: LockOwner;
  /** Whether the owner's process has certainly ended. */
  readonly isCrashed: (owner: LockOwner) => boolean;
  readonly times: LeaseTimes;
}

interface LockRequest extends Omit<LockOptions, "to"> {
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
    const askedAt = clock.elapsed();
    const latest = await backend.latestClaim();
    watch.saw(latest, askedAt, clock.elapsed());
    const silence = latest === undefined ? 0 : silenceOf(latest, environment.times);
    const free =
      latest === undefined ||
      watch.silentMs > silence ||
      (await isCertainlyFree(backend, latest, environment));
    if (free) {
      const claim = {
        ...newClaim(environment, nextFence(Math.max(latest?.fence ?? 0, taking.above), backend.names)),
        ...(latest !== undefined && "claim" in latest ? defined({ seq: latest.claim.seq }) : {}),
      };
      if (await backend.claim(claim, latest)) return claim;
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
        "claim" in latest
          ? lockedBy(latest.claim, await heartbeatOf(backend, latest.claim, watch))
          : lockUnreadable(latest.name, silence),
      );
    }
    const holder = latest !== undefined && "claim" in latest ? holderName(latest.claim) : undefined;
    if (!free && waitedFor !== String(latest.fence)) {
      waitedFor = String(latest.fence);
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

  saw(latest: LatestClaim | undefined, askedAt: number, answered: number): void {
    const content = JSON.stringify(latest);
    this.#until = askedAt;
    if (content === this.#content) return;
    this.hasMoved = this.#content !== undefined;
    this.#content = content;
    this.#since = answered;
  }

  get silentMs(): number {
    return this.#until - this.#since;
  }
}

export function silenceOf(latest: LatestClaim, { leaseMs, requestMs }: LeaseTimes): number {
  return silenceMs("claim" in latest ? latest.claim : { lease_ms: leaseMs, request_ms: requestMs });
}

/** Whether a lock is free without watching it: released, of a process that ended, or expired by the clock of the server. */
export async function isCertainlyFree(
  backend: StateBackend,
  latest: LatestClaim,
  environment: LockEnvironment,
): Promise<boolean> {
  if (!("claim" in latest)) return latest.released;
  const { claim } = latest;
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
    `the lock of ${names.location} is free, but every attempt to acquire it failed`,
    { hint: "other runs may be faster; wait with --lock-timeout 10m" },
  );
}

/** After this time without a heartbeat, the holder has stopped writing and none of its requests is in flight. */
export function silenceMs(claim: Pick<LockClaim, "lease_ms" | "request_ms">): number {
  return claim.lease_ms + claim.request_ms;
}

/** What a run observed of a holder's heartbeat by its own clock or by that of the server. */
interface Heartbeat {
  /** How long ago the last one was, or how long this run saw none. */
  readonly silentMs: number;
  /** Whether there was one; false if this run has seen none yet. */
  readonly isSeen: boolean;
}

export function lockedBy(claim: LockClaim, { silentMs, isSeen }: Heartbeat): Diagnostic {
  const silent = Math.max(0, Math.round(silentMs / 1000));
  const heartbeat = isSeen
    ? `last heartbeat ${silent} s ago`
    : silent === 0
      ? `last heartbeat ${timeText(claim.renewed_at)}`
      : `no heartbeat for ${silent} s`;
  const held = `locked by ${holderName(claim)} since ${timeText(claim.taken_at)} (${heartbeat})`;
  const wait = isSeen ? "wait with --lock-timeout 10m" : watchHint(silenceMs(claim));
  return error("STATE_LOCKED", `the state has been ${held}`, {
    hint: `${wait}; if that process has crashed, run \`workspace state unlock ${shellWord(claim.nonce)}\``,
  });
}

/** A run that waits acquires the lock of a crashed one only if it watches for the whole time itself. */
function watchHint(silence: number): string {
  const minutes = Math.max(10, Math.ceil(silence / 60_000) + 1);
  return `wait with --lock-timeout ${minutes}m, which acquires the lock after ${Math.ceil(silence / 1000)} s without a heartbeat`;
}

/** A claim can contain any number. */
function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "an invalid time" : date.toISOString();
}

/** The message of `state unlock` if the lock ID of the request is not that of the holder. `isFree`: the holder has ended or released it. */
export function lockIdMismatch(claim: LockClaim, nonce: string | undefined, isFree: boolean): Failure {
  if (isFree)
    return failureOf(
      "STATE_LOCKED",
      `${nonce} is not the ID of the last lock: ${holderName(claim)} no longer holds it`,
      { hint: "the state is not locked; run the command that you want to run" },
    );
  const mismatch = nonce === undefined ? "" : `, and its lock ID is not ${nonce}`;
  return failureOf("STATE_LOCKED", `${holderName(claim)} holds the lock${mismatch}`, {
    hint: `if that process has crashed, run \`workspace state unlock ${shellWord(claim.nonce)}\``,
  });
}

/** `name`: the file or row of the claim. */
export function lockUnreadable(name: string, silence: number): Diagnostic {
  return error("STATE_LOCKED", `${name} cannot be read, so the holder of the lock is unknown`, {
    hint: `${watchHint(silence)}; if no other run is active, run \`workspace state unlock --force\``,
  });
}

export function holderName({ owner }: LockClaim): string {
  const run = owner.run_url === undefined ? "" : `, ${owner.run_url}`;
  return `${owner.user}@${owner.host} (process ${owner.pid}${run})`;
}

export function lockLost(why: string): Failure {
  return failureOf("STATE_LOCK_LOST", `the lock on the state was lost: ${why}`, {
    hint: "no more requests were sent; run the command again to complete the work",
  });
}

/** `greatest`: the fencing token that rules instead, if one is left. */
export function overtaken(greatest: number | undefined): Failure {
  return lockLost(greatest === undefined ? "its file was deleted" : "another run acquired it");
}
