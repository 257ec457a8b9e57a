// How many runs the workspace may start within an hour and have active at a time (B 4.2 rule 4).

import { ApiError } from "../../errors.ts";
import { JOBS } from "../../limits.ts";
import type { Collection, World } from "../../world.ts";
import { activeRuns } from "./run.ts";

/** Throws REQUEST_LIMIT_EXCEEDED when the workspace can start no run now (B 4.2 rule 4). */
export function checkLimits(world: World): void {
  const reached = activeLimitReached(world) ?? hourlyLimitReached(world);
  if (reached !== undefined) throw new ApiError("REQUEST_LIMIT_EXCEEDED", reached);
}

export function activeLimitReached(world: World): string | undefined {
  if (activeRuns(world).size < JOBS.active_runs) return undefined;
  return `The workspace has ${JOBS.active_runs} active runs, which is the limit.`;
}

/** The times of the last thousand starts, as a ring. */
const startsOf = (world: World): Collection<number> => world.collection("jobs.starts");

export function hourlyLimitReached(world: World): string | undefined {
  const starts = startsOf(world);
  const oldest = starts.get(String((starts.get("count") ?? 0) % JOBS.starts_per_hour));
  if (oldest === undefined || oldest + JOBS.hour_ms <= world.now) return undefined;
  return `The workspace has started ${JOBS.starts_per_hour} runs within an hour, which is the limit.`;
}

export function countStart(world: World): void {
  const starts = startsOf(world);
  const count = starts.get("count") ?? 0;
  starts.set(String(count % JOBS.starts_per_hour), world.now);
  starts.set("count", count + 1);
}
