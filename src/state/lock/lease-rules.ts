// The rules of the lock: who holds it, when a holder must stop writing, and when another run may acquire it.

import { type Diagnostic, error, type Failure, failureOf } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { shellWord } from "../../core/sentences.ts";
import { shapeOf } from "../format/decode.ts";
import type { BackendNames, LatestClaim, LeaseTimes, LockClaim } from "../model/backend.ts";

export const LEASE_TIMES: LeaseTimes = { leaseMs: 60_000, requestMs: 60_000 };

export function renewEveryMs(times: LeaseTimes): number {
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
  const given = nonce === undefined ? "" : `, and its lock ID is not ${nonce}`;
  return failureOf("STATE_LOCKED", `${holderName(claim)} holds the lock${given}`, {
    hint: `if that process has crashed, run \`workspace state unlock ${shellWord(claim.nonce)}\``,
  });
}

/** `name`: where the claim stands, as its form of state calls it. */
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
export function nextFence(fence: number, { place }: BackendNames): number {
  if (fence < LAST_FENCE) return fence + 1;
  throw failureOf(
    "STATE_LOCKED",
    `lock.${LAST_FENCE} in ${place} has the greatest lock number, so no lock can follow it`,
    {
      hint: "no run of `workspace` reaches this number; if no other run is active, delete that file",
    },
  );
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
