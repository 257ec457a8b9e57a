// Pins keep a terminated cluster beyond 30 days and always in the list (B 4.3 rule 2).

import type { Caller } from "../../call.ts";
import { ApiError } from "../../errors.ts";
import { CLUSTERS } from "../../limits.ts";
import type { World } from "../../world.ts";
import { type Cluster, pinsOf } from "./cluster.ts";
import { armRetention } from "./end.ts";
import { addEvent } from "./events.ts";

/** Pinning what is pinned has no effect. */
export function pin(world: World, cluster: Cluster, caller: Caller): void {
  const pins = pinsOf(world);
  if (pins.has(cluster.cluster_id)) return;
  if (pins.size >= CLUSTERS.pins) {
    throw new ApiError("QUOTA_EXCEEDED", `At most ${CLUSTERS.pins} clusters can be pinned.`);
  }
  pins.set(cluster.cluster_id, caller.userId);
  armRetention(world, cluster);
  addEvent(world, cluster.cluster_id, "PINNED", { user: caller.userName });
}

/** Unpinning what is not pinned has no effect. The 30 days of a terminated cluster begin now. */
export function unpin(world: World, cluster: Cluster, caller: Caller): void {
  if (!pinsOf(world).delete(cluster.cluster_id)) return;
  armRetention(world, cluster);
  addEvent(world, cluster.cluster_id, "UNPINNED", { user: caller.userName });
}
