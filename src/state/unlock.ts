// Takes the lock away from a holder that is named by its nonce, or that cannot be read.

import { Failure } from "../core/diagnostic.ts";
import type { Kept } from "./kept.ts";
import { isOver, lockUnreadable, notUnlocked } from "./lock.ts";
import type { Unlocked, Unlocking } from "./store.ts";
import { beatenTo, newClaim } from "./taking.ts";

/** A holder that gives a sign of life in between is looked at again. */
const TRIES = 5;

export async function unlock(kept: Pick<Kept, "place" | "around">, how: Unlocking): Promise<Unlocked> {
  const { place, around } = kept;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const top = await place.top();
    if (top === undefined) return "was free";
    const now = await place.now();
    if ("claim" in top) {
      const { claim } = top;
      if (isOver(claim, now, place.skewMs) || around.isDead(claim.owner)) return "was free";
      if (claim.nonce !== how.nonce) throw new Failure(notUnlocked(claim, how.nonce));
      if (await place.claim({ ...claim, fence: claim.fence + 1, released: true }, top)) return "unlocked";
    } else {
      if (how.force !== true && !top.released) throw new Failure(lockUnreadable(top.name));
      if (await place.claim({ ...newClaim(around, top.fence + 1), released: true }, top)) return "unlocked";
    }
  }
  throw new Failure(beatenTo(place));
}
