// Clusters (contract B 2.4, contract B 4.3): the fourteen calls, the clusters that `list` shows and the form in which it shows
// them, the pins, the background work, and the control request that causes events.

import { defined, isObject, type JsonObject } from "../../../core/json.ts";
import { hasEntitlement } from "../../world/directory.ts";
import { ApiError, invalidState, invalidValue, permissionDenied } from "../../world/errors.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { Area, Call, Caller, Reply, World } from "../../world/world.ts";
import { listNodeTypes, listRuntimes, type Tags, tagsOf } from "../compute.ts";
import {
  activeIds,
  type Cluster,
  clusterById,
  clusterOr400,
  isRunning,
  pinsOf,
  putCluster,
  startingWorkers,
  terminatedIds,
} from "./cluster.ts";
import { addEvent, INJECTED_EVENTS, type InjectedEvent, readEvents } from "./events.ts";
import {
  armRetention,
  endIdleCluster,
  IDLE,
  restartCluster,
  startCluster,
  startNewCluster,
  startTimers,
  terminateAndDrop,
  terminateCluster,
  terminateTimers,
} from "./lifecycle.ts";
import { describeNodes, giveNodesBack, resizeCluster, resizeTimers, workersFor } from "./nodes.ts";
import { type GivenCluster, readCluster, readSize } from "./settings.ts";

export const clustersArea: Area = {
  operations: {
    "clusters/create": create,
    "clusters/edit": edit,
    "clusters/start": start,
    "clusters/restart": (call, world) => restartCluster(world, named(call, world), call.caller.userName),
    "clusters/resize": resize,
    "clusters/delete": (call, world) => void terminate(world, named(call, world), call),
    "clusters/permanent-delete": permanentDelete,
    "clusters/get": (call, world) => ({ json: describeCluster(named(call, world), call.now) }),
    "clusters/pin": (call, world) => pin(world, named(call, world), call.caller),
    "clusters/unpin": (call, world) => unpin(world, named(call, world), call.caller),
    "clusters/list": listClusters,
    "clusters/list-node-types": () => ({ json: { node_types: listNodeTypes() } }),
    "clusters/spark-versions": () => ({ json: { versions: listRuntimes() } }),
    "clusters/events": readEvents,
  },
  timers: Object.fromEntries(
    Object.entries({
      ...startTimers,
      ...resizeTimers,
      ...terminateTimers,
      [IDLE]: endIdleCluster,
    }).map(([type, run]) => [type, (world: World, payload: JsonObject) => run(world, idIn(payload))]),
  ),
  control: { "cluster-events": injectEvent },
};

const idIn = (fields: JsonObject): string => String(fields.cluster_id);
const named = (call: Call, world: World): Cluster => clusterOr400(world, idIn(call.input));
const configuration = (call: Call): GivenCluster => call.input as unknown as GivenCluster;

function create(call: Call, world: World): Reply {
  const { userName } = call.caller;
  if (!hasEntitlement(world, call.caller, "allow-cluster-create"))
    throw permissionDenied(`User ${userName} may not create clusters.`);
  const read = readCluster(world, configuration(call), CLUSTERS.custom_tags);
  const cluster = startNewCluster(world, { ...read, source: "API", user: userName, creator: userName });
  return { json: { cluster_id: cluster.cluster_id } };
}

/** Replaces the whole configuration; a RUNNING cluster restarts, a TERMINATED one has it at its next start (contract B 3.2). */
function edit(call: Call, world: World): void {
  const cluster = named(call, world);
  refuseJobCluster(cluster, "edited");
  if (cluster.state !== "RUNNING" && cluster.state !== "TERMINATED")
    throw invalidState(
      `Cluster ${cluster.cluster_id} is in unexpected state ${cluster.state}: only a RUNNING or TERMINATED cluster can be edited.`,
    );
  const { attributes, size } = readCluster(world, configuration(call), CLUSTERS.custom_tags);
  addEvent(world, cluster.cluster_id, "EDITED", {
    previous_attributes: cluster.attributes,
    attributes,
    previous_cluster_size: cluster.size,
    cluster_size: size,
    user: call.caller.userName,
  });
  const edited = putCluster(world, { ...cluster, attributes, size, target: startingWorkers(size) });
  restartCluster(world, edited, call.caller.userName);
}

function start(call: Call, world: World): void {
  const cluster = named(call, world);
  refuseJobCluster(cluster, "started");
  startCluster(world, cluster, call.caller.userName);
}

/** Edit and start do not apply to clusters that the jobs service created (contract B 4.3 rule 4). */
function refuseJobCluster(cluster: Cluster, what: string): void {
  if (cluster.source !== "JOB") return;
  throw invalidState(`Cluster ${cluster.cluster_id} was created by the jobs service and cannot be ${what}.`);
}

function resize(call: Call, world: World): void {
  const cluster = named(call, world);
  const size = readSize(configuration(call), "Exactly one of num_workers and autoscale must be given.");
  if (cluster.state !== "RUNNING")
    throw invalidState(
      `Cluster ${cluster.cluster_id} is in unexpected state ${cluster.state}: only a RUNNING cluster can be resized.`,
    );
  const target = workersFor(size, cluster.target);
  resizeCluster(world, cluster, { size, target, cause: "USER_REQUEST", user: call.caller.userName });
}

function terminate(world: World, cluster: Cluster, call: Call): Cluster {
  const { userName } = call.caller;
  return terminateCluster(world, cluster, {
    reason: { code: "USER_REQUEST", type: "SUCCESS", parameters: { username: userName } },
    message: `Terminated at the request of ${userName}.`,
    user: userName,
  });
}

/** A terminated cluster is deleted at once, an active one after it terminates; a pin forbids both (contract B 3.2; facts 4.7). */
function permanentDelete(call: Call, world: World): void {
  const cluster = named(call, world);
  const id = cluster.cluster_id;
  if (pinsOf(world).has(id))
    throw invalidState(
      `Cluster ${id} is pinned and cannot be deleted; an administrator has to unpin it first.`,
    );
  if (cluster.state === "TERMINATED") terminateAndDrop(world, id);
  else putCluster(world, { ...terminate(world, cluster, call), leaving: true });
}

/** Pinning what is pinned has no effect. */
function pin(world: World, cluster: Cluster, caller: Caller): void {
  const pins = pinsOf(world);
  if (pins.has(cluster.cluster_id)) return;
  if (pins.size >= CLUSTERS.pins)
    throw new ApiError("QUOTA_EXCEEDED", `At most ${CLUSTERS.pins} clusters can be pinned.`);
  pins.set(cluster.cluster_id, caller.userId);
  armRetention(world, cluster);
  addEvent(world, cluster.cluster_id, "PINNED", { user: caller.userName });
}

/** Unpinning what is not pinned has no effect. The 30 days of a terminated cluster begin now. */
function unpin(world: World, cluster: Cluster, caller: Caller): void {
  if (!pinsOf(world).delete(cluster.cluster_id)) return;
  armRetention(world, cluster);
  addEvent(world, cluster.cluster_id, "UNPINNED", { user: caller.userName });
}

/** A control request: writes an event. Lost workers (`count`, one by default) are replaced by new ones. */
function injectEvent(world: World, input: JsonObject): void {
  const { type, details = {}, count = 1 } = input;
  const cluster = clusterOr400(world, String(input.cluster_id));
  if (!isTrouble(type)) throw invalidValue(`type must be one of ${INJECTED_EVENTS.join(", ")}.`);
  if (!isObject(details)) throw invalidValue("details must be an object.");
  if (!isRunning(cluster)) throw invalidState(`Cluster ${cluster.cluster_id} is ${cluster.state}.`);
  if (type === "NODES_LOST") loseNodes(world, cluster, Number(count), details);
  else addEvent(world, cluster.cluster_id, type, details);
}

function loseNodes(world: World, cluster: Cluster, count: number, details: JsonObject): void {
  const { cluster_id, size, target } = cluster;
  const workers = cluster.nodes_up - 1;
  if (cluster.state !== "RUNNING" || !Number.isInteger(count) || count < 1 || count > workers)
    throw invalidValue(`count must be from 1 to ${workers}, the workers of a RUNNING cluster.`);
  addEvent(world, cluster_id, "NODES_LOST", {
    current_num_workers: workers - count,
    target_num_workers: target,
    ...details,
  });
  const left = giveNodesBack(world, cluster, count);
  resizeCluster(world, left, { size, target, cause: "AUTORECOVERY", user: "" });
}

const isTrouble = (type: unknown): type is InjectedEvent => INJECTED_EVENTS.some((event) => event === type);

const JDBC_PORT = 10_000;

function describeCluster(cluster: Cluster, now: number): JsonObject {
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
    ...(cluster.spark_context_id !== undefined && { spark_context_id: BigInt(cluster.spark_context_id) }),
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

function listClusters(call: Call, world: World): Reply {
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
