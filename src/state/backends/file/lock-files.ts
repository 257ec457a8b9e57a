// The lock as files: `lock.<fence>` is created only if it does not exist, so each fencing token has one owner, and the greatest one counts.

import { Failure } from "../../../core/diagnostic.ts";
import { claimText, overtaken, readClaim } from "../../lock/lease-rules.ts";
import type { LatestClaim } from "../../model/backend.ts";
import type { LockClaim } from "../../model/lock-claim.ts";
import type { FileSystem } from "../../model/ports.ts";
import { claimFile, replaceFile, withFolderDurable } from "./atomic-write.ts";

const LOCK = /^lock\.(\d{1,15})$/;

/** All fencing tokens in the folder, the greatest first. */
async function fencesIn(fs: FileSystem, folder: string): Promise<readonly number[]> {
  const names = await fs.list(folder);
  return names
    .flatMap((name) => LOCK.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

export async function latestClaim(fs: FileSystem, folder: string): Promise<LatestClaim | undefined> {
  const [fence] = await fencesIn(fs, folder);
  if (fence === undefined) return undefined;
  const name = `lock.${fence}`;
  const bytes = await fs.read(withFolderDurable(folder, name));
  // Its successor removed it between the two looks; what stays and leads nowhere cannot be read.
  if (bytes === undefined && (await fencesIn(fs, folder))[0] !== fence) return latestClaim(fs, folder);
  const text = new TextDecoder().decode(bytes);
  const claim = readClaim(text, fence);
  if (claim !== undefined) return { fence, claim };
  return { fence, name: withFolderDurable(folder, name), unreadable: text, released: false };
}

/** Acquires the fencing token of a claim; false if it or a greater one exists. */
export async function makeClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<boolean> {
  const { fence } = claim;
  if (!(await claimFile(fs, folder, `lock.${fence}`, claimText(claim), claim.nonce))) return false;
  const [greatest, ...rest] = await fencesIn(fs, folder);
  if (greatest !== fence) {
    // A folder listing is not a snapshot: a greater claim was created during the listing.
    await fs.remove(withFolderDurable(folder, `lock.${fence}`));
    return false;
  }
  for (const old of rest) await fs.remove(withFolderDurable(folder, `lock.${old}`));
  await fs.syncFolder(folder);
  return true;
}

/** Rewrites a claim: a heartbeat or its release. No other process writes this file. */
export async function rewriteClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<void> {
  await replaceFile(fs, folder, `lock.${claim.fence}`, [claimText(claim)], claim.nonce);
}

/** Throws Failure with STATE_LOCK_LOST unless this claim is the greatest in the folder. */
export async function assertLatestClaim(fs: FileSystem, folder: string, fence: number): Promise<void> {
  const [greatest] = await fencesIn(fs, folder);
  if (greatest !== fence) throw new Failure(overtaken(greatest));
}
