// Decides what to observe: the kinds in use, the relevant names, and the parents whose members are managed.

import { type Address, kindOf } from "../../core/address.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName } from "../../resource/names.ts";
import type { Provider } from "../../resource/provider.ts";
import { kindsNamedBy } from "../../resource/translate-names.ts";
import { kindsNeeded, type Needing } from "./needed-kinds.ts";

/** What the spec and the state know of one kind. */
export interface KnownNames {
  readonly names: ReadonlySet<string>;
  /** The same in the form in which names compare. */
  readonly folded: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  /** Desired values by the form in which names compare. */
  readonly desired: ReadonlyMap<string, Values>;
}

export interface ObserveScope {
  /** Every kind to read, in the registry's order. */
  readonly kinds: readonly Provider[];
  known(kind: string): KnownNames;
}

interface Growing {
  readonly names: Set<string>;
  readonly folded: Set<string>;
  readonly ids: Set<string>;
  readonly desired: Map<string, Values>;
}

const NOTHING: KnownNames = { names: new Set(), folded: new Set(), ids: new Set(), desired: new Map() };

export function observeScope(needing: Needing): ObserveScope {
  const { registry, spec, state } = needing;
  const known = new Map<string, Growing>();
  const of = (kind: string): Growing => {
    const found = known.get(kind) ?? {
      names: new Set(),
      folded: new Set(),
      ids: new Set(),
      desired: new Map(),
    };
    known.set(kind, found);
    return found;
  };
  const mention = (address: Address, name: string): void => {
    const kind = kindOf(address);
    of(kind).names.add(name);
    const provider = registry.find(kind);
    if (provider !== undefined) of(kind).folded.add(foldName(provider, name));
  };
  for (const resource of spec?.resources.values() ?? []) {
    mention(resource.address, resource.name);
    of(resource.kind).desired.set(foldName(registry.get(resource.kind), resource.name), resource.values);
  }
  for (const record of state.records.values()) {
    mention(record.address, record.name);
    for (const id of [record.id, ...(record.deposed ?? [])]) of(kindOf(record.address)).ids.add(id);
  }
  for (const intent of [...state.open, ...state.sweeps.flatMap((sweep) => sweep.intent ?? [])]) {
    const { address, name, token } = intent;
    mention(address, name);
    const left = registry.find(kindOf(address))?.planning.content?.partialUploadName?.(name, token);
    if (left !== undefined) mention(address, left);
  }
  const used = kindsNeeded(needing);
  return {
    kinds: registry.kinds.filter((provider) => used.has(provider.kind)),
    known: (kind) => known.get(kind) ?? NOTHING,
  };
}

/** The kinds needed to read objects of a kind: their parents, and the kinds that their fields refer to. */
export function kindsBehind({ nested, fields }: Provider): readonly string[] {
  return [...(nested === undefined ? [] : [nested.kind]), ...kindsNamedBy(fields)];
}

/** Whether the spec or the state speaks of a live object. */
export function isKnown(provider: Provider, known: KnownNames, object: LiveObject): boolean {
  return known.ids.has(object.id) || known.folded.has(foldName(provider, object.name));
}
