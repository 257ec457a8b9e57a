// How a running cluster changes its size: by request, by autoscaling, or when missing nodes arrive (contract B 3.2).

import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import { CLUSTER_RECOVERY, waitForInstances } from "../pools/pool.ts";
import { type Cluster, type ClusterSize, clusterById, putCluster } from "./cluster.ts";
import { addEvent } from "./events.ts";
import { acquireNodes, lacksNodes, workersAndShortage } from "./nodes.ts";

const RESIZED = "clusters.resized";
export const SHRINK = "clusters.shrink";

export const resizeTimers = {
  [RESIZED]: clusterResized,
  [SHRINK]: scaleDown,
  [CLUSTER_RECOVERY]: recoverNodes,
};

interface Resize {
  readonly size: ClusterSize;
  readonly target: number;
  readonly cause: "USER_REQUEST" | "AUTOSCALE" | "AUTORECOVERY";
  readonly user: string;
}

/** Gives a RUNNING cluster another size; it is RESIZING until its nodes have come or gone. */
export function resizeCluster(world: World, cluster: Cluster, { size, target, cause, user }: Resize): void {
  const id = cluster.cluster_id;
  addEvent(world, id, "RESIZING", {
    current_num_workers: cluster.nodes_up - 1,
    target_num_workers: target,
    previous_cluster_size: cluster.size,
    cluster_size: size,
    cause,
    user,
  });
  const { cluster: equipped, ready_at } = acquireNodes(world, { ...cluster, size, target });
  if (equipped.nodes === cluster.nodes_up) {
    settle(world, equipped, target + 1 > cluster.nodes_up);
    return;
  }
  const at = Math.max(world.now + CLUSTERS.resize_ms, ready_at);
  world.timers.set(`clusters/${id}/state`, at, RESIZED, { cluster_id: id });
  putCluster(world, { ...equipped, state: "RESIZING" });
}

function clusterResized(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster?.state !== "RESIZING") return;
  settle(world, { ...cluster, nodes_up: cluster.nodes }, cluster.nodes > cluster.nodes_up);
}

function settle(world: World, cluster: Cluster, grew: boolean): void {
  const running = putCluster(world, { ...cluster, state: "RUNNING" });
  if (grew) {
    addEvent(world, cluster.cluster_id, "UPSIZE_COMPLETED", workersAndShortage(world, running));
  }
  if (lacksNodes(running)) {
    waitForInstances(world, running.attributes.instance_pool_id ?? "", running.cluster_id);
  }
}

/** The workers that a size asks for, given how many there are: bounds leave a number inside them alone. */
export function workersFor(size: ClusterSize, present: number): number {
  if (!("autoscale" in size)) return size.num_workers;
  return Math.min(size.autoscale.max_workers, Math.max(size.autoscale.min_workers, present));
}

/** Its pool can give instances again: a cluster that lacks nodes asks for them. */
function recoverNodes(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster?.state !== "RUNNING" || !lacksNodes(cluster)) return;
  const { size, target } = cluster;
  resizeCluster(world, cluster, { size, target, cause: "AUTORECOVERY", user: "" });
}

/** Work on an autoscaling cluster takes it to its upper bound. */
export function scaleUp(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster?.state !== "RUNNING" || !("autoscale" in cluster.size)) return;
  const target = cluster.size.autoscale.max_workers;
  if (cluster.target < target)
    resizeCluster(world, cluster, { size: cluster.size, target, cause: "AUTOSCALE", user: "" });
}

/** Without work it goes back to its lower bound. */
function scaleDown(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster?.state !== "RUNNING" || !("autoscale" in cluster.size) || cluster.runs.length > 0) return;
  const target = cluster.size.autoscale.min_workers;
  if (cluster.target > target)
    resizeCluster(world, cluster, { size: cluster.size, target, cause: "AUTOSCALE", user: "" });
}
