// The files of a state in a folder: atomic replacement, and the lock. `lock.<fence>` is created only if it does not exist, so each fencing token has one owner, and the greatest one counts.

import { claimInFolder, claimText, fencesIn, lockFile, overtaken } from "../../lock/lease-rules.ts";
import type { LatestClaim, LockClaim } from "../../model/backend.ts";
import type { FileSystem } from "../../model/ports.ts";

/** The caller syncs the folder once after all files. `check` throws right before the rename if the lock was lost. */
export async function replaceFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: Iterable<string>,
  mark: string,
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const temporary = `${folder}/${name}.${mark}.new`;
  await writeDurably(fs, temporary, text);
  try {
    await check();
    await fs.rename(temporary, `${folder}/${name}`);
  } catch (failure) {
    await check();
    throw failure;
  }
}

/** Creates a file only if none exists; false if one exists. */
export async function claimFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: string,
  mark: string,
): Promise<boolean> {
  const temporary = `${folder}/${name}.${mark}.new`;
  try {
    await writeDurably(fs, temporary, [text]);
    return await fs.link(temporary, `${folder}/${name}`);
  } finally {
    await fs.remove(temporary);
  }
}

async function writeDurably(fs: FileSystem, path: string, text: Iterable<string>): Promise<void> {
  const file = await fs.open(path, "fresh");
  try {
    for (const piece of text) await file.write(new TextEncoder().encode(piece));
    await file.sync();
  } finally {
    await file.close();
  }
}

export function latestClaim(fs: FileSystem, folder: string): Promise<LatestClaim | undefined> {
  return claimInFolder({
    list: () => fs.list(folder),
    read: (name) => fs.read(`${folder}/${name}`),
    shown: (name) => `${folder}/${name}`,
  });
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
