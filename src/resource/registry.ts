// The registry of kinds, in a fixed order, by name. The only list of kinds is providers/index.ts.

import { type Address, kindOf } from "../core/address.ts";
import type { Kind } from "./kind.ts";
import type { PlannedKind, Provider } from "./provider.ts";

/** `K`: how much of a kind the code needs that gets the registry. */
export interface Registry<K extends Kind = Provider> {
  readonly kinds: readonly K[];
  find(kind: string): K | undefined;
  /** The provider of a kind that must be known; asserts. */
  get(kind: string): K;
  of(address: Address): K;
}

export type KindRegistry = Registry<Kind>;
export type PlanningRegistry = Registry<PlannedKind>;

export function registryOf(kinds: readonly Provider[]): Registry {
  const byName = new Map(kinds.map((provider) => [provider.kind, provider]));
  const get = (kind: string): Provider => {
    const provider = byName.get(kind);
    if (provider === undefined)
      throw new Error(`no provider for kind ${kind}: addresses are checked when a spec or a state is read`);
    return provider;
  };
  return { kinds, find: (kind) => byName.get(kind), get, of: (address) => get(kindOf(address)) };
}
