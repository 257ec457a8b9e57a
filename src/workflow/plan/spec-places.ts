// The places of resources and fields in the spec, for the reports of a plan: from the spec, or from a saved plan.

import type { Address } from "../../core/address.ts";
import { type Location, withoutSourceLines } from "../../core/diagnostic.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { SavedPlaces } from "../../planner/plan-file.ts";
import type { Spec } from "../../spec/model/spec.ts";

export type PlanPlaces = (address: Address, path?: Path) => Location | undefined;

/** The places of resources and fields in the spec. */
export function placesIn(resources: Spec["resources"]): PlanPlaces {
  return (address: Address, path?: Path) => {
    const resource = resources.get(address);
    const location = path === undefined ? resource?.at : resource?.locate(path);
    return location && withoutSourceLines(location);
  };
}

export function savedPlaces(plan: Plan, places: PlanPlaces): SavedPlaces {
  const saved: { [address: string]: SavedPlaces[string] } = {};
  for (const item of [...plan.drift, ...plan.changes]) {
    const at = places(item.address);
    if (at === undefined) continue;
    const fields = { ...saved[item.address]?.fields };
    for (const path of pathsOf(item)) {
      const place = places(item.address, path);
      if (place !== undefined) fields[toPointer(path)] = place;
    }
    saved[item.address] = Object.keys(fields).length === 0 ? { at } : { at, fields };
  }
  return saved;
}

function pathsOf(item: Plan["changes"][number] | Plan["drift"][number]): readonly Path[] {
  if ("action" in item && item.action === "create") return Object.keys(item.after).map((name) => [name]);
  return "diffs" in item ? item.diffs.map(({ path }) => path) : [];
}

export function placesFrom(saved: SavedPlaces | undefined): PlanPlaces {
  return (address: Address, path?: Path) => {
    if (saved === undefined || !Object.hasOwn(saved, address)) return undefined;
    const places = saved[address];
    if (places?.fields === undefined || path === undefined) return places?.at;
    const pointer = toPointer(path);
    return Object.hasOwn(places.fields, pointer) ? places.fields[pointer] : places.at;
  };
}
