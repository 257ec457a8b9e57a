// The first requests of an observation, sent while the spec is still being read: what the state manages is listed whatever the spec says.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, kindOf } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Registry } from "../../resource/registry.ts";
import type { State } from "../../state/model/record.ts";
import { memoizedReader } from "./readers.ts";
import { observeScope } from "./scope.ts";

/**
 * Asks for the lists of the kinds that the state knows, and returns the reader that has the answers, failures too, for whoever
 * asks again. Only what a kind asks for first, by the names that the state has: the spec can add to those, and take none away.
 * `only`: the addresses that the run is limited to.
 */
export function prefetchLists(
  registry: Registry,
  reader: Reader,
  state: State,
  only: (address: Address) => boolean = () => true,
): Reader {
  const once = memoizedReader(reader);
  const asking: Reader = {
    read: (operation, input) => {
      if (operation.endsWith("/list")) once.read(operation, input).catch(() => undefined);
      // What would be made of the answer, and asked for next, is the observation's.
      return new Promise<JsonObject>(() => undefined);
    },
  };
  const scope = observeScope({ registry, state });
  const asked = new Set([...state.records.keys()].filter(only).map(kindOf));
  for (const provider of scope.kinds) {
    const { names } = scope.known(provider.kind);
    if (provider.nested !== undefined || names.size === 0 || !asked.has(provider.kind)) continue;
    provider.operations.list(asking, { parents: [], names }).catch(() => undefined);
  }
  return once;
}
