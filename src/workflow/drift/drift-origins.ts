// Finds who caused drift, and when, if the service records it: in cluster events, or in the object itself.

import type { Reader } from "../../api/contract/reader.ts";
import { Failure } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { Drift, DriftOrigin } from "../../planner/model/plan.ts";
import type { State } from "../../state/model/record.ts";

/** One request for each cluster that differs, and none if nothing does. */
export function withOrigins(drift: readonly Drift[], state: State, api: Reader): Promise<readonly Drift[]> {
  return Promise.all(
    drift.map(async (one) => {
      const id = state.records.get(one.address)?.id;
      const origin =
        one.kind === "clusters" && one.what === "changed" && id !== undefined
          ? await lastEvent(api, id, one)
          : factsOrigin(one);
      return { ...one, origin };
    }),
  );
}

function factsOrigin({ facts = {} }: Drift): DriftOrigin {
  const at = facts.last_updated_timestamp ?? facts.modification_time;
  const creator = facts.creator_user_name;
  return {
    ...(at === undefined ? {} : { at: Number(at) }),
    ...(typeof creator === "string" ? { creator } : {}),
  };
}

const EVENTS: Readonly<Record<string, readonly string[]>> = {
  run_state: ["STARTING", "RESTARTING", "TERMINATING"],
  pinned: ["PINNED", "UNPINNED"],
  num_workers: ["EDITED", "RESIZING"],
  autoscale: ["EDITED", "RESIZING"],
};

async function lastEvent(api: Reader, id: string, drift: Drift): Promise<DriftOrigin> {
  const types = drift.diffs.flatMap(({ path }) => EVENTS[String(path[0])] ?? ["EDITED"]);
  try {
    const query = { cluster_id: id, order: "DESC", limit: 1, event_types: [...new Set(types)] };
    return eventOrigin(await api.read("clusters/events", query));
  } catch (problem) {
    // The author is worth a request, but a failed request does not fail the report.
    if (problem instanceof Failure || problem instanceof Refused) return {};
    throw problem;
  }
}

function eventOrigin({ events }: JsonObject): DriftOrigin {
  const last: Json | undefined = Array.isArray(events) ? events[0] : undefined;
  if (!isObject(last)) return {};
  const by = isObject(last.details) ? last.details.user : undefined;
  return {
    ...(last.timestamp === undefined ? {} : { at: Number(last.timestamp) }),
    ...(typeof by === "string" ? { by } : {}),
  };
}
