// The lock of any backend: acquired, held with heartbeats, and released; and when a lease is over, for its holder and for a run that waits.

import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/sentences.ts";
import { shapeOf } from "../format/decode.ts";
import type {
  BackendNames,
  LatestClaim,
  LeaseTimes,
  LockClaim,
  LockOwner,
  StateBackend,
} from "../model/backend.ts";
import {
  ageOf,
  type Clock,
  type LockOptions,
  type Moment,
  momentOf,
  type Random,
  randomHex,
} from "../model/store.ts";

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

/** After this time without a heartbeat, the holder has stopped writing and none of its requests is in flight. */
export function silenceMs(claim: Pick<LockClaim, "lease_ms" | "request_ms">): number {
  return claim.lease_ms + claim.request_ms;
}

/** What a run observed of a holder's heartbeat by its own clock or by that of the server. */
export interface Heartbeat {
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

/** The message of `state unlock` if the given lock ID is not that of the holder. */
export function lockIdMismatch(claim: LockClaim, nonce: string | undefined): Failure {
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

/** The names of locks have at most 15 digits, so that a number is exact. No run comes near; a planted file can. */
const LAST_FENCE = 999_999_999_999_999;
const LOCK_FILE = /^lock\.(\d{1,15})$/;

export const lockFile = (fence: number): string => `lock.${fence}`;

/** All fencing tokens in a folder, the greatest first. */
export function fencesIn(names: readonly string[]): readonly number[] {
  return names
    .flatMap((name) => LOCK_FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

interface LockFolder {
  list(): Promise<readonly string[]>;
  read(name: string): Promise<Uint8Array | undefined>;
  shown(name: string): string;
}

/** The claim with the greatest fencing token in a folder. */
export async function claimInFolder(folder: LockFolder): Promise<LatestClaim | undefined> {
  const [fence] = fencesIn(await folder.list());
  if (fence === undefined) return undefined;
  const name = lockFile(fence);
  const bytes = await folder.read(name);
  // Its successor removed it between the two looks; what stays and leads nowhere cannot be read.
  if (bytes === undefined && fencesIn(await folder.list())[0] !== fence) return claimInFolder(folder);
  const text = new TextDecoder().decode(bytes);
  const claim = readClaim(text, fence);
  if (claim !== undefined) return { fence, claim };
  return { fence, name: folder.shown(name), unreadable: text, released: false };
}

/** Throws Failure with STATE_LOCKED if no greater fencing token exists. */
export function nextFence(fence: number, { location }: BackendNames): number {
  if (fence < LAST_FENCE) return fence + 1;
  throw failureOf(
    "STATE_LOCKED",
    `lock.${LAST_FENCE} in ${location} has the greatest lock number, so no lock can follow it`,
    {
      hint: "no run of `workspace` reaches this number; if no other run is active, delete that file",
    },
  );
}

function holderName({ owner }: LockClaim): string {
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

export function claimText(claim: LockClaim): string {
  return `${JSON.stringify(claim)}\n`;
}

/** Undefined for an incomplete or invalid claim. The fencing token comes from the file name, not from the content. */
export function readClaim(text: string, fence: number): LockClaim | undefined {
  try {
    const from = shapeOf(parseJson(text), "lock");
    const owner = from.object("owner");
    return {
      fence,
      nonce: from.text("nonce"),
      owner: {
        user: owner.text("user"),
        host: owner.text("host"),
        pid: owner.number("pid"),
        machine: owner.text("machine"),
        started: owner.text("started"),
        ...(owner.has("run_url") ? { run_url: owner.text("run_url") } : {}),
      },
      taken_at: from.number("taken_at"),
      renewed_at: from.number("renewed_at"),
      beat: from.number("beat"),
      lease_ms: from.number("lease_ms"),
      request_ms: from.number("request_ms"),
      ...(from.has("released") ? { released: true } : {}),
      ...(from.has("seq") ? { seq: from.number("seq") } : {}),
    };
  } catch {
    return undefined;
  }
}
