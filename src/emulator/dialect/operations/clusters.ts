// Clusters and pools of the dialect: rules about pools and pins, what was asked for, default attributes of the cloud, pages.

import { defined, type JsonObject, listIn, objectIn, omit } from "../../../core/json.ts";
import {
  type Cluster,
  clusterById,
  clusterOr400,
  pinsOf,
  putCluster,
} from "../../routes/clusters/cluster.ts";
import { type GivenTags, listCloudNodeTypes, listCurrentRuntimes, readTags } from "../../routes/compute.ts";
import { poolsOf, putPool } from "../../routes/pools/pool.ts";
import { userByName } from "../../world/directory.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import { POOLS } from "../../world/limits.ts";
import { type Call, EMPTY_REPLY, type Operation, type Reply, type World } from "../../world/world.ts";
import type { Cloud } from "../translate.ts";
import { type Asked, type Hooks, once, pageOf } from "./hook.ts";
import { refuseNodeTypeOfPool } from "./jobs.ts";
import { withPolicy } from "./policies.ts";

export const computeHooks: Hooks = {
  "clusters/create": { before: checked, around: createOnce },
  "clusters/edit": { before: checked, around: rememberSpec },
  "clusters/start": { around: refuseUnlessTerminated },
  "clusters/permanent-delete": { around: refusePinned },
  "clusters/get": { after: (cluster, { cloud }) => ({ ...CLUSTER_DEFAULTS[cloud], ...cluster }) },
  "clusters/list": { after: listClusters },
  "clusters/list-node-types": { after: (_answer, { cloud }) => ({ node_types: listCloudNodeTypes(cloud) }) },
  "clusters/spark-versions": { after: () => ({ versions: listCurrentRuntimes() }) },
  "clusters/events": { before: eventsPage, after: listEvents },
  "instance-pools/edit": { after: replaceTags },
  "instance-pools/get": { after: (pool, { cloud }) => ({ ...POOL_DEFAULTS[cloud], ...pool }) },
  "instance-pools/list": { after: listPools },
};

function checked({ input, world }: Asked): JsonObject {
  refuseNodeTypeOfPool(input);
  return withSingleNode(withPolicy(world, input, "all-purpose"));
}

/** What the service adds to a cluster that runs on one machine. */
const SINGLE_NODE = { "spark.databricks.cluster.profile": "singleNode", "spark.master": "local[*]" };

/** Throws INVALID_PARAMETER_VALUE for a cluster of one machine that has a size, or for settings that need `kind`. */
function withSingleNode(cluster: JsonObject): JsonObject {
  const { is_single_node: isSingle, use_ml_runtime: isMl, kind } = cluster;
  if ((isSingle === true || isMl === true) && kind === undefined)
    throw invalidValue("is_single_node and use_ml_runtime require kind CLASSIC_PREVIEW.");
  if (isSingle !== true) return cluster;
  if (cluster.autoscale !== undefined || Number(cluster.num_workers ?? 0) !== 0)
    throw invalidValue("A cluster with is_single_node has no workers.");
  return {
    ...cluster,
    num_workers: 0,
    spark_conf: { ...objectIn(cluster.spark_conf), ...SINGLE_NODE },
    custom_tags: { ...objectIn(cluster.custom_tags), ResourceClass: "SingleNode" },
  };
}

/** Changes the fields of a mask, and keeps the others; `*` names all. */
export function updateCluster(get: Operation, edit: Operation): Operation {
  return (call, world) => {
    const { cluster_id = null, update_mask: mask = "", cluster } = call.input;
    const reply = get({ ...call, input: { cluster_id } }, world);
    const live = "json" in reply ? reply.json : {};
    const asked = objectIn(live.spec ?? live);
    const names = String(mask)
      .split(",")
      .map((name) => name.trim());
    const wanted = objectIn(cluster);
    const settings = names.includes("*")
      ? wanted
      : names.reduce((all, name) => withField(all, wanted, name), asked);
    return edit({ ...call, input: { ...settings, cluster_id } }, world);
  };
}

/** The field with this dotted name from `wanted`; without a value there, it is removed. */
function withField(settings: JsonObject, wanted: JsonObject, name: string): JsonObject {
  const [field = "", ...rest] = name.split(".");
  if (rest.length > 0) {
    const inner = withField(objectIn(settings[field]), objectIn(wanted[field]), rest.join("."));
    return { ...settings, [field]: inner };
  }
  const { [field]: value } = wanted;
  const others = omit(
    settings,
    field === "num_workers" ? ["autoscale"] : field === "autoscale" ? ["num_workers"] : [],
  );
  return value === undefined ? omit(others, [field]) : { ...others, [field]: value };
}

/** Only of a terminated cluster, to a user of the workspace. */
export const changeOwner: Operation = ({ input }, world) => {
  const cluster = clusterOr400(world, String(input.cluster_id));
  if (cluster.state !== "TERMINATED")
    throw invalidState(`Cluster ${cluster.cluster_id} must be terminated to change its owner.`);
  const owner = userByName(world, String(input.owner_username));
  if (owner === undefined) throw invalidValue(`User ${String(input.owner_username)} does not exist.`);
  putCluster(world, { ...cluster, creator_user_name: owner.userName });
  return EMPTY_REPLY;
};

/** A replay of a creation has no effect on `spec`. */
function createOnce(core: Operation, call: Call, asked: Asked): Reply {
  return once((inner, world) => rememberSpec(core, inner, { ...asked, world }), call, asked);
}

/** `get` shows the body of the last create or edit as `spec`. */
function rememberSpec(core: Operation, call: Call, { world, input }: Asked): Reply {
  const reply = core(call, world);
  const answer = "json" in reply ? reply.json : {};
  const cluster = clusterById(world, String(answer.cluster_id ?? input.cluster_id));
  if (cluster !== undefined)
    putExtra(world, cluster, { spec: omit(input, ["cluster_id", "idempotency_token"]) });
  return reply;
}

function putExtra(world: World, { attributes, ...rest }: Cluster, extra: JsonObject): void {
  putCluster(world, { ...rest, attributes: { ...attributes, extra: { ...attributes.extra, ...extra } } });
}

function refuseUnlessTerminated(core: Operation, call: Call, { world }: Asked): Reply {
  const cluster = clusterById(world, String(call.input.cluster_id));
  if (cluster !== undefined && cluster.source !== "JOB" && cluster.state !== "TERMINATED") {
    const state = cluster.state.charAt(0) + cluster.state.slice(1).toLowerCase();
    throw invalidState(`Cluster ${cluster.cluster_id} is in unexpected state ${state}.`);
  }
  return core(call, world);
}

/** Clients look for these words, unpin, and delete again. */
function refusePinned(core: Operation, call: Call, { world }: Asked): Reply {
  const id = String(call.input.cluster_id);
  if (clusterById(world, id) !== undefined && pinsOf(world).has(id))
    throw invalidValue(`Cannot delete pinned cluster ${id}. Please ask an admin to unpin the cluster first.`);
  return core(call, world);
}

/** The attributes that a cloud returns for a cluster that does not set them. */
const CLUSTER_DEFAULTS: Readonly<Record<Cloud, JsonObject>> = {
  azure: {
    azure_attributes: { first_on_demand: 1, availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 },
  },
  aws: {
    aws_attributes: {
      first_on_demand: 0,
      availability: "ON_DEMAND",
      zone_id: "us-west-2a",
      spot_bid_price_percent: 100,
    },
  },
  gcp: {
    gcp_attributes: { use_preemptible_executors: false, availability: "ON_DEMAND_GCP", zone_id: "auto" },
  },
};

const POOL_DEFAULTS: Readonly<Record<Cloud, JsonObject>> = {
  azure: { azure_attributes: { availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 } },
  aws: { aws_attributes: { availability: "SPOT", zone_id: "us-west-2a", spot_bid_price_percent: 100 } },
  gcp: { gcp_attributes: { gcp_availability: "ON_DEMAND_GCP", local_ssd_count: 0, zone_id: "auto" } },
};

function listClusters(answer: JsonObject, { version, input, cloud, world }: Asked): JsonObject {
  const clusters = listIn(answer.clusters).map((value) =>
    omit({ ...CLUSTER_DEFAULTS[cloud], ...objectIn(value) }, ["spec"]),
  );
  if (version === "2.0") return clusters.length === 0 ? {} : { clusters };
  const filtered = clusters.filter((cluster) => passesFilters(cluster, input, world));
  const whole = pageOf("clusters", sortedAsAsked(filtered, input), input, input.page_size);
  const { has_more: _, next_page_token = "", prev_page_token, ...page } = whole;
  return { ...page, ...defined({ next_page_token, prev_page_token }) };
}

function passesFilters(cluster: JsonObject, input: JsonObject, world: World): boolean {
  const { cluster_id, state = null, cluster_source = null, policy_id = null } = cluster;
  const states = listIn(input["filter_by.cluster_states"]);
  const sources = listIn(input["filter_by.cluster_sources"]);
  const isPinned = pinsOf(world).has(String(cluster_id));
  const { "filter_by.is_pinned": pinned = isPinned, "filter_by.policy_id": policy = policy_id } = input;
  return (
    (states.length === 0 || states.includes(state)) &&
    (sources.length === 0 || sources.includes(cluster_source)) &&
    pinned === isPinned &&
    policy === policy_id
  );
}

function sortedAsAsked(clusters: readonly JsonObject[], input: JsonObject): readonly JsonObject[] {
  const nameOf = ({ cluster_name = "" }: JsonObject): string => String(cluster_name);
  const sorted =
    input["sort_by.field"] === "CLUSTER_NAME"
      ? clusters.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
      : clusters;
  return input["sort_by.direction"] === "DESC" ? sorted.toReversed() : sorted;
}

const EVENTS_TOKEN = /^events:(\d{1,15}):(\d{1,15})$/;

/** The page of a token: an offset in the events until a time, so that later events do not shift the pages. */
function eventsPage({ input }: Asked): JsonObject {
  const { page_token: token, page_size: limit, ...request } = input;
  const sized = { ...request, ...defined({ limit: limit === 0 ? undefined : limit }) };
  if (token === undefined || token === "") return sized;
  const [, offset, end_time] = EVENTS_TOKEN.exec(Buffer.from(String(token), "base64").toString()) ?? [];
  if (offset === undefined) throw invalidValue("Invalid page_token.");
  return { ...sized, offset: Number(offset), end_time: Number(end_time) };
}

const eventsToken = (offset: number, end: unknown): string =>
  Buffer.from(`events:${offset}:${String(end)}`).toString("base64");

/** The snapshot and the source of a cluster are stored next to its attributes. */
function listEvents(answer: JsonObject, { input, world }: Asked): JsonObject {
  const { offset = 0, limit = 50, end_time = world.now } = input;
  const before = Math.max(0, Number(offset) - Number(limit));
  const tokens = defined({
    next_page_token:
      answer.next_page && eventsToken(Number(offset) + Number(limit), objectIn(answer.next_page).end_time),
    prev_page_token: Number(offset) > 0 ? eventsToken(before, end_time) : undefined,
  });
  if (answer.events === undefined) return { ...answer, ...tokens };
  const events = listIn(answer.events)
    .map(objectIn)
    .map((event) => {
      const { previous_attributes: previous, ...details } = objectIn(event.details);
      if (previous === undefined) return { ...event, details };
      const previous_attributes = omit(objectIn(previous), ["spec", "cluster_source"]);
      return { ...event, details: { ...details, previous_attributes } };
    });
  return { ...answer, ...tokens, events };
}

/** A control request: says where a cluster comes from, such as a pipeline or a SQL warehouse. */
export function setClusterSource(world: World, { cluster_id, cluster_source }: JsonObject): void {
  const cluster = clusterById(world, String(cluster_id));
  if (cluster === undefined || typeof cluster_source !== "string")
    throw invalidValue("cluster_id must be the ID of a cluster, and cluster_source must be a string.");
  putExtra(world, cluster, { cluster_source });
}

function listPools({ instance_pools, ...rest }: JsonObject, { cloud }: Asked): JsonObject {
  if (instance_pools === undefined) return rest;
  const pools = listIn(instance_pools).map((pool) => ({ ...POOL_DEFAULTS[cloud], ...objectIn(pool) }));
  return { ...rest, instance_pools: pools };
}

/** An edit replaces: without tags there are none afterwards. */
function replaceTags(answer: JsonObject, { world, input }: Asked): JsonObject {
  const pool = poolsOf(world).get(String(input.instance_pool_id));
  if (pool === undefined) return answer;
  const { custom_tags: _before, ...rest } = pool;
  const tags = readTags(input.custom_tags as unknown as GivenTags | undefined, POOLS.custom_tags);
  putPool(world, { ...rest, ...(tags === undefined || tags.length === 0 ? {} : { custom_tags: tags }) });
  return answer;
}
