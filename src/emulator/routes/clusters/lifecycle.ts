// The life of a cluster: created, started, restarted, ready when its nodes are, and terminated; kept for 30 days or while it is
// pinned, then dropped (contract B 3.2, contract B 4.3 rules 1 and 2; transitions: facts 4.7).

import { defined } from "../../../core/json.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import type { Tags } from "../compute.ts";
import { installPolicyLibraries } from "../libraries.ts";
import { waitForInstances } from "../pools/pool.ts";
import {
  type Cluster,
  clusterById,
  dropCluster,
  expireCluster,
  isRunning,
  pinsOf,
  putCluster,
  type Reason,
  startingWorkers,
} from "./cluster.ts";
import { addEvent, dropEvents } from "./events.ts";
import {
  acquireNodes,
  lacksNodes,
  lacksTargetNodes,
  releaseNodes,
  SHRINK,
  shortageOf,
  workersAndShortage,
} from "./nodes.ts";
import type { ReadCluster } from "./settings.ts";

const READY = "clusters.ready";
const REPORT = "clusters.report";

export const startTimers = { [READY]: clusterReady, [REPORT]: reportAutoscaling };

interface NewCluster extends ReadCluster {
  readonly source: "API" | "JOB";
  /** Who asked for it; empty when the platform did. */
  readonly user: string;
  readonly creator: string;
  readonly job_tags?: Tags;
}

/** A new cluster, PENDING; it answers to its id at once (contract B 3.2). */
export function startNewCluster(world: World, newCluster: NewCluster): Cluster {
  const id = newClusterId(world);
  const { attributes, size } = newCluster;
  addEvent(world, id, "CREATING", { attributes, cluster_size: size, user: newCluster.user });
  return bringUp(world, {
    cluster_id: id,
    attributes,
    size,
    target: startingWorkers(size),
    nodes: 0,
    nodes_up: 0,
    source: newCluster.source,
    creator_user_name: newCluster.creator,
    ...defined({ job_tags: newCluster.job_tags }),
    state: "PENDING",
    state_message: "",
    start_time: world.now,
    last_state_loss_time: 0,
    nodes_since: 0,
    node_seed: "",
    runs: [],
  });
}

/** Starts a TERMINATED cluster at its last size; in any other state nothing happens (contract B 3.2). */
export function startCluster(world: World, cluster: Cluster, user: string): void {
  if (cluster.state !== "TERMINATED") return;
  const { termination_reason: _, terminated_time: __, ...rest } = cluster;
  world.timers.cancel(`clusters/${cluster.cluster_id}/retention`);
  addEvent(world, cluster.cluster_id, "STARTING", { cluster_size: cluster.size, user });
  bringUp(world, { ...rest, target: startingWorkers(cluster.size), state: "PENDING" });
}

/** Restarts a RUNNING cluster with its present configuration; in any other state nothing happens (contract B 3.2). */
export function restartCluster(world: World, cluster: Cluster, user: string): void {
  if (cluster.state !== "RUNNING") return;
  const { spark_context_id: _, ...rest } = cluster;
  addEvent(world, cluster.cluster_id, "RESTARTING", { user });
  notifyRuns(world, cluster);
  world.timers.cancel(`clusters/${cluster.cluster_id}/idle`);
  bringUp(world, { ...rest, state: "RESTARTING", last_state_loss_time: world.now });
}

function bringUp(world: World, cluster: Cluster): Cluster {
  const { cluster: equipped, ready_at } = acquireNodes(world, cluster);
  const least = cluster.state === "RESTARTING" ? CLUSTERS.restart_ms : CLUSTERS.pending_ms;
  const id = cluster.cluster_id;
  world.timers.set(`clusters/${id}/state`, Math.max(world.now + least, ready_at), READY, { cluster_id: id });
  const nodes = cluster.target + 1;
  installPolicyLibraries(world, cluster);
  return putCluster(world, {
    ...equipped,
    nodes_up: 0,
    state_message: `Waiting for ${nodes} ${nodes === 1 ? "node" : "nodes"}.`,
  });
}

/** RUNNING with enough of the nodes, else terminated with the reason (contract B 3.2; share: facts 4.2). */
function clusterReady(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster === undefined || (cluster.state !== "PENDING" && cluster.state !== "RESTARTING")) return;
  if (lacksTargetNodes(cluster)) {
    const message = `Only ${cluster.nodes} of ${cluster.target + 1} nodes could be acquired from instance pool ${cluster.attributes.instance_pool_id}.`;
    terminateCluster(world, cluster, { reason: shortageOf(world, cluster), message, user: "" });
    return;
  }
  const running = touchCluster(world, {
    ...cluster,
    state: "RUNNING",
    state_message: "",
    nodes_up: cluster.nodes,
    nodes_since: world.now,
    node_seed: world.hex(16),
    // An integer beyond 2^53, as such a service gives them (facts 4.7).
    spark_context_id: String(2n ** 62n + BigInt(`0x${world.hex(15)}`)),
  });
  tellOfReadiness(world, running);
  notifyRuns(world, running);
  armReport(world, running);
  if (lacksNodes(running)) waitForInstances(world, running.attributes.instance_pool_id ?? "", id);
}

function tellOfReadiness(world: World, cluster: Cluster): void {
  const id = cluster.cluster_id;
  if ((cluster.attributes.init_scripts ?? []).length > 0) {
    addEvent(world, id, "INIT_SCRIPTS_STARTING", {});
    addEvent(world, id, "INIT_SCRIPTS_FINISHED", {});
  }
  addEvent(world, id, "RUNNING", workersAndShortage(world, cluster));
  addEvent(world, id, "DRIVER_HEALTHY", {});
}

/** An autoscaling cluster reports once an hour (contract B 6). */
function armReport(world: World, cluster: Cluster): void {
  const id = cluster.cluster_id;
  const timer = `clusters/${id}/report`;
  if ("autoscale" in cluster.size)
    world.timers.set(timer, world.now + CLUSTERS.autoscaling_report_ms, REPORT, { cluster_id: id });
  else world.timers.cancel(timer);
}

function reportAutoscaling(world: World, id: string): void {
  const cluster = clusterById(world, id);
  if (cluster === undefined || !("autoscale" in cluster.size)) return;
  addEvent(world, id, "AUTOSCALING_STATS_REPORT", {
    current_num_workers: Math.max(0, cluster.nodes_up - 1),
    target_num_workers: cluster.target,
  });
  armReport(world, cluster);
}

/** For example 0301-120000-basil12 (facts 4.7): month, day and time, a word, a number that makes it unique. */
function newClusterId(world: World): string {
  const stamp = new Date(world.now).toISOString().replaceAll(/[-:T]/g, "");
  const number = world.next("clusters", 100);
  return `${stamp.slice(4, 8)}-${stamp.slice(8, 14)}-${WORDS[number % WORDS.length]}${number}`;
}

const WORDS = ["basil", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll"];

const TERMINATED = "clusters.terminated";
const RETENTION_OVER = "clusters.retentionOver";
/** The timer by which a cluster notifies a run; the jobs' area runs it. */
export const RUN_CLUSTER_CHECK = "runs.look";

export const terminateTimers = { [TERMINATED]: clusterTerminated, [RETENTION_OVER]: retentionOver };

interface ClusterEnding {
  readonly reason: Reason;
  readonly message: string;
  /** Empty if the platform terminated the cluster. */
  readonly user: string;
}

/** Lets a run check its cluster after the present request or timer. */
export function notifyRun(world: World, run_id: number): void {
  world.timers.set(`runs/${run_id}/look`, world.now, RUN_CLUSTER_CHECK, { run_id });
}

function notifyRuns(world: World, cluster: Cluster): void {
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

const MINUTE = 60_000;
export const IDLE = "clusters.idle";

/** Notes that the cluster was used now; keeps it. */
function touchCluster(world: World, cluster: Cluster): Cluster {
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
