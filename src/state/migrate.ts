// Moves a state to another place. From the mark at the old place on nothing goes on from there, and the same move ends what a killed one began.

import { canonicalJson } from "../core/canonical.ts";
import { error, Failure } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";
import type { State } from "./record.ts";
import type { Incoming, Lease, LockOptions, StateStore } from "./store.ts";

/** `check` sees what is at the new place and what comes; it may throw. Gives the state at its new place; undefined where it went there before. */
export async function migrate(
  source: StateStore,
  target: StateStore,
  check: (present: State, incoming: State) => void,
  wait: LockOptions,
): Promise<State | undefined> {
  const to = target.place;
  const lease = await source.lock({ ...wait, to });
  try {
    const found = lease.state();
    if (found.moved !== undefined && found.movingAbove === undefined) return undefined;
    const placed = (await arrived(target, found)) ?? (await place(source, lease, target, check, wait));
    await lease.retire(to);
    return placed;
  } finally {
    await lease.release();
  }
}

/** What an earlier try put in place before it died, and whatever came of it since. */
async function arrived(target: StateStore, { lineage, movingAbove }: State): Promise<State | undefined> {
  if (movingAbove === undefined) return undefined;
  const { state } = await target.read();
  return state.lineage === lineage && state.serial > movingAbove ? state : undefined;
}

async function place(
  source: StateStore,
  lease: Lease,
  target: StateStore,
  check: (present: State, incoming: State) => void,
  wait: LockOptions,
): Promise<State> {
  const { moved: _, movingAbove: __, ...state } = lease.state();
  const { key } = await source.read({ to: target.place });
  const incoming: Incoming = {
    state,
    key,
    ...(key === "" ? {} : { digestKey: await source.key({ make: false }) }),
    check: (present) => check(present, state),
    ready: (present) => lease.retire(target.place, Math.max(present.serial, state.serial)),
  };
  const placed = await target.replace(incoming, wait);
  await assertArrived(target, state);
  return placed;
}

/** The old place is given up only for one that holds everything. */
async function assertArrived(target: StateStore, wanted: State): Promise<void> {
  const { state } = await target.read();
  if (essence(state) === essence(wanted)) return;
  throw new Failure(
    error("APPLY_VERIFY", `what arrived at ${target.place} is not what was sent`, {
      hint: "the state is where it was: bring it back there with: workspace state restore",
    }),
  );
}

function essence({ lineage, host, records, sweeps, open, nonces }: State): string {
  const all = { lineage, host, records: [...records.values()], sweeps, open, nonces };
  return canonicalJson(all as unknown as JsonObject);
}
