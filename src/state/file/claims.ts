// The lock as files: `lock.<fence>` is made only where it is not there yet, so each number has one owner, and the greatest rules.

import { error, Failure } from "../../core/diagnostic.ts";
import { shapeOf } from "../decode.ts";
import { type Claim, isOver, type LeaseTimes, lockedBy, lockLost, type Owner, silenceMs } from "../lock.ts";
import { type Clock, type FileSystem, type Random, randomHex } from "../ports.ts";
import { claimFile, inFolder, ioFailure, replaceFile } from "./durable.ts";

/** What taking a lock needs of its surroundings. */
export interface Surroundings {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: Owner;
  /** Whether the owner's process is certainly gone. */
  readonly isDead: (owner: Owner) => boolean;
  readonly times: LeaseTimes;
}

const LOCK = /^lock\.(\d{1,15})$/;
const POLL_MS = 1000;

/** The greatest claim; `unreadable` where its file is torn or from another program. */
export type Top =
  | { readonly fence: number; readonly claim: Claim }
  | { readonly fence: number; readonly unreadable: string };

/** Every fence number that stands in the folder, the greatest first. */
export async function fencesIn(fs: FileSystem, folder: string): Promise<readonly number[]> {
  const names = await fs.list(folder);
  return names
    .flatMap((name) => LOCK.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

export async function topClaim(fs: FileSystem, folder: string): Promise<Top | undefined> {
  const [fence] = await fencesIn(fs, folder);
  if (fence === undefined) return undefined;
  const bytes = await fs.read(inFolder(folder, `lock.${fence}`));
  // Its successor removed it between the two looks.
  if (bytes === undefined) return topClaim(fs, folder);
  const text = new TextDecoder().decode(bytes);
  const claim = readClaim(text, fence);
  return claim === undefined ? { fence, unreadable: text } : { fence, claim };
}

function readClaim(text: string, fence: number): Claim | undefined {
  try {
    const from = shapeOf(JSON.parse(text), "lock");
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
      },
      taken_at: from.number("taken_at"),
      renewed_at: from.number("renewed_at"),
      lease_ms: from.number("lease_ms"),
      request_ms: from.number("request_ms"),
      ...(from.has("released") ? { released: true } : {}),
    };
  } catch {
    return undefined;
  }
}

export function claimText(claim: Claim): string {
  return `${JSON.stringify(claim)}\n`;
}

export interface Taking {
  readonly timeoutMs: number;
  /** The fence must be greater than this one, which the state has seen. */
  readonly above: number;
  readonly signal?: AbortSignal;
}

/** Waits for the lock and takes it. Throws Failure with STATE_LOCKED after the time-out. */
export async function takeLock(folder: string, around: Surroundings, taking: Taking): Promise<Claim> {
  const { clock } = around;
  const deadline = clock.now() + taking.timeoutMs;
  const patience = new Patience();
  for (;;) {
    const top = await topClaim(around.fs, folder);
    const now = clock.now();
    if (top === undefined || isFree(top, around, patience)) {
      const claim = await tryToTake(folder, around, Math.max(top?.fence ?? 0, taking.above) + 1);
      if (claim !== undefined) return claim;
      continue;
    }
    if (taking.signal?.aborted === true) throw new Failure(stoppedWaiting());
    if (now >= deadline) throw new Failure(whoHolds(top, now));
    await clock.sleep(Math.max(1, Math.min(POLL_MS, deadline - now)), taking.signal);
  }
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

function isFree(top: Top, around: Surroundings, patience: Patience): boolean {
  const now = around.clock.now();
  if (!("claim" in top)) {
    const silence = silenceMs({ lease_ms: around.times.leaseMs, request_ms: around.times.requestMs });
    return patience.silentFor(`${top.fence} ${top.unreadable}`, now) > silence;
  }
  const { claim } = top;
  if (isOver(claim, now) || around.isDead(claim.owner)) return true;
  return patience.silentFor(`${claim.fence} ${claim.renewed_at}`, now) > silenceMs(claim);
}

function stoppedWaiting() {
  return error("APPLY_INTERRUPTED", "stopped while waiting for the lock", { hint: "nothing was changed" });
}

function whoHolds(top: Top, now: number) {
  if ("claim" in top) return lockedBy(top.claim, now);
  return error("STATE_LOCKED", `the lock file lock.${top.fence} cannot be read, so its holder is unknown`, {
    hint: `when no other run is active, remove the file lock.${top.fence} in the state's folder`,
  });
}

async function tryToTake(folder: string, around: Surroundings, fence: number): Promise<Claim | undefined> {
  const { fs, clock, random, owner, times } = around;
  const now = clock.now();
  const claim: Claim = {
    fence,
    nonce: randomHex(random, 8),
    owner,
    taken_at: now,
    renewed_at: now,
    lease_ms: times.leaseMs,
    request_ms: times.requestMs,
  };
  try {
    if (!(await claimFile(fs, folder, `lock.${fence}`, claimText(claim), claim.nonce))) return undefined;
    const [greatest, ...rest] = await fencesIn(fs, folder);
    if (greatest !== fence) {
      // A folder listing is no snapshot: a greater claim was made while we looked.
      await fs.remove(inFolder(folder, `lock.${fence}`));
      return undefined;
    }
    for (const old of rest) await fs.remove(inFolder(folder, `lock.${old}`));
    await fs.syncFolder(folder);
    return claim;
  } catch (failure) {
    throw ioFailure(failure, "taking the lock");
  }
}

/** Writes a claim again: a sign of life, or its release. Nobody else writes this file. */
export async function rewriteClaim(fs: FileSystem, folder: string, claim: Claim): Promise<void> {
  await replaceFile(fs, folder, `lock.${claim.fence}`, claimText(claim), claim.nonce);
}

/** Throws Failure with STATE_LOCK_LOST when a greater claim stands in the folder. */
export async function assertTop(fs: FileSystem, folder: string, fence: number): Promise<void> {
  const [greatest] = await fencesIn(fs, folder);
  if (greatest !== fence) throw new Failure(lockLost("another run took it over"));
}
