// Instance pools (contract B 4.1): create, edit, delete, get, list.

import { defined, type JsonObject } from "../../../core/json.ts";
import { hasEntitlement } from "../../world/directory.ts";
import { invalidValue, permissionDenied } from "../../world/errors.ts";
import { POOLS } from "../../world/limits.ts";
import { type Area, type Call, extraOf, type Reply, type World } from "../../world/world.ts";
import { checkRuntime, type GivenTags, nodeType, readTags, tagsOf } from "../compute.ts";
import {
  activePool,
  POOL_TIMER,
  type Pool,
  type PoolSize,
  poolNames,
  poolsOf,
  putPool,
  settlePool,
  statsOf,
} from "./pool.ts";

export const poolsArea: Area = {
  operations: {
    "instance-pools/create": create,
    "instance-pools/edit": edit,
    "instance-pools/delete": remove,
    "instance-pools/get": (call, world) => ({ json: describe(activePool(world, idOf(call))) }),
    "instance-pools/list": list,
  },
  timers: { [POOL_TIMER]: (world, payload) => settlePool(world, String(payload.instance_pool_id)) },
};

/** The editable fields as a request gives them; openapi.yaml has checked types and bounds. */
interface GivenSize {
  readonly instance_pool_name: string;
  readonly min_idle_instances?: number;
  readonly max_capacity?: number;
  readonly idle_instance_autotermination_minutes?: number;
}

interface GivenPool extends GivenSize {
  readonly node_type_id: string;
  readonly custom_tags?: GivenTags;
  readonly enable_elastic_disk?: boolean;
  readonly disk_spec?: DiskSpec;
  readonly preloaded_spark_versions?: readonly string[];
}

interface DiskSpec {
  readonly disk_type?: { readonly cloud_disk_volume_type?: string };
  readonly disk_count?: number;
  readonly disk_size?: number;
}

function create(call: Call, world: World): Reply {
  if (!hasEntitlement(world, call.caller, "allow-instance-pool-create"))
    throw permissionDenied(`User ${call.caller.userName} may not create instance pools.`);
  const request = call.input as unknown as GivenPool;
  const size = readSize(request);
  checkNameFree(world, request.instance_pool_name);
  checkDisks(request.node_type_id, request.disk_spec);
  for (const version of request.preloaded_spark_versions ?? []) checkRuntime(version);
  const tags = readTags(request.custom_tags, POOLS.custom_tags);
  const id = newPoolId(world);
  poolNames(world).set(request.instance_pool_name, id);
  putPool(world, {
    instance_pool_id: id,
    instance_pool_name: request.instance_pool_name,
    node_type_id: request.node_type_id,
    ...size,
    ...defined({ custom_tags: tags }),
    enable_elastic_disk: request.enable_elastic_disk ?? true,
    ...defined({
      disk_spec: request.disk_spec && knownDiskFields(request.disk_spec),
      preloaded_spark_versions: request.preloaded_spark_versions,
    }),
    ...extraOf(call.input),
    creator_user_id: call.caller.userId,
    state: "ACTIVE",
    lots: [],
    waiting: [],
  });
  return { json: { instance_pool_id: id } };
}

/** Replaces the four editable fields; what is left out goes back to its default (contract B 4.1 rule 2). */
function edit(call: Call, world: World): void {
  const request = call.input as unknown as GivenPool;
  const pool = activePool(world, idOf(call));
  if (request.node_type_id !== pool.node_type_id)
    throw invalidValue(
      `The node type of a pool cannot be changed. Original: ${pool.node_type_id}, given: ${request.node_type_id}.`,
    );
  const size = readSize(request);
  if (request.instance_pool_name !== pool.instance_pool_name) {
    checkNameFree(world, request.instance_pool_name);
    poolNames(world).delete(pool.instance_pool_name);
    poolNames(world).set(request.instance_pool_name, pool.instance_pool_id);
  }
  const { max_capacity: _, ...rest } = pool;
  putPool(world, { ...rest, ...size, instance_pool_name: request.instance_pool_name });
}

/** Idle instances are released, running clusters keep theirs, and no cluster gets new ones (contract B 3.1). */
function remove(call: Call, world: World): void {
  const pool = activePool(world, idOf(call));
  poolNames(world).delete(pool.instance_pool_name);
  putPool(world, { ...pool, state: "DELETED" });
}

function list(_call: Call, world: World): Reply {
  const pools = [...poolsOf(world).values()].filter((pool) => pool.state === "ACTIVE");
  return { json: pools.length === 0 ? {} : { instance_pools: pools.map(describe) } };
}

function describe(pool: Pool): JsonObject {
  const { creator_user_id, lots, waiting: _, ...fields } = pool;
  return {
    ...fields,
    default_tags: tagsOf({
      Vendor: "Workspace",
      PlatformInstancePoolCreatorId: creator_user_id,
      PlatformInstancePoolId: pool.instance_pool_id,
    }),
    stats: statsOf(lots),
    status: {},
  };
}

function readSize(request: GivenSize): PoolSize {
  const { min_idle_instances = 0, max_capacity } = request;
  if (max_capacity !== undefined && max_capacity < min_idle_instances)
    throw invalidValue(
      `max_capacity (${max_capacity}) is lower than min_idle_instances (${min_idle_instances}).`,
    );
  return {
    min_idle_instances,
    ...defined({ max_capacity }),
    idle_instance_autotermination_minutes:
      request.idle_instance_autotermination_minutes ?? POOLS.default_idle_minutes,
  };
}

function checkNameFree(world: World, name: string): void {
  if (poolNames(world).has(name)) throw invalidValue(`An instance pool named ${name} exists already.`);
}

/** Disks fit the node type: at most its maximum, and at least one if it has no local disks (contract B 2.1). */
function checkDisks(type: string, disks: DiskSpec | undefined): void {
  const { local_disk, max_disks } = nodeType(type);
  const count = disks?.disk_count ?? 0;
  if (count > max_disks)
    throw invalidValue(`Node type ${type} takes at most ${max_disks} disks. Found: ${count}.`);
  if (count === 0 && !local_disk)
    throw invalidValue(`Node type ${type} has no local disk: disk_spec.disk_count must be at least 1.`);
}

function knownDiskFields(diskSpec: DiskSpec): JsonObject {
  const { disk_type, disk_count, disk_size } = diskSpec;
  const kind = disk_type?.cloud_disk_volume_type;
  const type = kind === undefined ? undefined : { cloud_disk_volume_type: kind };
  return defined({ disk_type: type, disk_count, disk_size });
}

/** For example 0301-120000-brick1-pool-1f0a93c2 (facts 4.8). */
function newPoolId(world: World): string {
  const stamp = new Date(world.now).toISOString().replaceAll(/[-:T]/g, "");
  const number = world.next("pools");
  return `${stamp.slice(4, 8)}-${stamp.slice(8, 14)}-brick${number}-pool-${world.hex(8)}`;
}

const idOf = (call: Call): string => String(call.input.instance_pool_id);
