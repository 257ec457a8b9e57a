// Recovers from an interrupted run: resolves its open intents and unanswered tokens.

import { type Address, kindOf, type RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { indexLive } from "../../planner/model/context.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { add, draftOf, stateOf } from "../../state/format/fold.ts";
import type { JournalEntry, OpenIntent, State, StateRecord, Sweep } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import {
  findCreated,
  isCertainlyCreated,
  partialUploadOf,
  type RecoveryContext,
  recordOf,
  resolveIntent,
  withDeposed,
} from "./resolve-intent.ts";

interface RecoverInput {
  readonly registry: Registry;
  readonly state: State;
  readonly live: Live;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly adopt?: boolean;
}

export interface Recovered {
  /** The state once the entries are added. */
  readonly state: State;
  /** To be appended to the journal before anything else is written. */
  readonly entries: readonly JournalEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

export function recover(input: RecoverInput): Recovered {
  if (input.state.open.length === 0 && input.state.sweeps.length === 0)
    return { state: input.state, entries: [], diagnostics: [] };
  // Each decision sees the entries of those before it, in one draft, because a copy of a large state takes long.
  const draft = draftOf(input.state);
  const liveIndex = indexLive(input.live, input.registry);
  const entries: JournalEntry[] = [];
  const diagnostics: Diagnostic[] = [];
  const take = (newEntries: readonly JournalEntry[]): void => {
    for (const entry of newEntries) add(draft, { seq: 0, at: input.now, entry });
    entries.push(...newEntries);
  };
  const readable = (kind: string, name: string): boolean =>
    input.live.get(kind)?.readable === true && liveIndex.unreadable(kind, name) === undefined;
  const recovery: RecoveryContext = {
    registry: input.registry,
    liveIndex,
    readable,
    owner: (kind, id) => ownerOf(draft.records, kind, id),
    now: input.now,
    adopt: input.adopt === true,
  };
  for (const intent of input.state.open) {
    const resolved = resolveIntent(intent, draft.records.get(intent.address), recovery);
    take(resolved.entries);
    if (resolved.diagnostic !== undefined) diagnostics.push(resolved.diagnostic);
  }
  for (const openSweep of [...draft.sweeps.values()]) take(sweep(openSweep, draft.records, recovery));
  return { state: stateOf(draft), entries, diagnostics };
}

/** Asked only of objects that an open intent or a late token may have made: few, so no index is kept. */
function ownerOf(
  records: ReadonlyMap<Address, StateRecord>,
  kind: string,
  id: RemoteId,
): Address | undefined {
  for (const { address, id: recorded, deposed } of records.values())
    if (kindOf(address) === kind && (recorded === id || deposed?.includes(id) === true)) return address;
  return undefined;
}

/** Makes durable what recovery found, and what else has to be known before anything is sent. To be done under the lock. */
export async function recordBeforeWrites(lease: Lease, entries: readonly JournalEntry[]): Promise<void> {
  await Promise.all(entries.map((entry) => lease.append(entry)));
}

/** Looks for what a request without an answer may have created late, until the time of its token is over. */
function sweep(
  openSweep: Sweep,
  records: ReadonlyMap<Address, StateRecord>,
  recovery: RecoveryContext,
): readonly JournalEntry[] {
  const done: JournalEntry = { type: "swept", token: openSweep.token };
  const notFound = recovery.now > openSweep.until ? [done] : [];
  const provider = recovery.registry.find(kindOf(openSweep.address));
  const { intent } = openSweep;
  if (provider === undefined || intent === undefined) return notFound;
  const partial = partialUploadOf(intent, provider, recovery);
  if (partial.length > 0) return [...partial, done];
  if (intent.action === "update") return notFound;
  const live = findCreated(intent, provider, recovery);
  if (live === undefined) return notFound;
  const recorded = records.get(openSweep.address);
  if (recorded?.id === live.id || recorded?.deposed?.includes(live.id) === true) return [done];
  const record = claimed(intent, provider, recorded, live);
  return record === undefined ? notFound : [{ type: "record", record }, done];
}

/** Returns the record of a late creation; undefined if its origin is not certain. */
function claimed(
  intent: OpenIntent,
  provider: Provider,
  record: StateRecord | undefined,
  live: LiveObject,
): StateRecord | undefined {
  if (!isCertainlyCreated(intent, provider, live)) return undefined;
  if (record === undefined || record.id === intent.replaces) return recordOf(intent, provider, record, live);
  // The address has another object by now: this one is a leftover, which the next plan deletes.
  return withDeposed(record, [live.id]);
}
