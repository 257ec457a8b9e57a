// The live world of a plan without any network: what the state recorded, taken for what is there.

import { kindOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { State, StateRecord } from "../../state/model/record.ts";

/** Every kind is there; what nobody recorded is not. Give it to planning as `partial`. */
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
  const seen = record.status === "ready" ? record.seen : {};
  const known = record.status === "creating" ? {} : merged(seen, record.applied);
  const values: { [field: string]: Json } = {};
  for (const [name, value] of Object.entries(known)) {
    const field = provider.fields[name];
    // The service shows no field that can only be written, and what was seen beside the fields are witnesses.
    if (field !== undefined && field.writeOnly !== true) values[name] = value;
  }
  return { id: record.id, name: record.name, values, facts: seen };
}

/** What we wrote, and under it what the service was seen to add. */
function merged(seen: Values, applied: Values): Values {
  const out = new Map<string, Json>(Object.entries(seen));
  for (const [key, value] of Object.entries(applied)) {
    const below = out.get(key);
    out.set(key, isObject(value) && isObject(below) ? merged(below, value) : value);
  }
  return Object.fromEntries(out) satisfies JsonObject;
}

/** Said with every such plan. */
export function offlineNotes(state: State): readonly Diagnostic[] {
  const what =
    state.records.size === 0 && state.serial === 0
      ? "no state is recorded, so everything is planned as new"
      : `compared with what serial ${state.serial} of the state recorded`;
  const notes = [
    warning("PLAN_MODE", `planned offline: ${what}; the workspace was not asked`, {
      hint: "changes made outside, names that only the workspace knows, and consequences for what is live show in a plan without --offline",
    }),
  ];
  if (state.open.length > 0 || state.sweeps.length > 0)
    notes.push(
      warning(
        "PLAN_MODE",
        "an earlier run was cut, and what became of its requests only the workspace can tell",
        {
          hint: "the next plan or apply with a network settles it",
        },
      ),
    );
  return notes;
}
