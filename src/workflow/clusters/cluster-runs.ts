// The active job runs on a cluster.

import type { JsonObject } from "../../core/json.ts";
import { isRunOn } from "../../resource/service-status.ts";
import { listActiveRuns } from "../session/active-runs.ts";
import type { RecordedObject } from "../session/recorded-object.ts";

export async function runsOnCluster({ connection, id }: RecordedObject): Promise<readonly JsonObject[]> {
  return (await listActiveRuns(connection.reader)).filter((run) => isRunOn(run, id));
}
