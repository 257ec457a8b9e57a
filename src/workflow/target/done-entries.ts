// Which moved, removed, and import entries of the spec have nothing left to do, by the state of the target.

import { existsSync } from "node:fs";
import type { ProcessContext } from "../../config/environment.ts";
import { isInModule } from "../../core/address.ts";
import { type Diagnostic, hasErrors, type Location, warning } from "../../core/diagnostic.ts";
import { stateExists } from "../../planner/decide/state-exists.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import { type StateOptions, stateFolderOf, withState } from "../session/open-state.ts";

/** Reads a state in a folder only: this needs no network. */
export async function doneEntries(
  context: ProcessContext,
  options: StateOptions,
  spec: Spec,
): Promise<readonly Diagnostic[]> {
  if (spec.stateEntries === undefined) return [];
  const folder = stateFolderOf(context, options);
  if (folder === undefined || !existsSync(folder)) return [];
  const { state, diagnostics } = await withState(context, options, (store) => store.read());
  return hasErrors(diagnostics) || !stateExists(state) ? [] : entriesDoneIn(spec, state);
}

/** Entries that have nothing left to do in this state. */
export function entriesDoneIn(
  { stateEntries, target }: Spec,
  { records }: Pick<State, "records">,
): readonly Diagnostic[] {
  const { moved = [], removed = [], imports = [] } = stateEntries ?? {};
  const addresses = [...records.keys()];
  const left = (entry: (typeof addresses)[number]): boolean =>
    addresses.some((address) => address === entry || isInModule(address, entry));
  const done: { readonly what: string; readonly at: Location }[] = [
    ...moved
      .filter(({ from }) => !left(from))
      .map(({ from, to, at }) => ({ what: `the entry that moves ${from} to ${to}`, at })),
    ...removed
      .filter(({ address }) => !left(address))
      .map(({ address, at }) => ({ what: `the entry that removes ${address}`, at })),
    ...imports
      .filter(({ to }) => records.has(to))
      .map(({ to, at }) => ({ what: `the entry that imports ${to}`, at })),
  ];
  const where = target === undefined ? "the state" : `the state of the target ${target.name}`;
  const hint =
    target === undefined
      ? "remove the entry"
      : "remove the entry when it is done in the state of every target";
  return done.map(({ what, at }) => warning("SPEC_STATE_ENTRY", `${what} is done in ${where}`, { at, hint }));
}
