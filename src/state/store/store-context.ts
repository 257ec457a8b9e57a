// What the operations on a state in a place share: the place, its surroundings, the keys, and how the lock is taken.

import type { Sealer } from "../format/encryption.ts";
import { emptyState } from "../format/fold.ts";
import { type Surroundings, takeLock } from "../lock/acquire.ts";
import type { Claim } from "../lock/lease-rules.ts";
import type { Place } from "../model/backend.ts";
import { ioFailure } from "../model/failures.ts";
import { randomHex } from "../model/ports.ts";
import type { LockOptions } from "../model/store.ts";
import { type DigestKey, type HeldLease, openLease } from "./lease.ts";
import { type Found, loadFrom } from "./load.ts";

export interface Kept {
  readonly place: Place;
  readonly around: Surroundings;
  readonly sealer: Sealer;
}

/** Where nothing is yet. */
export function nothingFound({ around }: Pick<Kept, "around">): Found {
  const state = emptyState(randomHex(around.random, 16));
  return { state, snapshot: undefined, seq: 0, head: "", fence: 0, unfolded: false, diagnostics: [] };
}

/** Takes the lock, also over a state that cannot be read. */
export async function claimed(
  { place, around }: Pick<Kept, "place" | "around">,
  options: LockOptions,
  seen: () => Promise<Found | undefined>,
): Promise<Claim> {
  try {
    await place.prepare();
    const above = (await seen())?.fence ?? 0;
    return await takeLock(place, around, { ...options, above });
  } catch (failure) {
    throw ioFailure(failure, "taking the lock");
  }
}

/** Does what a fresh claim is for; where that fails, the lock is free again. */
export async function under<T>(place: Place, claim: Claim, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    await place.renew({ ...claim, released: true }).catch(() => undefined);
    throw failure;
  }
}

/** Takes the lock and opens the state that is there. `lineage`: of what will be put there; a place without a state begins with it. */
export async function lockAndOpen(
  kept: Kept,
  options: LockOptions,
  check: (found: Found) => void,
  digestKey: (found: Found) => DigestKey,
  lineage?: string,
): Promise<HeldLease> {
  const { place, sealer } = kept;
  const load = (): Promise<Found | undefined> => loadFrom(place, sealer);
  const claim = await claimed(kept, options, load);
  return under(place, claim, async () => {
    const found = begunAs(lineage, (await load()) ?? nothingFound(kept));
    check(found);
    return openLease({ ...kept, claim, found, digestKey: () => digestKey(found) });
  });
}

/** A journal of one lineage beside a state of another would be damage to a run that looks in between. */
function begunAs(lineage: string | undefined, found: Found): Found {
  if (lineage === undefined || found.snapshot !== undefined || found.unfolded) return found;
  return { ...found, state: { ...found.state, lineage } };
}
