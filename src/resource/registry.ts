// The kinds that the program knows, in a fixed order, found by name. The only list is providers/index.ts.

import { type Address, kindOf } from "../core/address.ts";
import type { Provider } from "./provider.ts";

export interface Registry {
  readonly kinds: readonly Provider[];
  find(kind: string): Provider | undefined;
  /** The provider of a kind that must be known; asserts. */
  get(kind: string): Provider;
  of(address: Address): Provider;
}

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
