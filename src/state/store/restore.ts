// Brings an older state back, also where the present one is damaged. At every moment of it there is a state or damage, never an empty place.

import { error, Failure } from "../../core/diagnostic.ts";
import { emptyState } from "../format/fold.ts";
import type { Snapshot } from "../format/snapshot.ts";
import type { LockOptions, Restored } from "../model/store.ts";
import { openLeaseWith } from "./lease.ts";
import { type Found, loadFrom, snapshotIn } from "./load.ts";
import { restored } from "./migrate.ts";
import { claimed, type Kept, under } from "./store-context.ts";

export async function restore(kept: Kept, serial: number, options: LockOptions): Promise<Restored> {
  const { place, sealer } = kept;
  const readable = (): Promise<Found | undefined> => unlessDamaged(() => loadFrom(place, sealer));
  const claim = await claimed(kept, options, readable);
  return under(place, claim, async () => {
    const piece = await place.generation(serial);
    if (piece === undefined) throw unknownGeneration(serial, await place.generations());
    const old = snapshotIn(piece, sealer);
    const present = await readable();
    const aside = await place.keepAside(claim);
    const state = restored(old.state, present?.state);
    const found = present ?? (await damaged(kept, old));
    const hex =
      old.digestKey ?? (present?.snapshot?.key === old.key ? present.snapshot.digestKey : undefined);
    const digestKey = { check: old.key, ...(hex === undefined ? {} : { hex }) };
    const standing = present === undefined ? await place.serial() : undefined;
    const opening = {
      ...kept,
      claim,
      found,
      digestKey: () => digestKey,
      ...(standing === undefined ? {} : { standing }),
    };
    const lease = await openLeaseWith(opening, state, old.seq);
    await lease.release();
    return { state: lease.state(), before: present?.state, aside };
  });
}

/** A place without a state, and one whose state cannot be read, are alike here: neither holds anything to go on from. */
async function unlessDamaged(load: () => Promise<Found | undefined>): Promise<Found | undefined> {
  try {
    return await load();
  } catch (failure) {
    if (failure instanceof Failure && failure.diagnostics.every(({ code }) => DAMAGE.has(code)))
      return undefined;
    throw failure;
  }
}

const DAMAGE: ReadonlySet<string> = new Set(["STATE_CORRUPT", "STATE_LINEAGE"]);

/** What cannot be read had a serial above every one that is kept; the new state has to be above that. */
async function damaged({ place }: Kept, old: Snapshot): Promise<Found> {
  const above = Math.max(old.state.serial, (await place.serial()) ?? 0, ...(await place.generations())) + 1;
  return {
    state: { ...emptyState(old.state.lineage), serial: above },
    snapshot: undefined,
    seq: old.seq,
    head: "",
    fence: 0,
    unfolded: false,
    diagnostics: [],
  };
}

function unknownGeneration(serial: number, known: readonly number[]): Failure {
  const hint = known.length === 0 ? "none is kept" : `kept are ${known.join(", ")}`;
  return new Failure(error("STATE_GENERATION", `there is no generation ${serial} of this state`, { hint }));
}
