// How a cluster starts: created, started, restarted, and ready when its nodes are (contract B 3.2; transitions: facts 4.7).

import { CLUSTERS } from "../../world/limits.ts";
import type { World } from "../../world/world.ts";
import type { Tags } from "../compute.ts";
import { waitForInstances } from "../pools/pool.ts";
import { touchCluster } from "./activity.ts";
import { type Cluster, clusterById, putCluster, startingWorkers } from "./cluster.ts";
import { addEvent } from "./events.ts";
import { acquireNodes, lacksNodes, lacksTargetNodes, shortageOf, workersAndShortage } from "./nodes.ts";
import type { ReadCluster } from "./settings.ts";
import { notifyRuns, terminateCluster } from "./terminate.ts";

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
export function startNewCluster(world: World, made: NewCluster): Cluster {
  const id = newClusterId(world);
  const { attributes, size } = made;
  addEvent(world, id, "CREATING", { attributes, cluster_size: size, user: made.user });
  return bringUp(world, {
    cluster_id: id,
    attributes,
    size,
    target: startingWorkers(size),
    nodes: 0,
    nodes_up: 0,
    source: made.source,
    creator_user_name: made.creator,
    ...(made.job_tags === undefined ? {} : { job_tags: made.job_tags }),
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
