// A stored cluster, its lookup, and the indexes for lists and retention.

import type { JsonObject } from "../../../core/json.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { Collection, World } from "../../world/world.ts";
import type { Tags } from "../compute.ts";

type ClusterState = "PENDING" | "RUNNING" | "RESTARTING" | "RESIZING" | "TERMINATING" | "TERMINATED";

export interface AutoScale {
  readonly min_workers: number;
  readonly max_workers: number;
}

export type ClusterSize = { readonly num_workers: number } | { readonly autoscale: AutoScale };

/** Attributes that create and edit set in addition to the size (contract B 2.4), with defaults filled in. */
export interface Attributes {
  readonly cluster_name: string;
  readonly spark_version: string;
  readonly spark_conf?: Readonly<Record<string, string>>;
  readonly node_type_id: string;
  readonly driver_node_type_id: string;
  readonly custom_tags?: Tags;
  readonly cluster_log_conf?: { readonly fs: { readonly destination: string } };
  readonly init_scripts?: readonly InitScript[];
  readonly spark_env_vars?: Readonly<Record<string, string>>;
  readonly autotermination_minutes: number;
  readonly enable_elastic_disk: boolean;
  readonly instance_pool_id?: string;
  readonly ssh_public_keys?: readonly string[];
  /** Fields of a dialect. */
  readonly extra?: JsonObject;
}

export type InitScript =
  | { readonly fs: { readonly destination: string } }
  | { readonly file: { readonly destination: string } };

export interface Reason {
  readonly code: string;
  readonly type: "SUCCESS" | "CLIENT_ERROR" | "SERVICE_FAULT" | "CLOUD_FAILURE";
  readonly parameters: Readonly<Record<string, string>>;
}

export interface Cluster {
  readonly cluster_id: string;
  readonly attributes: Attributes;
  readonly size: ClusterSize;
  /** Workers that the cluster should have now; within the bounds if it has autoscale. */
  readonly target: number;
  /** Nodes that it has got, the driver among them, and how many of those are up. */
  readonly nodes: number;
  readonly nodes_up: number;
  /** The pool that its nodes came from: an edit may name another one before the restart. */
  readonly nodes_from?: string;
  readonly source: "API" | "JOB";
  readonly creator_user_name: string;
  /** Tags that the platform adds to a job's cluster. */
  readonly job_tags?: Tags;
  readonly state: ClusterState;
  readonly state_message: string;
  readonly start_time: number;
  readonly terminated_time?: number;
  readonly last_state_loss_time: number;
  readonly last_activity_time?: number;
  readonly termination_reason?: Reason;
  /** Decimal digits of a number beyond 2^53; present while the driver is up. */
  readonly spark_context_id?: string;
  /** When the nodes came up, and what their ids are derived from. */
  readonly nodes_since: number;
  readonly node_seed: string;
  readonly runs: readonly number[];
  /** Set by permanent-delete: the cluster is deleted once it is terminated. */
  readonly leaving?: true;
}

const clustersOf = (world: World): Collection<Cluster> => world.collection("clusters");
export const activeIds = (world: World): Collection<true> => world.collection("clusters.active");
/** Terminated clusters, in the order in which they ended; the value says whether the jobs service made them. */
export const terminatedIds = (world: World): Collection<boolean> => world.collection("clusters.terminated");
/** Pinned clusters, with the id of the user who pinned each. */
export const pinsOf = (world: World): Collection<string> => world.collection("clusters.pinned");
/** Clusters that were dropped 30 days after they ended. */
const expiredIds = (world: World): Collection<true> => world.collection("clusters.expired");

export const clusterById = (world: World, id: string): Cluster | undefined => clustersOf(world).get(id);

/** Throws the error that the service gives for a cluster that is not there (facts 4.7). */
export function clusterOr400(world: World, id: string): Cluster {
  const cluster = clusterById(world, id);
  if (cluster !== undefined) return cluster;
  if (expiredIds(world).has(id))
    throw invalidState(
      `Cannot access cluster ${id} that was terminated or unpinned more than ${CLUSTERS.retention_days} days ago.`,
    );
  throw invalidValue(`Cluster ${id} does not exist`);
}

/** Stores a cluster and updates the indexes of its state. */
export function putCluster(world: World, cluster: Cluster): Cluster {
  const id = cluster.cluster_id;
  clustersOf(world).set(id, cluster);
  if (cluster.state === "TERMINATED") {
    activeIds(world).delete(id);
    if (!terminatedIds(world).has(id)) terminatedIds(world).set(id, cluster.source === "JOB");
  } else {
    terminatedIds(world).delete(id);
    if (!activeIds(world).has(id)) activeIds(world).set(id, true);
  }
  return cluster;
}

export function dropCluster(world: World, id: string): void {
  clustersOf(world).delete(id);
  activeIds(world).delete(id);
  terminatedIds(world).delete(id);
  pinsOf(world).delete(id);
  for (const timer of ["state", "idle", "shrink", "report", "recover", "retention"])
    world.timers.cancel(`clusters/${id}/${timer}`);
}

/** Drops a cluster at the end of its retention; later requests get an error that says so. */
export function expireCluster(world: World, id: string): void {
  dropCluster(world, id);
  expiredIds(world).set(id, true);
}

/** The size that a cluster starts with: its last one, or the lower bound (contract B 3.2, contract B 4.3 rule 5). */
export function startingWorkers(size: ClusterSize): number {
  return "autoscale" in size ? size.autoscale.min_workers : size.num_workers;
}

export const isRunning = (cluster: Cluster): boolean =>
  cluster.state === "RUNNING" || cluster.state === "RESIZING";
