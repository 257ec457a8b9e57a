// The places of a saved plan's resources and fields: kept with it, so that its reports need no spec.

import type { Address } from "../../core/address.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { SavedPlaces } from "../../planner/plan-file.ts";
import type { placesIn } from "./located.ts";

type Places = ReturnType<typeof placesIn>;

export function savedPlaces(plan: Plan, places: Places): SavedPlaces {
  const saved: { [address: string]: SavedPlaces[string] } = {};
  for (const one of [...plan.drift, ...plan.changes]) {
    const at = places(one.address);
    if (at === undefined || ("action" in one && one.action === "noop")) continue;
    const fields = { ...saved[one.address]?.fields };
    for (const path of pathsOf(one)) {
      const place = places(one.address, path);
      if (place !== undefined) fields[toPointer(path)] = place;
    }
    saved[one.address] = { at, fields };
  }
  return saved;
}

function pathsOf(one: Plan["changes"][number] | Plan["drift"][number]): readonly Path[] {
  if ("action" in one && one.action === "create") return Object.keys(one.after).map((name) => [name]);
  return "diffs" in one ? one.diffs.map(({ path }) => path) : [];
}

export function placesFrom(saved: SavedPlaces | undefined): Places {
  return (address: Address, path?: Path) => {
    if (saved === undefined || !Object.hasOwn(saved, address)) return undefined;
    const found = saved[address];
    if (found === undefined || path === undefined) return found?.at;
    const pointer = toPointer(path);
    return Object.hasOwn(found.fields, pointer) ? found.fields[pointer] : found.at;
  };
}
