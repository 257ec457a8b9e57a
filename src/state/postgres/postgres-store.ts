// States in a PostgreSQL database, shared by a team.

import { KeptStore, type StoreOptions } from "../kept-store.ts";
import type { StateStore } from "../store.ts";
import { openPgDatabase } from "./pg-database.ts";
import { PostgresPlace } from "./postgres-place.ts";
import type { PostgresUrl } from "./url.ts";

export interface PostgresStoreOptions extends StoreOptions {
  readonly url: PostgresUrl;
}

export function openPostgresStore(options: PostgresStoreOptions): StateStore {
  const { url, clock } = options;
  const database = openPgDatabase({ url, clock });
  return new KeptStore(new PostgresPlace({ database, url }), options);
}
