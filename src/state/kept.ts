// What the operations on a state in a place share: the place, its surroundings, the keys, and how the lock is taken.

import { emptyState } from "./fold.ts";
import type { HeldLease } from "./held-lease.ts";
import { type DigestKey, openLease } from "./held-lease.ts";
import { ioFailure } from "./io-failure.ts";
import { type Found, loadFrom } from "./loading.ts";
import type { Claim } from "./lock.ts";
import type { Place } from "./place.ts";
import { randomHex } from "./ports.ts";
import type { Sealer } from "./seal.ts";
import type { LockOptions } from "./store.ts";
import { type Surroundings, takeLock } from "./taking.ts";

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
