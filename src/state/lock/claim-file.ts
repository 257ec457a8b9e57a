// The claim of a lock as a file, and the numbered files of claims in a folder.

import { failureOf } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import { shapeOf } from "../format/decode.ts";
import type { BackendNames, LatestClaim, LockClaim } from "../model/backend.ts";

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
    { hint: "no run of `workspace` reaches this number; if no other run is active, delete that file" },
  );
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
