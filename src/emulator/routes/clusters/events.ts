// The event log of clusters: how entries are written, kept and read page by page (contract B 2.5, contract B 4.3, contract B 6).

import { defined, type Json, type JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import { CLUSTERS } from "../../world/limits.ts";
import type { Call, Collection, Reply, World } from "../../world/world.ts";
import { clusterOr400 } from "./cluster.ts";

/** Types that only control requests cause. */
export const INJECTED_EVENTS = [
  "NODES_LOST",
  "DRIVER_UNAVAILABLE",
  "DRIVER_NOT_RESPONDING",
  "SPARK_EXCEPTION",
  "DBFS_DOWN",
  "METASTORE_DOWN",
  "DID_NOT_EXPAND_DISK",
  "EXPANDED_DISK",
  "FAILED_TO_EXPAND_DISK",
  "NODE_BLACKLISTED",
] as const;

export type InjectedEvent = (typeof INJECTED_EVENTS)[number];

type EventType =
  | InjectedEvent
  | "CREATING"
  | "STARTING"
  | "RESTARTING"
  | "TERMINATING"
  | "EDITED"
  | "RUNNING"
  | "RESIZING"
  | "UPSIZE_COMPLETED"
  | "DRIVER_HEALTHY"
  | "INIT_SCRIPTS_STARTING"
  | "INIT_SCRIPTS_FINISHED"
  | "AUTOSCALING_STATS_REPORT"
  | "PINNED"
  | "UNPINNED";

interface ClusterEvent {
  readonly timestamp: number;
  readonly type: EventType;
  readonly details: JsonObject;
}

const eventsOf = (world: World): Collection<ClusterEvent> => world.collection("clusters.events");
const countsOf = (world: World): Collection<number> => world.collection("clusters.eventCounts");

export function addEvent(world: World, cluster: string, type: EventType, details: object): void {
  const number = countsOf(world).get(cluster) ?? 0;
  countsOf(world).set(cluster, number + 1);
  const event = { timestamp: world.now, type, details: details as JsonObject };
  eventsOf(world).set(`${cluster}/${number}`, event);
}

export function dropEvents(world: World, cluster: string): void {
  const count = countsOf(world).get(cluster) ?? 0;
  for (let number = 0; number < count; number++) eventsOf(world).delete(`${cluster}/${number}`);
  countsOf(world).delete(cluster);
}

interface EventsRequest {
  readonly cluster_id: string;
  readonly start_time?: Json;
  readonly end_time?: Json;
  readonly order?: "ASC" | "DESC";
  readonly event_types?: readonly string[];
  readonly offset?: Json;
  readonly limit?: number;
}

export function readEvents(call: Call, world: World): Reply {
  const request = call.input as unknown as EventsRequest;
  const { cluster_id, start_time, end_time = call.now, order = "DESC", event_types } = request;
  const { limit = CLUSTERS.events_page } = request;
  clusterOr400(world, cluster_id);
  if (request.offset !== undefined && order === "DESC" && request.end_time === undefined)
    throw invalidValue("end_time is required when offset is given and order is DESC.");
  const start = Number(start_time ?? 0);
  const end = Number(end_time);
  const offset = Number(request.offset ?? 0);
  const matches = [...matching(world, cluster_id, start, end, new Set(event_types))];
  if (order === "DESC") matches.reverse();
  const page = matches.slice(offset, offset + limit);
  const events = page.map((event) => ({ cluster_id, ...event }));
  const next = offset + limit;
  return {
    json: {
      ...(events.length === 0 ? {} : { events }),
      // It names an end, so that events that come meanwhile do not shift the pages.
      ...(next < matches.length
        ? {
            next_page: defined({ cluster_id, start_time, end_time, order, event_types, offset: next, limit }),
          }
        : {}),
      total_count: matches.length,
    },
  };
}

function* matching(
  world: World,
  cluster: string,
  start: number,
  end: number,
  types: ReadonlySet<string>,
): Generator<ClusterEvent> {
  const count = countsOf(world).get(cluster) ?? 0;
  for (let number = 0; number < count; number++) {
    const event = eventsOf(world).get(`${cluster}/${number}`);
    if (event === undefined || event.timestamp < start || event.timestamp > end) continue;
    if (types.size === 0 || types.has(event.type)) yield event;
  }
}
