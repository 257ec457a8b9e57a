// The IDs of other objects in the settings of clusters and jobs.

import { isObject, type Json } from "../../core/json.ts";

/** Fields with the ID of a cluster, pool, warehouse, cluster policy, instance profile, or other job. */
const ID_FIELDS: ReadonlySet<string> = new Set([
  "existing_cluster_id",
  "instance_pool_id",
  "driver_instance_pool_id",
  "warehouse_id",
  "policy_id",
  "instance_profile_arn",
  "job_id",
]);

/** At any depth: of tasks, tasks in loops, and shared clusters. */
export function usedIds(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => usedIds(item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, member]) =>
    ID_FIELDS.has(field) && member !== null ? [String(member)] : usedIds(member),
  );
}
