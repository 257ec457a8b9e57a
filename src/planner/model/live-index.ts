// An index of live objects by ID, natural name, and parent, with the reasons for what could not be read.

import type { Address } from "../../core/address.ts";
import { parentOf, type RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";

export interface LiveIndex {
  all(kind: string): readonly LiveObject[];
  byId(kind: string, id: RemoteId): LiveObject | undefined;
  /** Every object with this natural name; more than one only for kinds whose names are not unique. */
  byName(kind: string, name: string): readonly LiveObject[];
  /** Why an object with this kind and natural name is unknown; undefined if it could be read. */
  unreadable(kind: string, name: string): Diagnostic | undefined;
}

interface Index {
  readonly ids: ReadonlyMap<string, LiveObject>;
  readonly names: ReadonlyMap<string, readonly LiveObject[]>;
}

const NOTHING: readonly LiveObject[] = [];

export function indexLive(live: Live, registry: PlanningRegistry): LiveIndex {
  const indexes = new Map<string, Index>();
  const all = (kind: string): readonly LiveObject[] => {
    const found = live.get(kind);
    return found?.readable === true ? found.objects : NOTHING;
  };
  const index = (kind: string): Index => {
    const made = indexes.get(kind) ?? indexOf(registry.get(kind), all(kind));
    indexes.set(kind, made);
    return made;
  };
  return {
    all,
    byId: (kind, id) => index(kind).ids.get(id),
    byName: (kind, name) => index(kind).names.get(foldName(registry.get(kind), name)) ?? NOTHING,
    unreadable: (kind, name) => {
      const found = live.get(kind);
      if (found === undefined) return undefined;
      return found.readable ? found.unreadableParents.get(parentOf(name)) : found.diagnostic;
    },
  };
}

function indexOf(provider: PlannedKind, objects: readonly LiveObject[]): Index {
  const ids = new Map<string, LiveObject>();
  const names = new Map<string, LiveObject[]>();
  for (const object of objects) {
    ids.set(object.id, object);
    const name = foldName(provider, object.name);
    const sharing = names.get(name);
    if (sharing === undefined) names.set(name, [object]);
    else sharing.push(object);
  }
  return { ids, names };
}

export interface LiveMember {
  readonly address: Address;
  readonly live: LiveObject;
}
