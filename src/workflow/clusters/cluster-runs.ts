// The active job runs on a cluster.

import { type JsonObject, objectIn } from "../../core/json.ts";
import { listActiveRuns } from "../session/active-runs.ts";
import type { RecordedObject } from "../session/recorded-object.ts";

export async function runsOnCluster({ connection, id }: RecordedObject): Promise<readonly JsonObject[]> {
  return (await listActiveRuns(connection.reader)).filter((run) => isOn(run, id));
}

function isOn(run: JsonObject, cluster: string): boolean {
  return (
    objectIn(run.cluster_instance).cluster_id === cluster ||
    objectIn(run.cluster_spec).existing_cluster_id === cluster
  );
}
