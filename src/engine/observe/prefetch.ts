// Sends the first requests of an observation while the spec is still being read: the kinds that the state manages.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, kindOf } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Registry } from "../../resource/registry.ts";
import type { State } from "../../state/model/record.ts";
import { memoizedReader } from "./readers.ts";
import { observeScope } from "./scope.ts";

/** Requests the lists of the recorded kinds early: only first pages with recorded names, because the spec cannot remove names. */
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
      // The observation parses the answer and sends the follow-up requests.
      return new Promise<JsonObject>(() => undefined);
    },
  };
  const scope = observeScope({ registry, state });
  const asked = new Set<string>();
  for (const address of state.records.keys()) if (only(address)) asked.add(kindOf(address));
  for (const provider of scope.kinds) {
    if (provider.nested !== undefined || !asked.has(provider.kind)) continue;
    const { names } = scope.known(provider.kind);
    if (names.size === 0) continue;
    provider.operations.list(asking, { parents: [], names }).catch(() => undefined);
  }
  return once;
}
