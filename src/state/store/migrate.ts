// Migrates a state to another location. The old location is marked first, so that no run continues there and an interrupted migration can be completed.

import { canonicalJson } from "../../core/canonical.ts";
import { failureOf } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { joinedHistories } from "../../core/past-run.ts";
import type { State } from "../model/record.ts";
import type { Incoming, Lease, LockOptions, StateStore } from "../model/store.ts";

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

/** The state that an earlier attempt wrote before it crashed, and its later versions. */
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

/** The old location is abandoned only if the new one contains the complete state. */
async function assertArrived(target: StateStore, wanted: State): Promise<void> {
  const { state } = await target.read();
  if (essence(state) === essence(wanted)) return;
  throw failureOf("APPLY_VERIFY", `the state at ${target.place} does not match the state that was written`, {
    hint: "the state is still at its old location; to use it there again, run `workspace state restore`",
  });
}

function essence(state: State): string {
  const { lineage, host, sweeps, open, nonces, reported = [], acknowledged = [], history = [] } = state;
  const records = [...state.records.values()];
  const all = { lineage, host, records, sweeps, open, nonces, reported, acknowledged, history };
  return canonicalJson(all as unknown as JsonObject);
}

/** `to`: a location that it may have been migrated to, or is being migrated to. */
export function assertNotMoved(state: State, to?: string): void {
  if (state.moved === undefined || state.moved === to) return;
  if (state.movingAbove !== undefined)
    throw failureOf("STATE_MOVED", `the migration of this state to ${state.moved} is incomplete`, {
      hint: "to complete it, run the same `workspace state migrate` again; to keep the state here, run `workspace state restore`",
    });
  throw failureOf("STATE_MOVED", `this state was migrated to ${state.moved}`, {
    hint: `set --state to that location; to move it back, run \`workspace state migrate\` or \`workspace state restore\``,
  });
}

/** Acknowledgements of drift are not reverted with the records. */
function knownDrift({ reported = [], acknowledged = [] }: State): Partial<State> {
  return { reported, acknowledged };
}

/** An earlier version that keeps the marks of applied plans and the unresolved requests. */
export function mergeRestored(old: State, present: State | undefined): State {
  const { moved: _, movingAbove: __, ...state } = old;
  if (present === undefined || present.lineage !== old.lineage) {
    // It is unknown which of its acknowledgements ended since.
    const { acknowledged: _, ...rest } = state;
    return rest;
  }
  const sweeps = new Map([...old.sweeps, ...present.sweeps].map((sweep) => [sweep.token, sweep]));
  const open = new Map([...old.open, ...present.open].map((intent) => [intent.seq, intent]));
  const history = joinedHistories(old.history, present.history);
  return {
    ...state,
    ...knownDrift(present),
    ...(history.length === 0 ? {} : { history }),
    nonces: [...new Set([...old.nonces, ...present.nonces])],
    sweeps: [...sweeps.values()],
    open: [...open.values()].sort((a, b) => a.seq - b.seq),
  };
}
