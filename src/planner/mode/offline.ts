// The live state of an offline plan: the recorded state, assumed to be current.

import { kindOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import type { State, StateRecord } from "../../state/model/record.ts";

/** Returns every kind with its recorded objects only. Pass it to planning as `partial`. */
export function recordedLive(registry: PlanningRegistry, state: State): Live {
  const byKind = new Map<string, LiveObject[]>(registry.kinds.map(({ kind }) => [kind, []]));
  for (const record of state.records.values()) {
    const kind = kindOf(record.address);
    const provider = registry.find(kind);
    if (provider !== undefined) byKind.get(kind)?.push(objectOf(provider, record));
  }
  return new Map(
    [...byKind].map(([kind, objects]) => [kind, { readable: true, objects, unreadableParents: new Map() }]),
  );
}

function objectOf(provider: PlannedKind, record: StateRecord): LiveObject {
  const observed = record.status === "ready" ? record.seen : {};
  const recordedValues = record.status === "creating" ? {} : merged(observed, record.applied);
  const values: { [field: string]: Json } = {};
  for (const [name, value] of Object.entries(recordedValues)) {
    const field = provider.fields[name];
    // The service never returns write-only fields; other observed values are witnesses.
    if (field !== undefined && field.writeOnly !== true) values[name] = value;
  }
  return { id: record.id, name: record.name, values, facts: observed };
}

/** The written values, merged over the values that the service added. */
function merged(observed: Values, applied: Values): Values {
  const out = new Map<string, Json>(Object.entries(observed));
  for (const [key, value] of Object.entries(applied)) {
    const below = out.get(key);
    out.set(key, isObject(value) && isObject(below) ? merged(below, value) : value);
  }
  return Object.fromEntries(out) satisfies JsonObject;
}

export function offlineNotes(state: State): readonly Diagnostic[] {
  const what =
    state.records.size === 0 && state.serial === 0
      ? "the state is empty, so every resource is planned as new"
      : `compared with serial ${state.serial} of the state`;
  const notes = [
    warning("PLAN_MODE", `planned offline: ${what}; the workspace was not read`, {
      hint: "to show drift, names from the workspace, and side effects on live objects, plan without --offline",
    }),
  ];
  if (state.open.length > 0 || state.sweeps.length > 0)
    notes.push(
      warning(
        "PLAN_MODE",
        "a run was interrupted, and only the workspace can tell the outcome of its requests",
        { hint: "the next plan or apply with network access resolves it" },
      ),
    );
  return notes;
}
