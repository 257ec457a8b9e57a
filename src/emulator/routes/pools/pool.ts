// A stored instance pool, and the requests of clusters: take instances, return them, wait for some.

import type { JsonObject } from "../../../core/json.ts";
import { notFound } from "../../world/errors.ts";
import type { Collection, World } from "../../world/world.ts";
import type { Tags } from "../compute.ts";
import {
  advanceInstances,
  available,
  type Lot,
  nextChange,
  type PoolSize,
  returnInstances,
  type TakenInstances,
  take,
  usedOnly,
} from "./instances.ts";

export interface Pool extends PoolSize {
  readonly instance_pool_id: string;
  readonly instance_pool_name: string;
  readonly node_type_id: string;
  readonly custom_tags?: Tags;
  readonly enable_elastic_disk: boolean;
  readonly disk_spec?: JsonObject;
  readonly preloaded_spark_versions?: readonly string[];
  /** Fields of a dialect. */
  readonly extra?: JsonObject;
  readonly creator_user_id: string;
  readonly state: "ACTIVE" | "DELETED";
  readonly lots: readonly Lot[];
  /** Clusters that run with fewer nodes than they want. */
  readonly waiting: readonly string[];
}

export const POOL_TIMER = "pools.settle";
/** The timer by which a pool reports new instances to a cluster; the clusters' area runs it. */
export const CLUSTER_RECOVERY = "clusters.recover";

export const poolsOf = (world: World): Collection<Pool> => world.collection("pools");
/** Names of the pools that are not deleted. */
export const poolNames = (world: World): Collection<string> => world.collection("pools.byName");

/** Throws RESOURCE_DOES_NOT_EXIST for a pool that is missing or deleted (facts 4.8). */
export function activePool(world: World, id: string): Pool {
  const pool = poolsOf(world).get(id);
  if (pool?.state !== "ACTIVE") throw notFound(`Can't find an instance pool with id: ${id}`);
  return pool;
}

/** Keeps a pool after its lots are brought to the present; sets its timer and wakes who waits for instances. */
export function putPool(world: World, pool: Pool): Pool {
  const { now } = world;
  const active = pool.state === "ACTIVE";
  const lots = active ? advanceInstances(pool.lots, pool, now) : usedOnly(pool.lots, now);
  const wake = pool.waiting.length > 0 && active && available(lots, pool) > 0;
  for (const cluster_id of wake ? pool.waiting : [])
    world.timers.set(`clusters/${cluster_id}/recover`, now, CLUSTER_RECOVERY, { cluster_id });
  const kept = { ...pool, lots, waiting: wake || !active ? [] : pool.waiting };
  // Nothing is left of a deleted pool once no cluster uses its instances.
  if (active || lots.length > 0) poolsOf(world).set(pool.instance_pool_id, kept);
  else poolsOf(world).delete(pool.instance_pool_id);
  const due = nextChange(lots, pool, now);
  const timer = `pools/${pool.instance_pool_id}`;
  if (due === undefined) world.timers.cancel(timer);
  else world.timers.set(timer, due, POOL_TIMER, { instance_pool_id: pool.instance_pool_id });
  return kept;
}

export function settlePool(world: World, id: string): void {
  const pool = poolsOf(world).get(id);
  if (pool !== undefined) putPool(world, pool);
}

/** As many instances as the pool can give, up to `want`; undefined when the pool is missing or deleted. */
export function takeInstances(
  world: World,
  id: string,
  cluster: string,
  want: number,
): Omit<TakenInstances, "lots"> | undefined {
  const pool = poolsOf(world).get(id);
  if (pool?.state !== "ACTIVE") return undefined;
  const { lots, granted, ready_at } = take(pool.lots, pool, cluster, want, world.now);
  putPool(world, { ...pool, lots });
  return { granted, ready_at };
}

export function giveInstancesBack(world: World, id: string, cluster: string, want: number): void {
  const pool = poolsOf(world).get(id);
  if (pool === undefined || want <= 0) return;
  putPool(world, { ...pool, lots: returnInstances(pool.lots, cluster, want, world.now) });
}

/** Asks to be told, once, when the pool can give instances again. */
export function waitForInstances(world: World, id: string, cluster: string): void {
  const pool = poolsOf(world).get(id);
  if (pool?.state !== "ACTIVE" || pool.waiting.includes(cluster)) return;
  putPool(world, { ...pool, waiting: [...pool.waiting, cluster] });
}
