// What the database of a fleet says about its queue, for status, reports, and metrics.

import { Failure } from "../../core/diagnostic.ts";
import type { QueueFacts } from "../../fleet/report/fleet-view.ts";
import type { FleetDatabase } from "./fleet-database.ts";

/** Undefined for a role that may not read the queue, and for a database that has none yet. */
export async function readQueueFacts(database: Partial<FleetDatabase>): Promise<QueueFacts | undefined> {
  const { openQueue, leases, pauses } = database;
  if (openQueue === undefined || leases === undefined || pauses === undefined) return undefined;
  try {
    const queue = await openQueue("read");
    try {
      const [jobs, active, workers, dead, paused] = await Promise.all([
        queue.jobs(),
        leases.active(),
        queue.workers(),
        queue.dead(),
        pauses.list(),
      ]);
      return { jobs, active, workers, dead, pauses: paused };
    } finally {
      await queue.close();
    }
  } catch (problem) {
    if (problem instanceof Failure) return undefined;
    throw problem;
  }
}
