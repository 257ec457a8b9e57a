// The lock as files: `lock.<fence>` is created only if it does not exist, so each fencing token has one owner, and the greatest one counts.

import { claimText, fencesIn, lockFile, overtaken, readClaim } from "../../lock/lease-rules.ts";
import type { LatestClaim } from "../../model/backend.ts";
import type { LockClaim } from "../../model/lock-claim.ts";
import type { FileSystem } from "../../model/ports.ts";
import { claimFile, replaceFile } from "./atomic-write.ts";

export async function latestClaim(fs: FileSystem, folder: string): Promise<LatestClaim | undefined> {
  const [fence] = fencesIn(await fs.list(folder));
  if (fence === undefined) return undefined;
  const name = lockFile(fence);
  const bytes = await fs.read(`${folder}/${name}`);
  // Its successor removed it between the two looks; what stays and leads nowhere cannot be read.
  if (bytes === undefined && fencesIn(await fs.list(folder))[0] !== fence) return latestClaim(fs, folder);
  const text = new TextDecoder().decode(bytes);
  const claim = readClaim(text, fence);
  if (claim !== undefined) return { fence, claim };
  return { fence, name: `${folder}/${name}`, unreadable: text, released: false };
}

/** Acquires the fencing token of a claim; false if it or a greater one exists. */
export async function makeClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<boolean> {
  const { fence } = claim;
  if (!(await claimFile(fs, folder, lockFile(fence), claimText(claim), claim.nonce))) return false;
  const [greatest, ...rest] = fencesIn(await fs.list(folder));
  if (greatest !== fence) {
    // A folder listing is not a snapshot: a greater claim was created during the listing.
    await fs.remove(`${folder}/${lockFile(fence)}`);
    return false;
  }
  for (const old of rest) await fs.remove(`${folder}/${lockFile(old)}`);
  await fs.syncFolder(folder);
  return true;
}

/** Rewrites a claim: a heartbeat or its release. No other process writes this file. */
export async function rewriteClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<void> {
  await replaceFile(fs, folder, lockFile(claim.fence), [claimText(claim)], claim.nonce);
}

/** Throws Failure with STATE_LOCK_LOST unless this claim is the greatest in the folder. */
export async function assertLatestClaim(fs: FileSystem, folder: string, fence: number): Promise<void> {
  const [greatest] = fencesIn(await fs.list(folder));
  if (greatest !== fence) throw overtaken(greatest);
}
