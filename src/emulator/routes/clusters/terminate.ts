// The end of a cluster: terminated, kept for 30 days or while it is pinned, then dropped
// (contract B 3.2, contract B 4.3 rules 1 and 2).

import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import {
  type Cluster,
  clusterById,
  dropCluster,
  expireCluster,
  pinsOf,
  putCluster,
  type Reason,
} from "./cluster.ts";
import { addEvent, dropEvents } from "./events.ts";
import { releaseNodes } from "./nodes.ts";

const TERMINATED = "clusters.terminated";
const RETENTION_OVER = "clusters.retentionOver";
/** The timer by which a cluster notifies a run; the jobs' area runs it. */
export const RUN_CLUSTER_CHECK = "runs.look";

export const terminateTimers = { [TERMINATED]: clusterTerminated, [RETENTION_OVER]: retentionOver };

export interface ClusterEnding {
  readonly reason: Reason;
  readonly message: string;
  /** Empty if the platform terminated the cluster. */
  readonly user: string;
}

/** Lets a run check its cluster after the present request or timer. */
export function notifyRun(world: World, run_id: number): void {
  world.timers.set(`runs/${run_id}/look`, world.now, RUN_CLUSTER_CHECK, { run_id });
}

export function notifyRuns(world: World, cluster: Cluster): void {
  for (const run of cluster.runs) notifyRun(world, run);
}

/** Terminates a cluster that is not terminated or terminating yet; else nothing happens. */
export function terminateCluster(
  world: World,
  cluster: Cluster,
  { reason, message, user }: ClusterEnding,
): Cluster {
  if (cluster.state === "TERMINATING" || cluster.state === "TERMINATED") return cluster;
  const id = cluster.cluster_id;
  const { spark_context_id: _, ...rest } = cluster;
  for (const timer of ["idle", "shrink", "report", "recover"]) world.timers.cancel(`clusters/${id}/${timer}`);
  world.timers.set(`clusters/${id}/state`, world.now + CLUSTERS.terminate_ms, TERMINATED, { cluster_id: id });
  addEvent(world, id, "TERMINATING", { reason, user });
  notifyRuns(world, cluster);
  return putCluster(world, {
    ...rest,
    state: "TERMINATING",
    state_message: message,
    termination_reason: reason,
  });
}

function clusterTerminated(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster?.state !== "TERMINATING") return;
  const ended: Cluster = { ...releaseNodes(world, cluster), state: "TERMINATED", terminated_time: world.now };
  putCluster(world, ended);
  notifyRuns(world, ended);
  if (ended.leaving) terminateAndDrop(world, id);
  else armRetention(world, ended);
}

/** A terminated cluster without a pin is dropped 30 days after it terminated or was unpinned. */
export function armRetention(world: World, cluster: Cluster): void {
  const id = cluster.cluster_id;
  const timer = `clusters/${id}/retention`;
  if (cluster.state !== "TERMINATED" || pinsOf(world).has(id)) world.timers.cancel(timer);
  else world.timers.set(timer, world.now + CLUSTERS.retention_ms, RETENTION_OVER, { cluster_id: id });
}

function retentionOver(world: World, id: string): void {
  expireCluster(world, id);
  dropEvents(world, id);
}

/** Permanent: no request can read the cluster afterwards (contract B 3.2). */
export function terminateAndDrop(world: World, id: string): void {
  dropCluster(world, id);
  dropEvents(world, id);
}
