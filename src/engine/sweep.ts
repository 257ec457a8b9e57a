// One late token: found at last and taken over, or as a leftover to be deleted; forgotten when its time is over.

import { type Address, kindOf } from "../core/address.ts";
import type { LiveObject, Provider } from "../resource/provider.ts";
import type { Entry } from "../state/entry.ts";
import type { OpenIntent, StateRecord, Sweep } from "../state/record.ts";
import { leftoverOf } from "./leftover.ts";
import { type Around, carriesToken, madeBy } from "./matches.ts";
import { isOurs, recordOf } from "./settle.ts";

interface Swept {
  readonly entries: readonly Entry[];
}

const NOT_YET: Swept = { entries: [] };

export function sweep(one: Sweep, records: ReadonlyMap<Address, StateRecord>, around: Around): Swept {
  const done: Entry = { type: "swept", token: one.token };
  const later = around.now > one.until ? { entries: [done] } : NOT_YET;
  const provider = around.registry.find(kindOf(one.address));
  const { intent } = one;
  if (provider === undefined || intent === undefined) return later;
  if (!around.readable(provider.kind, intent.name)) return later;
  const left = leftoverOf(intent, provider, around);
  if (left.length > 0) return { entries: [...left, done] };
  if (intent.action === "update") return later;
  const live = madeBy(intent, provider, around.world);
  if (live === undefined) return later;
  if (isRecorded(records.get(one.address), live)) return { entries: [done] };
  const record = claimed(intent, provider, records.get(one.address), live);
  if (record !== undefined) return { entries: [{ type: "record", record }, done] };
  return later;
}

function isRecorded(record: StateRecord | undefined, live: LiveObject): boolean {
  return record !== undefined && (record.id === live.id || record.deposed?.includes(live.id) === true);
}

/** How a late commit enters the state; undefined where it is not certain that it is ours. */
function claimed(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  live: LiveObject,
): StateRecord | undefined {
  const certain = carriesToken(provider) || provider.crash === "repeatable" || isOurs(intent, provider, live);
  if (!certain) return undefined;
  if (record === undefined) return recordOf(intent, provider, undefined, live);
  if (record.id === intent.replaces) return recordOf(intent, provider, record, live);
  // The address has another object by now: this one is a leftover, which the next plan deletes.
  return { ...record, deposed: [...(record.deposed ?? []), live.id] };
}
