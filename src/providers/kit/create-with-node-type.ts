// Requests that describe a cluster in a pool: some services demand the node type of the pool, others refuse it.

import type { WriteOperation } from "../../api/contract/reader.ts";
import { isMissing } from "../../api/contract/refusals.ts";
import type { JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import { readIfPresent, responseText } from "./responses.ts";

/** A cluster in a pool is sent without a node type, then with the one of the pool if the service requires it (contract B 2.4, facts 4.2). */
export async function sendCluster(
  api: OperationWriter,
  operation: WriteOperation,
  cluster: JsonObject | undefined,
  inside: (cluster: JsonObject | undefined) => JsonObject,
): Promise<JsonObject> {
  try {
    return await api.write(operation, inside(cluster));
  } catch (refusal) {
    const node_type_id = await nodeTypeFor(api, cluster, refusal);
    if (node_type_id === undefined) throw refusal;
    try {
      return await api.write(operation, inside({ ...cluster, node_type_id }));
    } catch (second) {
      throw second instanceof Refused ? refusal : second;
    }
  }
}

async function nodeTypeFor(
  api: OperationWriter,
  cluster: JsonObject | undefined,
  refusal: unknown,
): Promise<string | undefined> {
  const pool = cluster?.instance_pool_id;
  const mayLackIt = refusal instanceof Refused && refusal.code === "INVALID_PARAMETER_VALUE";
  if (!mayLackIt || pool === undefined || isMissing(refusal)) return undefined;
  const answer = await readIfPresent(() => api.read("instance-pools/get", { instance_pool_id: pool }));
  return answer === undefined ? undefined : responseText(answer, "node_type_id");
}
