// Opens a held lock for writing: with the state that is stored, or with another one.

import type { State } from "../model/record.ts";
import { HeldLease, type LeaseInput } from "./lease.ts";

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
