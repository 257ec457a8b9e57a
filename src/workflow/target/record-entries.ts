// Applies entries of the spec about records: imports are read like recorded objects, and moves are part of the plan.

import { type Address, nameOf, remoteId } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { listed } from "../../core/sentences.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { Spec, StateEntries } from "../../spec/model/spec.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { State, StateRecord } from "../../state/model/record.ts";

/** Entries for the journal: of the moves, those of resources that the plan has. */
export function plannedEntries(
  entries: readonly JournalEntry[],
  plan: Pick<Plan, "changes">,
): readonly JournalEntry[] {
  const planned = new Set(plan.changes.map(({ address }) => address));
  return entries.filter((entry) => entry.type !== "moved" || planned.has(entry.to));
}

/** The spec without imports: an untrusted spec does not choose which objects are read. */
export function withoutImports(spec: Spec): Spec {
  const { stateEntries } = spec;
  return stateEntries === undefined ? spec : { ...spec, stateEntries: { ...stateEntries, imports: [] } };
}

/** Says which resources to import the plan shows as created, because it does not read unmanaged objects. */
export function importNotes(
  { stateEntries }: Spec,
  { records }: Pick<State, "records">,
): readonly Diagnostic[] {
  const pending = (stateEntries?.imports ?? []).filter(({ to }) => !records.has(to));
  const [first] = pending;
  if (first === undefined) return [];
  const which = listed(pending.map(({ to }) => to));
  const message = `the plan does not read unmanaged objects, so it creates what would be imported: ${which}`;
  return [
    warning("PLAN_MODE", message, { at: first.at, hint: "a plan that reads unmanaged objects imports them" }),
  ];
}

/** The state with an empty record for each resource to import that has none. For reading only. */
export function withImports(state: State, entries: StateEntries | undefined): State {
  const missing = (entries?.imports ?? []).filter(({ to }) => !state.records.has(to));
  if (missing.length === 0) return state;
  const records = new Map(state.records);
  for (const { to, id } of missing) records.set(to, emptyRecord(to, id, nameOf(to)));
  return { ...state, records };
}

/** The record of an object of which only the ID is known. */
export function emptyRecord(
  address: Address,
  id: string,
  name: string,
  depends_on: readonly Address[] = [],
): StateRecord {
  return { status: "ready", address, id: remoteId(id), name, applied: {}, seen: {}, depends_on };
}
