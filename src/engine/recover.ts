// What became of requests whose outcome is unknown: settles open intents and looks for late commits, from live data. Pure.

import type { Diagnostic } from "../core/diagnostic.ts";
import { worldOf } from "../planner/world.ts";
import type { Live } from "../resource/live.ts";
import type { Registry } from "../resource/registry.ts";
import type { Entry } from "../state/entry.ts";
import { add, draftOf, stateOf } from "../state/fold.ts";
import type { State } from "../state/record.ts";
import type { Lease } from "../state/store.ts";
import { settle } from "./settle.ts";
import { sweep } from "./sweep.ts";

export interface RecoverInput {
  readonly registry: Registry;
  readonly state: State;
  readonly live: Live;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The user takes over what exists (`--adopt`). */
  readonly adopt?: boolean;
}

export interface Recovered {
  /** The state once the entries are added. */
  readonly state: State;
  /** To be appended to the journal before anything else is written. */
  readonly entries: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
}

export function recover(input: RecoverInput): Recovered {
  const draft = draftOf(input.state);
  const world = worldOf(input.live, input.registry);
  const entries: Entry[] = [];
  const diagnostics: Diagnostic[] = [];
  const take = (found: { readonly entries: readonly Entry[]; readonly diagnostic?: Diagnostic }): void => {
    for (const entry of found.entries) add(draft, { seq: 0, at: input.now, entry });
    entries.push(...found.entries);
    if (found.diagnostic !== undefined) diagnostics.push(found.diagnostic);
  };
  const readable = (kind: string, name: string): boolean =>
    input.live.get(kind)?.readable === true && world.unreadable(kind, name) === undefined;
  const around = { registry: input.registry, world, readable, now: input.now, adopt: input.adopt === true };
  for (const intent of input.state.open) take(settle(intent, draft.records.get(intent.address), around));
  for (const one of [...draft.sweeps.values()]) take(sweep(one, draft.records, around));
  return { state: stateOf(draft), entries, diagnostics };
}

/** Makes durable what recovery found, and what else has to be known before anything is sent. To be done under the lock. */
export async function recordRecovery(lease: Lease, entries: readonly Entry[]): Promise<void> {
  await Promise.all(entries.map((entry) => lease.append(entry)));
}
