// States that go from one place or time to another: what must not be lost on the way, and what is left behind.

import { error, Failure } from "../core/diagnostic.ts";
import type { State } from "./record.ts";

/** `to`: a place that it may have gone to, or be on its way to. */
export function assertNotMoved(state: State, to?: string): void {
  if (state.moved === undefined || state.moved === to) return;
  if (state.movingAbove !== undefined)
    throw new Failure(
      error("STATE_MOVED", `this state is on its way to ${state.moved}, and the move did not end`, {
        hint: "run that `workspace state migrate` again: it finishes the move; or keep the state here with: workspace state restore",
      }),
    );
  throw new Failure(
    error("STATE_MOVED", `this state was moved to ${state.moved}`, {
      hint: `name that place with --state; or bring it back with: workspace state migrate, or workspace state restore`,
    }),
  );
}

/** An older state in place of the present one. Applied plans stay applied, and what may still be under way is not forgotten. */
export function restored(old: State, present: State | undefined): State {
  const { moved: _, movingAbove: __, ...state } = old;
  if (present === undefined || present.lineage !== old.lineage) return state;
  const sweeps = new Map([...old.sweeps, ...present.sweeps].map((sweep) => [sweep.token, sweep]));
  const open = new Map([...old.open, ...present.open].map((intent) => [intent.seq, intent]));
  return {
    ...state,
    nonces: [...new Set([...old.nonces, ...present.nonces])],
    sweeps: [...sweeps.values()],
    open: [...open.values()].sort((a, b) => a.seq - b.seq),
  };
}
