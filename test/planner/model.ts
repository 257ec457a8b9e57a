// A model of apply: what the workspace and the state hold after a plan, without a server. For properties of planning.

import { remoteId } from "../../src/core/address.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { withValueAt } from "../../src/core/pointer.ts";
import { referenceValue } from "../../src/planner/diff/references.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import type { Live, LiveObject } from "../../src/resource/live.ts";
import type { Spec } from "../../src/spec/model/spec.ts";
import type { State, StateRecord } from "../../src/state/model/record.ts";
import { registry } from "./kinds.ts";

export interface Modelled {
  readonly live: Live;
  readonly state: State;
}

let minted = 0;

/** Applies every change in plan order; the server fills in what the spec leaves to it. */
export function applied(plan: Plan, spec: Spec, before: Modelled): Modelled {
  const objects = new Map<string, Map<string, LiveObject>>();
  for (const { kind } of registry.kinds) {
    const found = before.live.get(kind);
    objects.set(kind, new Map(found?.readable === true ? found.objects.map((one) => [one.id, one]) : []));
  }
  const records = new Map(before.state.records);
  const ids = new Map([...records.values()].map((one) => [one.address, String(one.id)]));
  for (const change of plan.changes)
    if ("id" in change && change.action !== "forget") ids.set(change.address, change.id);
  for (const change of plan.changes) act(change);
  const live = new Map(
    [...objects].map(
      ([kind, all]) =>
        [kind, { readable: true, objects: [...all.values()], unreadableParents: new Map() }] as const,
    ),
  );
  return { live, state: { ...before.state, serial: before.state.serial + 1, records } };

  function act(change: Change): void {
    switch (change.action) {
      case "replace":
      case "create": {
        if (change.action === "replace") removeWithChildren(change.kind, change.id, change.name);
        const nested = registry.get(change.kind).nested !== undefined;
        minted += 1;
        put(change, nested ? change.name : `new-${minted}`);
        return;
      }
      case "update":
      case "adopt":
      case "import":
      case "move":
        put(change, change.id);
        return;
      case "noop":
        record(change, change.id);
        return;
      case "delete":
        removeWithChildren(change.kind, change.id, change.name);
        if (change.deposed !== true) records.delete(change.address);
        return;
      case "forget":
        if (change.deposed !== true) records.delete(change.address);
        return;
      case "compare":
      case "report":
        return;
      default:
        change satisfies never;
    }
  }

  function put(change: Extract<Change, { after: unknown }>, id: string): void {
    ids.set(change.address, id);
    let values: JsonObject = change.after;
    for (const one of change.unresolved) {
      const value = referenceValue(one, (address, attribute) =>
        attribute === registry.of(address).idAttribute ? ids.get(address) : undefined,
      );
      values = withValueAt(values, one.path, value) as JsonObject;
    }
    const old = objects.get(change.kind)?.get(id);
    objects.get(change.kind)?.set(id, {
      id: remoteId(id),
      name: change.name,
      values: served(change.kind, values, old),
      facts: { written: minted },
    });
    record({ ...change, after: values }, id);
  }

  /** What a server answers for a write: defaults filled in, unreadable values left out, unmanaged ones kept. */
  function served(kind: string, values: JsonObject, old: LiveObject | undefined): JsonObject {
    const out: { [key: string]: Json } = {};
    for (const [name, field] of Object.entries(registry.get(kind).fields)) {
      const kept = field.whenAbsent === "unmanaged" ? old?.values[name] : undefined;
      const value = values[name] ?? kept ?? field.default ?? (field.serverDefault === true ? 60 : undefined);
      if (value !== undefined && field.writeOnly !== true) out[name] = value;
    }
    return out;
  }

  function record(change: Extract<Change, { after: unknown }>, id: string): void {
    const now = objects.get(change.kind)?.get(id);
    const depends = spec.resources.get(change.address)?.dependsOn ?? [];
    const seen: { [key: string]: Json } = {};
    for (const [name, field] of Object.entries(registry.get(change.kind).fields)) {
      const value = field.witness === undefined ? now?.values[name] : now?.facts[field.witness];
      if (value !== undefined && (field.serverDefault === true || field.witness !== undefined))
        seen[field.witness ?? name] = value;
    }
    const made: StateRecord = {
      status: "ready",
      address: change.address,
      id: remoteId(id),
      name: change.name,
      applied: change.after,
      seen,
      depends_on: depends,
    };
    records.set(change.address, made);
  }

  function removeWithChildren(kind: string, id: string, name: string): void {
    objects.get(kind)?.delete(id);
    for (const child of registry.kinds) {
      if (child.nested?.kind !== kind) continue;
      for (const one of objects.get(child.kind)?.values() ?? [])
        if (one.name.startsWith(`${name}/`)) objects.get(child.kind)?.delete(one.id);
    }
  }
}
