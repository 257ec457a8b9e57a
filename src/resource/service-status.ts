// Reads the states of job runs and clusters from responses of the service.

import { type Json, type JsonObject, objectIn } from "../core/json.ts";

const ENDED = ["TERMINATED", "SKIPPED", "INTERNAL_ERROR"];

export function hasEnded(run: JsonObject): boolean {
  return ENDED.includes(String(objectIn(run.state).life_cycle_state));
}

/** Whether a job run, or one of its tasks, is on a cluster. */
export function isRunOn(run: JsonObject, cluster: string): boolean {
  const { cluster_ids: ofTasks } = run;
  const ids = [
    objectIn(run.cluster_instance).cluster_id,
    objectIn(run.cluster_spec).existing_cluster_id,
    ...(Array.isArray(ofTasks) ? (ofTasks as readonly Json[]) : []),
  ];
  return ids.includes(cluster);
}

export function idText(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : "";
}

/** The reason for the state of a cluster, as the service reports it. */
export function whyText(cluster: JsonObject): string {
  const { code } = objectIn(cluster.termination_reason);
  const message = typeof cluster.state_message === "string" ? cluster.state_message : "";
  return [typeof code === "string" ? code : "", message].filter((text) => text !== "").join(", ");
}
