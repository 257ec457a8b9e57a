// The shared context of state operations: the backend, its ports, the keys, and the acquisition of the lock.

import type { Cipher } from "../format/encryption.ts";
import { emptyState } from "../format/fold.ts";
import { acquireLock, type LockEnvironment } from "../lock/lock.ts";
import type { LockClaim, StateBackend } from "../model/backend.ts";
import { ioFailure } from "../model/failures.ts";
import type { State } from "../model/record.ts";
import { type LockOptions, randomHex } from "../model/store.ts";
import { type DigestKey, HeldLease, type LeaseInput } from "./lease.ts";
import { type LoadedState, loadFrom } from "./load.ts";

export interface StoreContext {
  readonly backend: StateBackend;
  readonly environment: LockEnvironment;
  readonly cipher: Cipher;
}

/** The loaded state of an empty location. */
export function emptyLoadedState({ environment }: Pick<StoreContext, "environment">): LoadedState {
  const state = emptyState(randomHex(environment.random, 16));
  return { state, snapshot: undefined, seq: 0, head: "", fence: 0, unfolded: false, diagnostics: [] };
}

/** Acquires the lock, even if the state cannot be read. */
export async function claimLock(
  { backend, environment }: Pick<StoreContext, "backend" | "environment">,
  options: LockOptions,
  seen: () => Promise<LoadedState | undefined>,
): Promise<LockClaim> {
  try {
    await backend.prepare();
    const above = (await seen())?.fence ?? 0;
    return await acquireLock(backend, environment, { ...options, above });
  } catch (failure) {
    throw ioFailure(failure, "acquiring the lock");
  }
}

/** Runs work under a new claim; if it fails, releases the lock. */
export async function withClaim<T>(
  backend: StateBackend,
  claim: LockClaim,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    await backend.renew({ ...claim, released: true }).catch(() => undefined);
    throw failure;
  }
}

/** Takes the lock and opens the state that is there. `lineage`: of what will be put there; a place without a state begins with it. */
export async function lockAndOpen(
  kept: StoreContext,
  options: LockOptions,
  check: (found: LoadedState) => void,
  digestKey: (found: LoadedState) => DigestKey,
  lineage?: string,
): Promise<HeldLease> {
  const { backend, cipher } = kept;
  const load = (): Promise<LoadedState | undefined> => loadFrom(backend, cipher);
  const claim = await claimLock(kept, options, load);
  return withClaim(backend, claim, async () => {
    const found = begunAs(lineage, (await load()) ?? emptyLoadedState(kept));
    check(found);
    return openLease({ ...kept, claim, found, digestKey: () => digestKey(found) });
  });
}

/** A journal of one lineage next to a state of another would look like damage to a run that reads in between. */
function begunAs(lineage: string | undefined, found: LoadedState): LoadedState {
  if (lineage === undefined || found.snapshot !== undefined || found.unfolded) return found;
  return { ...found, state: { ...found.state, lineage } };
}

/** Opens a backend for writing under a claim: folds the remains of an earlier run, then starts a new journal. */
export async function openLease(opening: LeaseInput): Promise<HeldLease> {
  const lease = new HeldLease(opening);
  await lease.begin();
  return lease;
}

/** Opens a backend whose current state is discarded: from the first write on, it contains `state`. */
export async function openLeaseWith(opening: LeaseInput, state: State, seq: number): Promise<HeldLease> {
  const lease = new HeldLease(opening);
  lease.substitute(state, seq);
  await lease.begin();
  return lease;
}
