// Activity of a cluster: runs begin and end, inactivity terminates it, and a change of its state reaches its runs (contract B 2.4).

import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import { type Cluster, clusterById, isRunning, putCluster } from "./cluster.ts";
import { SHRINK } from "./nodes.ts";
import { terminateCluster } from "./terminate.ts";

const MINUTE = 60_000;
export const IDLE = "clusters.idle";

/** Notes that the cluster was used now; keeps it. */
export function touchCluster(world: World, cluster: Cluster): Cluster {
  const touched = putCluster(world, { ...cluster, last_activity_time: world.now });
  armIdleTimer(world, touched);
  return touched;
}

/** A cluster with runs on it is not idle. */
function armIdleTimer(world: World, cluster: Cluster): void {
  const minutes = cluster.attributes.autotermination_minutes;
  const timer = `clusters/${cluster.cluster_id}/idle`;
  if (minutes === 0 || cluster.runs.length > 0 || !isRunning(cluster)) world.timers.cancel(timer);
  else world.timers.set(timer, world.now + minutes * MINUTE, IDLE, { cluster_id: cluster.cluster_id });
}

export function endIdleCluster(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster === undefined || !isRunning(cluster) || cluster.runs.length > 0) return;
  const minutes = String(cluster.attributes.autotermination_minutes);
  terminateCluster(world, cluster, {
    reason: { code: "INACTIVITY", type: "SUCCESS", parameters: { inactivity_duration_min: minutes } },
    message: `Terminated after ${minutes} minutes of inactivity.`,
    user: "",
  });
}

/** A run uses the cluster from now on, and receives the changes of its state. */
export function attachRun(world: World, id: string, run: number): void {
  const cluster = clusterById(world, id);
  if (cluster === undefined || cluster.runs.includes(run)) return;
  world.timers.cancel(`clusters/${id}/shrink`);
  const attached = { ...cluster, runs: [...cluster.runs, run] };
  if (isRunning(cluster)) touchCluster(world, attached);
  else putCluster(world, attached);
}

export function detachRun(world: World, id: string, run: number): void {
  const cluster = clusterById(world, id);
  if (cluster === undefined || !cluster.runs.includes(run)) return;
  const detached = { ...cluster, runs: cluster.runs.filter((other) => other !== run) };
  if (!isRunning(cluster)) {
    putCluster(world, detached);
    return;
  }
  touchCluster(world, detached);
  if (detached.runs.length === 0 && "autoscale" in detached.size)
    world.timers.set(`clusters/${id}/shrink`, world.now + CLUSTERS.shrink_ms, SHRINK, { cluster_id: id });
}
