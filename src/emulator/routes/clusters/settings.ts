// The configuration of a cluster, or of the cluster of a job, as a request gives it, checked and completed (contract B 2.4).

import { defined, type JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import { CLUSTERS } from "../../world/limits.ts";
import { EXTRA, extraOf, type World } from "../../world/world.ts";
import { checkRuntime, type GivenTags, isLegacy, nodeType, readTags } from "../compute.ts";
import { activePool, type Pool } from "../pools/pool.ts";
import type { Attributes, AutoScale, ClusterSize, InitScript } from "./cluster.ts";

type Completed = "spark_version" | "spark_conf" | "custom_tags" | "init_scripts" | "extra";

/** Types and plain bounds were checked with openapi.yaml. */
export interface GivenCluster extends Partial<Omit<Attributes, Completed>> {
  readonly num_workers?: number;
  readonly autoscale?: AutoScale;
  readonly spark_version: string;
  readonly spark_conf?: Readonly<Record<string, string | number | boolean>>;
  readonly custom_tags?: GivenTags;
  readonly init_scripts?: readonly JsonObject[];
  readonly [EXTRA]?: JsonObject;
}

export interface ReadCluster {
  readonly attributes: Attributes;
  readonly size: ClusterSize;
}

/** Throws INVALID_PARAMETER_VALUE, or RESOURCE_DOES_NOT_EXIST for the pool, when the description cannot be a cluster. */
export function readCluster(world: World, request: GivenCluster, tagLimit: number): ReadCluster {
  const size = readSize(request, "Missing required field: size");
  checkRuntime(request.spark_version);
  const minutes = request.autotermination_minutes ?? 0;
  checkAutotermination(minutes);
  const tags = readTags(request.custom_tags, tagLimit);
  const types = readNodeTypes(world, request);
  if (tags !== undefined && tags.length > 0) checkTakesTags(types);
  const scripts = request.init_scripts?.map(readInitScript);
  const logs = request.cluster_log_conf && { fs: { destination: request.cluster_log_conf.fs.destination } };
  const attributes: Attributes = {
    cluster_name: request.cluster_name ?? "",
    spark_version: request.spark_version,
    ...defined({ spark_conf: request.spark_conf && texts(request.spark_conf) }),
    ...types,
    ...defined({
      custom_tags: tags,
      cluster_log_conf: logs,
      init_scripts: scripts,
      spark_env_vars: request.spark_env_vars,
    }),
    autotermination_minutes: minutes,
    ...defined({ ssh_public_keys: request.ssh_public_keys }),
    ...extraOf(request),
  };
  return { attributes, size };
}

/** Exactly one of a number of workers and bounds, the upper strictly above the lower (contract B 2.4). */
export function readSize(
  request: Pick<GivenCluster, "num_workers" | "autoscale">,
  missing: string,
): ClusterSize {
  const { num_workers, autoscale } = request;
  if (autoscale === undefined) {
    if (num_workers === undefined) throw invalidValue(missing);
    checkWorkers(num_workers);
    return { num_workers };
  }
  if (num_workers !== undefined) throw invalidValue("Only one of num_workers and autoscale may be given.");
  const { min_workers = 0, max_workers } = autoscale;
  if (max_workers <= min_workers)
    throw invalidValue(`max_workers (${max_workers}) must be greater than min_workers (${min_workers}).`);
  checkWorkers(max_workers);
  return { autoscale: { min_workers, max_workers } };
}

function checkWorkers(count: number): void {
  if (count <= CLUSTERS.workers) return;
  throw invalidValue(`A cluster has at most ${CLUSTERS.workers} workers. Found: ${count}.`);
}

function checkAutotermination(minutes: number): void {
  const { min, max } = CLUSTERS.autotermination_minutes;
  if (minutes !== 0 && (minutes < min || minutes > max))
    throw invalidValue(`autotermination_minutes must be 0, or from ${min} to ${max}. Found: ${minutes}.`);
}

type NodeTypes = Pick<
  Attributes,
  "node_type_id" | "driver_node_type_id" | "enable_elastic_disk" | "instance_pool_id"
>;

function readNodeTypes(world: World, request: GivenCluster): NodeTypes {
  if (request.instance_pool_id !== undefined)
    return ofPool(activePool(world, request.instance_pool_id), request);
  if (request.node_type_id === undefined) throw invalidValue("Missing required field: node_type_id");
  const driver = request.driver_node_type_id ?? request.node_type_id;
  nodeType(request.node_type_id);
  nodeType(driver);
  return {
    node_type_id: request.node_type_id,
    driver_node_type_id: driver,
    enable_elastic_disk: request.enable_elastic_disk ?? false,
  };
}

/** A cluster of a pool inherits its node type (contract B 2.1); a type that is given all the same must be that one. */
function ofPool(pool: Pool, request: GivenCluster): NodeTypes {
  for (const field of ["node_type_id", "driver_node_type_id"] as const) {
    const type = request[field];
    if (type !== undefined && type !== pool.node_type_id)
      throw invalidValue(
        `${field} ${type} is not the node type of instance pool ${pool.instance_pool_id}: ${pool.node_type_id}.`,
      );
  }
  return {
    node_type_id: pool.node_type_id,
    driver_node_type_id: pool.node_type_id,
    enable_elastic_disk: pool.enable_elastic_disk,
    instance_pool_id: pool.instance_pool_id,
  };
}

/** Legacy node types take no custom tags (contract B 2.4). */
function checkTakesTags({ node_type_id, driver_node_type_id }: NodeTypes): void {
  for (const type of [node_type_id, driver_node_type_id])
    if (isLegacy(type)) throw invalidValue(`custom_tags are not supported on the legacy node type ${type}.`);
}

function readInitScript(script: JsonObject): InitScript {
  const { fs, file } = script as { fs?: Destination; file?: Destination };
  if (fs !== undefined && file === undefined) return { fs: { destination: fs.destination } };
  if (file !== undefined && fs === undefined) return { file: { destination: file.destination } };
  throw invalidValue("An init script needs exactly one of fs and file.");
}

interface Destination {
  readonly destination: string;
}

/** Configuration values are text on the wire (facts 4.7). */
function texts(values: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}
