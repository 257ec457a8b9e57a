// An index of live objects by ID, natural name, and parent, with the reasons for what could not be read.

import { type Address, parentOf, type RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { foldName } from "../../resource/names.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";

export interface LiveIndex {
  all(kind: string): readonly LiveObject[];
  byId(kind: string, id: RemoteId): LiveObject | undefined;
  /** Every object with this natural name; more than one only for kinds whose names are not unique. */
  byName(kind: string, name: string): readonly LiveObject[];
  /** Why an object with this kind and natural name is unknown; undefined if it could be read. */
  unreadable(kind: string, name: string): Diagnostic | undefined;
}

const NOTHING: readonly LiveObject[] = [];

export function indexLive(live: Live, registry: PlanningRegistry): LiveIndex {
  const ids = new Map<string, ReadonlyMap<string, LiveObject>>();
  const names = new Map<string, ReadonlyMap<string, readonly LiveObject[]>>();
  const all = (kind: string): readonly LiveObject[] => {
    const found = live.get(kind);
    return found?.readable === true ? found.objects : NOTHING;
  };
  return {
    all,
    byId: (kind, id) => {
      const made = ids.get(kind) ?? byIds(all(kind));
      ids.set(kind, made);
      return made.get(id);
    },
    // Most plans find every object by its ID, so names are indexed only when one is asked for.
    byName: (kind, name) => {
      const provider = registry.get(kind);
      const made = names.get(kind) ?? Map.groupBy(all(kind), (object) => foldName(provider, object.name));
      names.set(kind, made);
      return made.get(foldName(provider, name)) ?? NOTHING;
    },
    unreadable: (kind, name) => {
      const found = live.get(kind);
      if (found === undefined) return undefined;
      if (!found.readable) return found.diagnostic;
      return found.unreadableParents.size === 0 ? undefined : found.unreadableParents.get(parentOf(name));
    },
  };
}

function byIds(objects: readonly LiveObject[]): ReadonlyMap<string, LiveObject> {
  const found = new Map<string, LiveObject>();
  for (const object of objects) found.set(object.id, object);
  return found;
}

export interface LiveMember {
  readonly address: Address;
  readonly live: LiveObject;
}
