// Starts a run of a recorded job.

import { Failure } from "../../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { UnknownOutcome } from "../../core/request-failure.ts";
import type { Connection } from "../session/connect.ts";
import { numberId, type RecordedObject } from "../session/recorded-object.ts";
import { hasParameters, type Parameters, parametersFor } from "./parameters.ts";

/** A start is never repeated blindly: where its outcome is unknown, the failure says how to find out. */
export async function runJobNow(
  { connection, id, address }: RecordedObject,
  wish: Parameters,
): Promise<JsonObject> {
  const job_id = numberId(id);
  const parameters = hasParameters(wish)
    ? parametersFor(address, await settingsOf(connection, job_id), wish)
    : {};
  try {
    return await connection.writer.write("jobs/run-now", { job_id, ...parameters });
  } catch (failure) {
    if (!(failure instanceof UnknownOutcome)) throw failure;
    const hint = `see whether it has started: workspace runs list --job ${address}`;
    throw new Failure({ ...failure.diagnostic, hint });
  }
}

async function settingsOf({ reader }: Connection, job_id: number | bigint): Promise<JsonObject> {
  return objectIn((await reader.read("jobs/get", { job_id })).settings);
}
