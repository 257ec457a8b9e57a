// Events of a cluster that only control requests cause: lost nodes, faults of the driver and of disks (contract B 6).

import { isObject, type JsonObject } from "../../../core/json.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import type { World } from "../../world/world.ts";
import { type Cluster, clusterOr400, isRunning } from "./cluster.ts";
import { addEvent, INJECTED_EVENTS, type InjectedEvent } from "./events.ts";
import { giveNodesBack } from "./nodes.ts";
import { resizeCluster } from "./resize.ts";

/** A control request: writes an event. Lost workers (`count`, one by default) are replaced by new ones. */
export function injectEvent(world: World, input: JsonObject): void {
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

const isTrouble = (type: unknown): type is InjectedEvent => INJECTED_EVENTS.some((known) => known === type);
