// The nodes of a cluster: where they come from (a pool or the provider), their return, how a running cluster changes their number (contract B 3.2), and their fields in answers.

import type { JsonObject } from "../../../core/json.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import { nodeType } from "../compute.ts";
import { CLUSTER_RECOVERY, giveInstancesBack, takeInstances, waitForInstances } from "../pools/pool.ts";
import { type Cluster, type ClusterSize, clusterById, putCluster, type Reason } from "./cluster.ts";
import { addEvent } from "./events.ts";

/** A cluster after it asked for nodes, and when the last of those that it got is ready. */
interface Acquired {
  readonly cluster: Cluster;
  readonly ready_at: number;
}

/** Makes the nodes a driver and as many workers as the cluster wants, as far as its pool can; without a pool it always can. */
export function acquireNodes(world: World, cluster: Cluster): Acquired {
  const { nodes_from: had, ...rest } = cluster;
  const wanted = cluster.target + 1;
  const pool = cluster.attributes.instance_pool_id;
  if (had !== pool && had !== undefined) giveInstancesBack(world, had, cluster.cluster_id, cluster.nodes);
  if (pool === undefined) return { cluster: { ...rest, nodes: wanted }, ready_at: world.now };
  const current = had === pool ? cluster.nodes : 0;
  if (current > wanted) giveInstancesBack(world, pool, cluster.cluster_id, current - wanted);
  const grant =
    current < wanted ? takeInstances(world, pool, cluster.cluster_id, wanted - current) : undefined;
  const nodes = Math.min(current, wanted) + (grant?.granted ?? 0);
  return { cluster: { ...rest, nodes, nodes_from: pool }, ready_at: grant?.ready_at ?? world.now };
}

export function releaseNodes(world: World, cluster: Cluster): Cluster {
  const { nodes_from: pool, ...rest } = cluster;
  if (pool !== undefined) giveInstancesBack(world, pool, cluster.cluster_id, cluster.nodes);
  return { ...rest, nodes: 0, nodes_up: 0 };
}

export function giveNodesBack(world: World, cluster: Cluster, count: number): Cluster {
  const { nodes_from: pool } = cluster;
  if (pool !== undefined) giveInstancesBack(world, pool, cluster.cluster_id, count);
  return { ...cluster, nodes: cluster.nodes - count, nodes_up: cluster.nodes_up - count };
}

export const lacksNodes = (cluster: Cluster): boolean => cluster.nodes < cluster.target + 1;

export const lacksTargetNodes = ({ nodes, target }: Cluster): boolean =>
  nodes < (target + 1) * CLUSTERS.least_nodes;

/** Why a pool gave fewer nodes than were wanted (facts 4.7). */
export function shortageOf(world: World, cluster: Cluster): Reason {
  const pool = cluster.attributes.instance_pool_id ?? "";
  const alive = world.collection<{ readonly state: string }>("pools").get(pool)?.state === "ACTIVE";
  const code = alive ? "INSTANCE_POOL_MAX_CAPACITY_FAILURE" : "INSTANCE_POOL_NOT_FOUND_FAILURE";
  const parameters = { instance_pool_id: pool, instance_pool_error_code: code };
  return { code: "INSTANCE_POOL_CLUSTER_FAILURE", type: "CLIENT_ERROR", parameters };
}

/** How many workers a cluster has of those that it wants, and why it lacks some, for its events. */
export function workersAndShortage(world: World, cluster: Cluster): JsonObject {
  return {
    current_num_workers: cluster.nodes_up - 1,
    target_num_workers: cluster.target,
    ...(lacksNodes(cluster) ? { reason: shortageOf(world, cluster) as unknown as JsonObject } : {}),
  };
}

/** Driver, executors and what they add up to, for a cluster whose nodes are up. */
export function describeNodes(cluster: Cluster): JsonObject {
  const workers = Math.max(0, cluster.nodes_up - 1);
  const worker = nodeType(cluster.attributes.node_type_id);
  const driver = nodeType(cluster.attributes.driver_node_type_id);
  const executors = Array.from({ length: workers }, (_, index) => node(cluster, index + 1));
  return {
    driver: node(cluster, 0),
    ...(workers === 0 ? {} : { executors }),
    cluster_memory_mb: driver.memory_mb + workers * worker.memory_mb,
    cluster_cores: driver.num_cores + workers * worker.num_cores,
  };
}

/** Node ids follow from the cluster's seed, so that hundreds of executors need no place in its row. */
function node(cluster: Cluster, index: number): JsonObject {
  const id = digits(`${cluster.node_seed}/${index}`);
  const address = `10.139.${(index >> 8) & 255}.${index & 255}`;
  return {
    private_ip: address,
    public_dns: "",
    node_id: id,
    instance_id: id.slice(0, 16),
    start_timestamp: cluster.nodes_since,
    host_private_ip: address,
  };
}

/** 32 hexadecimal digits that depend on the text alone (FNV-1a, four times). */
function digits(text: string): string {
  let out = "";
  for (let round = 0; round < 4; round++) {
    let hash = 0x811c9dc5 ^ round;
    for (let index = 0; index < text.length; index++)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
    out += hash.toString(16).padStart(8, "0");
  }
  return out;
}

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
  if (grew) addEvent(world, cluster.cluster_id, "UPSIZE_COMPLETED", workersAndShortage(world, running));
  if (lacksNodes(running))
    waitForInstances(world, running.attributes.instance_pool_id ?? "", running.cluster_id);
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
