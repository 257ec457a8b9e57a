// A cluster as `get` and `list` answer it, and which ones `list` shows (contract B 2.4, contract B 4.3 rule 3).

import { defined, type JsonObject } from "../../../core/json.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { Call, Reply, World } from "../../world/world.ts";
import { type Tags, tagsOf } from "../compute.ts";
import { activeIds, type Cluster, clusterById, isRunning, pinsOf, terminatedIds } from "./cluster.ts";
import { describeNodes } from "./nodes.ts";

const JDBC_PORT = 10_000;

export function describeCluster(cluster: Cluster, now: number): JsonObject {
  return {
    cluster_id: cluster.cluster_id,
    ...(cluster.attributes as unknown as JsonObject),
    ...(cluster.size as unknown as JsonObject),
    creator_user_name: cluster.creator_user_name,
    cluster_source: cluster.source,
    disk_spec: {},
    init_scripts_safe_mode: false,
    enable_local_disk_encryption: false,
    state: cluster.state,
    state_message: cluster.state_message,
    start_time: cluster.start_time,
    last_state_loss_time: cluster.last_state_loss_time,
    ...(defined({
      terminated_time: cluster.terminated_time,
      last_activity_time: cluster.last_activity_time,
      termination_reason: cluster.termination_reason,
    }) as JsonObject),
    default_tags: defaultTags(cluster),
    ...(isRunning(cluster) ? { ...describeDriver(cluster), ...logStatus(cluster, now) } : {}),
  };
}

function describeDriver(cluster: Cluster): JsonObject {
  return {
    ...describeNodes(cluster),
    jdbc_port: JDBC_PORT,
    ...(cluster.spark_context_id === undefined ? {} : { spark_context_id: BigInt(cluster.spark_context_id) }),
  };
}

/** Logs are delivered every five minutes from the time when the nodes came up (contract B 8). */
function logStatus(cluster: Cluster, now: number): JsonObject {
  if (cluster.attributes.cluster_log_conf === undefined) return {};
  const deliveries = Math.floor((now - cluster.nodes_since) / CLUSTERS.log_delivery_ms);
  if (deliveries === 0) return {};
  const last_attempted = cluster.nodes_since + deliveries * CLUSTERS.log_delivery_ms;
  return { cluster_log_status: { last_attempted } };
}

/** Four named tags and two internal ones: which those are is not shown, save that a job's cluster names its run and job. */
function defaultTags(cluster: Cluster): Tags {
  const named = {
    Vendor: "Workspace",
    Creator: cluster.creator_user_name,
    ClusterName: cluster.attributes.cluster_name,
    ClusterId: cluster.cluster_id,
  };
  const internal = { PlatformClusterSource: cluster.source, PlatformApiVersion: "2.0" };
  return [...tagsOf(named), ...(cluster.job_tags ?? tagsOf(internal))];
}

export function listClusters(call: Call, world: World): Reply {
  const clusters = listedIds(world).flatMap((id): JsonObject[] => {
    const cluster = clusterById(world, id);
    if (cluster === undefined) return [];
    const pinned = defined({ pinned_by_user_name: pinsOf(world).get(id) });
    return [{ ...describeCluster(cluster, call.now), ...pinned }];
  });
  return { json: clusters.length === 0 ? {} : { clusters } };
}

function listedIds(world: World): string[] {
  const ids = new Set([...activeIds(world).keys(), ...pinsOf(world).keys()]);
  return [...ids, ...lastTerminated(world, ids)];
}

function lastTerminated(world: World, listed: ReadonlySet<string>): string[] {
  const interactive: string[] = [];
  const automated: string[] = [];
  for (const [id, byJob] of terminatedIds(world).entries())
    if (!listed.has(id)) (byJob ? automated : interactive).push(id);
  return [
    ...interactive.slice(-CLUSTERS.listed_interactive).reverse(),
    ...automated.slice(-CLUSTERS.listed_automated).reverse(),
  ];
}
