// Where the results of fleet runs are kept: a file on one machine, tables in PostgreSQL for many.

import type { WorkspaceResult } from "./result.ts";

export interface ResultStore {
  /** Durable when it resolves. */
  add(result: WorkspaceResult): Promise<void>;
  /** The results of each workspace, newest first, at most `limit` for each. */
  recent(limit: number): Promise<ReadonlyMap<string, readonly WorkspaceResult[]>>;
  close(): Promise<void>;
}

/** Results that a store keeps for each workspace; older ones are removed. */
export const KEPT_RESULTS = 100;
