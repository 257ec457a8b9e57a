// A stored instance pool and its instances, held as lots: how clusters take and return them, and how they start and are released.

import type { JsonObject } from "../../../core/json.ts";
import { notFound } from "../../world/errors.ts";
import { POOLS } from "../../world/limits.ts";
import type { Collection, World } from "../../world/world.ts";
import type { Tags } from "../compute.ts";

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
  const stored = { ...pool, lots, waiting: wake || !active ? [] : pool.waiting };
  // Nothing is left of a deleted pool once no cluster uses its instances.
  if (active || lots.length > 0) poolsOf(world).set(pool.instance_pool_id, stored);
  else poolsOf(world).delete(pool.instance_pool_id);
  const due = nextChange(lots, pool, now);
  const timer = `pools/${pool.instance_pool_id}`;
  if (due === undefined) world.timers.cancel(timer);
  else world.timers.set(timer, due, POOL_TIMER, { instance_pool_id: pool.instance_pool_id });
  return stored;
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

/** Instances that share their fate. Pending: ready at `at`. Idle: idle since `at`. In use: `cluster_id` says by whom. */
export interface Lot {
  readonly count: number;
  readonly pending: boolean;
  readonly at: number;
  readonly cluster_id?: string;
}

/** What decides how many instances a pool keeps. */
export interface PoolSize {
  readonly min_idle_instances: number;
  readonly max_capacity?: number;
  readonly idle_instance_autotermination_minutes: number;
}

interface TakenInstances {
  readonly lots: readonly Lot[];
  readonly granted: number;
  /** When the last of them is ready. */
  readonly ready_at: number;
}

const MINUTE = 60_000;
const count = (lots: readonly Lot[], of: (lot: Lot) => boolean): number =>
  lots.reduce((sum, lot) => (of(lot) ? sum + lot.count : sum), 0);
const isIdle = (lot: Lot): boolean => lot.cluster_id === undefined;

export function statsOf(lots: readonly Lot[]): JsonObject {
  return {
    used_count: count(lots, (lot) => !lot.pending && !isIdle(lot)),
    idle_count: count(lots, (lot) => !lot.pending && isIdle(lot)),
    pending_used_count: count(lots, (lot) => lot.pending && !isIdle(lot)),
    pending_idle_count: count(lots, (lot) => lot.pending && isIdle(lot)),
  };
}

/** Instances that a cluster could get now: idle ones, and those that the capacity leaves to be requested. */
export function available(lots: readonly Lot[], size: PoolSize): number {
  return count(lots, isIdle) + room(lots, size);
}

function room(lots: readonly Lot[], { max_capacity }: PoolSize): number {
  if (max_capacity === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, max_capacity - count(lots, () => true));
}

/** Takes instances for a cluster: ready idle ones, then pending idle ones, then new ones up to the capacity (contract B 1). */
export function take(
  lots: readonly Lot[],
  size: PoolSize,
  cluster: string,
  want: number,
  now: number,
): TakenInstances {
  let open = want;
  let readyAt = now;
  const out: Lot[] = [];
  const order = [...lots].sort((a, b) => Number(a.pending) - Number(b.pending) || a.at - b.at);
  for (const lot of order) {
    const share = isIdle(lot) ? Math.min(open, lot.count) : 0;
    if (share > 0) {
      open -= share;
      out.push({ ...lot, count: share, cluster_id: cluster });
      if (lot.pending) readyAt = Math.max(readyAt, lot.at);
    }
    if (share < lot.count) out.push({ ...lot, count: lot.count - share });
  }
  const fresh = Math.min(open, room(lots, size));
  if (fresh > 0) {
    readyAt = now + POOLS.provision_ms;
    out.push({ count: fresh, pending: true, at: readyAt, cluster_id: cluster });
  }
  return { lots: merge(out), granted: want - open + fresh, ready_at: readyAt };
}

/** Gives instances of a cluster back, pending ones first; they are idle from now on. */
export function returnInstances(
  lots: readonly Lot[],
  cluster: string,
  want: number,
  now: number,
): readonly Lot[] {
  let open = want;
  const out: Lot[] = [];
  for (const lot of [...lots].sort((a, b) => Number(b.pending) - Number(a.pending))) {
    const share = lot.cluster_id === cluster ? Math.min(open, lot.count) : 0;
    open -= share;
    if (share > 0) out.push({ count: share, pending: lot.pending, at: lot.pending ? lot.at : now });
    if (share < lot.count) out.push({ ...lot, count: lot.count - share });
  }
  return merge(out);
}

/** The lots at `now`: pending ones that are ready, none idle for too long, the minimum requested (contract B 4.1 rule 1). */
export function advanceInstances(lots: readonly Lot[], size: PoolSize, now: number): readonly Lot[] {
  const ready = lots.map((lot) => (lot.pending && lot.at <= now ? { ...lot, pending: false } : lot));
  const lotsLeft = letGo(ready, size, now);
  const missing = Math.min(size.min_idle_instances - count(lotsLeft, isIdle), room(lotsLeft, size));
  if (missing <= 0) return merge(lotsLeft);
  return merge([...lotsLeft, { count: missing, pending: true, at: now + POOLS.provision_ms }]);
}

/** Ends idle instances beyond the minimum whose time is over, and those beyond a capacity that was lowered. */
function letGo(lots: readonly Lot[], size: PoolSize, now: number): readonly Lot[] {
  const total = count(lots, () => true);
  let over = Math.max(0, total - (size.max_capacity ?? Number.POSITIVE_INFINITY));
  let excess = Math.max(0, count(lots, isIdle) - size.min_idle_instances);
  const timeout = size.idle_instance_autotermination_minutes * MINUTE;
  return [...lots]
    .sort((a, b) => a.at - b.at)
    .flatMap((lot) => {
      if (!isIdle(lot)) return [lot];
      const expired = lot.pending || lot.at + timeout > now ? 0 : Math.min(excess, lot.count);
      const gone = Math.max(expired, Math.min(over, lot.count));
      excess -= Math.min(excess, gone);
      over -= Math.min(over, gone);
      return gone < lot.count ? [{ ...lot, count: lot.count - gone }] : [];
    });
}

/** Of a deleted pool only what clusters use is left (contract B 3.1). */
function usedOnly(lots: readonly Lot[], now: number): readonly Lot[] {
  const used = lots.filter((lot) => !isIdle(lot));
  return merge(used.map((lot) => (lot.pending && lot.at <= now ? { ...lot, pending: false } : lot)));
}

export function nextChange(lots: readonly Lot[], size: PoolSize, now: number): number | undefined {
  const times = lots.filter((lot) => lot.pending).map((lot) => lot.at);
  if (count(lots, isIdle) > size.min_idle_instances) {
    const timeout = size.idle_instance_autotermination_minutes * MINUTE;
    times.push(...lots.filter((lot) => isIdle(lot) && !lot.pending).map((lot) => lot.at + timeout));
  }
  const later = times.filter((at) => at > now);
  return later.length === 0 ? undefined : Math.min(...later);
}

/** Puts lots together that differ in nothing but their count; for those in use and ready, the time says nothing. */
function merge(lots: readonly Lot[]): readonly Lot[] {
  const byKey = new Map<string, Lot>();
  for (const lot of lots) {
    const at = !lot.pending && !isIdle(lot) ? 0 : lot.at;
    const key = `${lot.pending} ${at} ${lot.cluster_id ?? ""}`;
    byKey.set(key, { ...lot, at, count: lot.count + (byKey.get(key)?.count ?? 0) });
  }
  return [...byKey.values()];
}
