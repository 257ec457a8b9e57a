// A rule that clusters and the clusters of jobs share: what a pool decides is not said.

import type { JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";

/** The pool decides the node type. */
export function refuseNodeTypeOfPool(cluster: JsonObject): void {
  if (cluster.instance_pool_id === undefined || cluster.node_type_id === undefined) return;
  throw invalidValue("The field 'node_type_id' cannot be supplied when an instance pool ID is provided.");
}
