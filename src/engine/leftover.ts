// What a cut write left beside its object, found by its token: recorded under its own name, so that the next plan deletes it.

import { type Address, addressOf } from "../core/address.ts";
import type { Provider } from "../resource/provider.ts";
import type { Entry } from "../state/entry.ts";
import type { OpenIntent, StateRecord } from "../state/record.ts";
import type { Around } from "./matches.ts";

export function leftoverOf(
  intent: Pick<OpenIntent, "name" | "token">,
  provider: Provider,
  around: Around,
): readonly Entry[] {
  const name = provider.leftover?.(intent.name, intent.token);
  const live = name === undefined ? undefined : around.world.byName(provider.kind, name)[0];
  if (live === undefined) return [];
  const address: Address = addressOf(provider.kind, live.name);
  const record: StateRecord = {
    status: "creating",
    address,
    id: live.id,
    name: live.name,
    applied: {},
    depends_on: [],
    token: intent.token,
  };
  return [{ type: "record", record }];
}
