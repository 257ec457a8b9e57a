// Every active run of the workspace: what a plan that stops or restarts something wants to know.

import type { Reader } from "../../api/contract/reader.ts";
import type { JsonObject } from "../../core/json.ts";

/** The most that the service gives at once (contract B 4.2 rule 6). */
const PAGE = 999;

export async function listActiveRuns(reader: Reader): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (;;) {
    const answer = await reader.read("jobs/runs/list", {
      active_only: true,
      offset: found.length,
      limit: PAGE,
    });
    const runs = Array.isArray(answer.runs) ? (answer.runs as readonly JsonObject[]) : [];
    found.push(...runs);
    if (answer.has_more !== true || runs.length === 0) return found;
  }
}
