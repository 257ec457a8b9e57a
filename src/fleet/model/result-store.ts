// Where the results of fleet runs are kept: a file on one machine, tables in PostgreSQL for many.

import type { WorkspaceResult } from "./result.ts";

export interface ResultStore {
  /** Durable when it resolves. `run`: an ID of the run; a later result of the same run replaces this one. */
  add(result: WorkspaceResult, run?: string): Promise<void>;
  /** The results of these workspaces, newest first, at most `limit` for each. */
  recent(
    limit: number,
    workspaces: readonly string[],
  ): Promise<ReadonlyMap<string, readonly WorkspaceResult[]>>;
  close(): Promise<void>;
}

/** Results that a store keeps for each workspace; older ones are removed. */
export const KEPT_RESULTS = 100;
