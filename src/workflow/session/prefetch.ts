// Plans begin to read the workspace before they have read the spec: both take their time, and most specs are valid.

import type { Reader } from "../../api/contract/reader.ts";
import type { Settings } from "../../config/settings.ts";
import { prefetchLists } from "../../engine/observe/prefetch.ts";
import { registry } from "../../providers/index.ts";
import type { Loaded, StateStore } from "../../state/model/store.ts";
import { restrictionOf } from "./address-filter.ts";
import type { Connection } from "./connect.ts";

export interface Prefetch {
  /** The state before the first request. */
  readonly loaded: Loaded;
  readonly connection: Connection;
  /** Cancels the requests if the spec is invalid. */
  drop(): void;
}

/** Undefined if requests are not possible yet, or if a problem is reported after the spec is read. */
export async function beginPrefetch(
  store: StateStore,
  { place }: Settings,
  connect: (signal: AbortSignal) => Promise<Connection>,
  only: readonly string[],
): Promise<Prefetch | undefined> {
  if (place.embedded) return undefined;
  const dropped = new AbortController();
  try {
    const loaded = await store.read();
    const { state } = loaded;
    if (state.records.size === 0 || state.host !== place.identity) return undefined;
    const connection = await connect(dropped.signal);
    const reader: Reader = prefetchLists(registry, connection.reader, state, restrictionOf(only)?.only);
    // A near host is connected, and asked, after so many turns; a far one has the pauses of the spec's reading.
    for (let n = 0; n < FIRST_TURNS; n++) await yieldToEventLoop();
    const drop = (): void => {
      dropped.abort();
      connection.close().catch(() => undefined);
    };
    return { loaded, connection: { ...connection, reader }, drop };
  } catch {
    return undefined;
  }
}

const FIRST_TURNS = 4;

/** Lets requests leave and answers come in, which wait while the spec is worked on. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
