// What `clusters/list` shows: pinned, active, and the most recently terminated clusters (B 4.3 rule 3).

import type { JsonObject } from "../../../core/json.ts";
import type { Call, Reply } from "../../call.ts";
import { CLUSTERS } from "../../limits.ts";
import type { World } from "../../world.ts";
import { activeIds, clusterById, pinsOf, terminatedIds } from "./cluster.ts";
import { describeCluster, logStatus } from "./describe.ts";

export function listClusters(call: Call, world: World): Reply {
  const clusters = listedIds(world).flatMap((id): JsonObject[] => {
    const cluster = clusterById(world, id);
    if (cluster === undefined) return [];
    const pinnedBy = pinsOf(world).get(id);
    return [
      {
        ...describeCluster(cluster),
        ...logStatus(cluster, call.now),
        ...(pinnedBy === undefined ? {} : { pinned_by_user_name: pinnedBy }),
      },
    ];
  });
  return { json: clusters.length === 0 ? {} : { clusters } };
}

/** Active ones first, then pinned ones, then those that ended last. */
function listedIds(world: World): string[] {
  const ids = new Set<string>();
  for (const [id] of activeIds(world).entries()) ids.add(id);
  for (const [id] of pinsOf(world).entries()) ids.add(id);
  for (const id of lastTerminated(world, ids)) ids.add(id);
  return [...ids];
}

function lastTerminated(world: World, listed: ReadonlySet<string>): string[] {
  const interactive: string[] = [];
  const automated: string[] = [];
  for (const [id, byJob] of terminatedIds(world).entries()) {
    if (!listed.has(id)) (byJob ? automated : interactive).push(id);
  }
  return [
    ...interactive.slice(-CLUSTERS.listed_interactive).reverse(),
    ...automated.slice(-CLUSTERS.listed_automated).reverse(),
  ];
}
