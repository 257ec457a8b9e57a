// Restores an earlier version of a state, even of a damaged one. An interruption never leaves an empty location.

import { Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { emptyState } from "../format/fold.ts";
import type { Snapshot } from "../format/snapshot.ts";
import type { LockOptions, Restored } from "../model/store.ts";
import { type LoadedState, loadFrom, snapshotIn } from "./load.ts";
import { mergeRestored } from "./migrate.ts";
import { claimLock, openLeaseWith, type StoreContext, withClaim } from "./store-context.ts";

export async function restore(kept: StoreContext, serial: number, options: LockOptions): Promise<Restored> {
  const { backend, cipher } = kept;
  const readable = (): Promise<LoadedState | undefined> => unlessDamaged(() => loadFrom(backend, cipher));
  const claim = await claimLock(kept, options, readable);
  return withClaim(backend, claim, async () => {
    const piece = await backend.generation(serial);
    if (piece === undefined) throw unknownGeneration(serial, await backend.generations());
    const old = snapshotIn(piece, cipher);
    const present = await readable();
    const aside = await backend.keepAside(claim);
    const state = mergeRestored(old.state, present?.state);
    const found = present ?? (await damaged(kept, old));
    const hex =
      old.digestKey ?? (present?.snapshot?.key === old.key ? present.snapshot.digestKey : undefined);
    const digestKey = { check: old.key, ...defined({ hex }) };
    const standing = present === undefined ? await backend.serial() : undefined;
    const opening = { ...kept, claim, found, digestKey: () => digestKey, ...defined({ standing }) };
    const lease = await openLeaseWith(opening, state, old.seq);
    await lease.release();
    return { state: lease.state(), before: present?.state, aside };
  });
}

/** A location without a state and one with an unreadable state are treated alike: neither can be continued. */
async function unlessDamaged(load: () => Promise<LoadedState | undefined>): Promise<LoadedState | undefined> {
  try {
    return await load();
  } catch (failure) {
    if (failure instanceof Failure && failure.diagnostics.every(({ code }) => DAMAGE.has(code)))
      return undefined;
    throw failure;
  }
}

const DAMAGE: ReadonlySet<string> = new Set(["STATE_CORRUPT", "STATE_LINEAGE"]);

/** The serial of an unreadable state was above every kept one; the new state must be above that. */
async function damaged({ backend }: StoreContext, old: Snapshot): Promise<LoadedState> {
  const above =
    Math.max(old.state.serial, (await backend.serial()) ?? 0, ...(await backend.generations())) + 1;
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

const NO_VERSIONS =
  "no earlier version is kept; if the state is damaged, move it away and run `workspace apply --adopt`, which records existing objects again";

function unknownGeneration(serial: number, known: readonly number[]): Failure {
  const kept = known.length === 1 ? "the only kept version is" : "the kept versions are";
  const hint = known.length === 0 ? NO_VERSIONS : `${kept} ${known.join(", ")}`;
  return failureOf("STATE_GENERATION", `version ${serial} of this state does not exist`, { hint });
}
