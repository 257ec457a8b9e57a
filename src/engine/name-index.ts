// Maps natural names to remote IDs and back, for fields that refer to objects by name.

import type { RemoteId } from "../core/address.ts";
import type { Change } from "../planner/model/change.ts";
import type { FieldTable, Values } from "../resource/field-schema.ts";
import type { Registry } from "../resource/kind.ts";
import type { Live } from "../resource/live.ts";
import { foldName, translateNames, withoutUnmanageable } from "../resource/names.ts";

/** Names by ID, and IDs by name. Grows while an apply creates objects. */
export interface NameIndex {
  idOf(kind: string, name: string): RemoteId | undefined;
  nameOf(kind: string, id: string): string | undefined;
  isUnmanageable(kind: string, id: string): boolean;
  add(kind: string, name: string, id: RemoteId): void;
}

interface NamesOfKind {
  readonly ids: Map<string, RemoteId>;
  readonly names: Map<string, string>;
  readonly unmanageable: Set<string>;
}

/** Indexes a kind when its first name is asked for: most kinds are named by no field. */
export function createNameIndex(registry: Registry, live: Live): NameIndex {
  const kinds = new Map<string, NamesOfKind>();
  const of = (kind: string): NamesOfKind => {
    const namesOfKind = kinds.get(kind);
    if (namesOfKind !== undefined) return namesOfKind;
    const emptyIndex: NamesOfKind = { ids: new Map(), names: new Map(), unmanageable: new Set() };
    kinds.set(kind, emptyIndex);
    const liveKind = live.get(kind);
    for (const object of liveKind?.readable === true ? liveKind.objects : []) {
      add(kind, object.name, object.id);
      if (object.unmanageable !== undefined) emptyIndex.unmanageable.add(object.id);
    }
    return emptyIndex;
  };
  const add = (kind: string, name: string, id: RemoteId): void => {
    const { ids, names } = of(kind);
    ids.set(foldName(registry.get(kind), name), id);
    names.set(id, name);
  };
  return {
    idOf: (kind, name) => of(kind).ids.get(foldName(registry.get(kind), name)),
    nameOf: (kind, id) => of(kind).names.get(id),
    isUnmanageable: (kind, id) => of(kind).unmanageable.has(id),
    add,
  };
}

/** Objects that a plan renames have their new name from its start, as in the plan itself. */
export function addNewNames(names: NameIndex, changes: readonly Change[]): void {
  for (const change of changes)
    if (change.action === "update" && names.nameOf(change.kind, change.id) !== change.name)
      names.add(change.kind, change.name, change.id);
}

export function toNames(fields: FieldTable, values: Values, names: NameIndex): Values {
  return translateNames(fields, manageablePart(fields, values, names), (kind, id) => names.nameOf(kind, id));
}

/** Live values, with IDs in place of names, without memberships in objects that cannot be managed. */
export function manageablePart(fields: FieldTable, values: Values, names: NameIndex): Values {
  return withoutUnmanageable(fields, values, names.isUnmanageable);
}
