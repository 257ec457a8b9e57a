// Job runs of a host with versions: through 2.1, whose list has pages of few runs, or through 2.0.

import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Handlers, inBothVersions, type JobRequest } from "./jobs.ts";
import { type PagedList, type PagePosition, readPages } from "./pages.ts";
import { objects, taskOf, tasksOfSettings } from "./tasks.ts";
import type { HostVersion } from "./versions.ts";

/** The service refuses 25. */
const PAGE = 24;
/** Of version 2.0. */
const USUAL_LIMIT = 20;

export function runHandlers(request: JobRequest, version: HostVersion): Handlers {
  return {
    "jobs/runs/list": runLister(request, version),
    "jobs/runs/get": (input) =>
      version.read(
        async () => runOfTasks(await request("2.1", "jobs/runs/get", input)),
        () => request("2.0", "jobs/runs/get", input),
      ),
    "jobs/runs/get-output": async (input) => {
      const answer = await request(await version.found(), "jobs/runs/get-output", input);
      return isObject(answer.metadata) ? { ...answer, metadata: runOfTasks(answer.metadata) } : answer;
    },
    "jobs/runs/submit": async (input, permit) => {
      const found = await version.found();
      return request(found, "jobs/runs/submit", found === "2.0" ? input : tasksOfSettings(input), permit);
    },
    ...inBothVersions(SAME, request, version),
  };
}

const SAME = ["jobs/run-now", "jobs/runs/export", "jobs/runs/cancel", "jobs/runs/delete"] as const;

function runLister(request: JobRequest, version: HostVersion): (input: JsonObject) => Promise<JsonObject> {
  /** The position after the last list that did not reach the end, by its filter and the number of runs before it. */
  let position: { readonly key: string; readonly at: PagePosition } | undefined;

  /** At least `limit` runs after the first `offset` ones, unless there are fewer. */
  const listPages = async ({ offset = 0, limit = USUAL_LIMIT, ...filter }: JsonObject) => {
    const before = Number(offset);
    const from = position?.key === canonicalJson({ ...filter, offset: before }) ? position.at : undefined;
    const skipped = from === undefined ? before : 0;
    const most = Number(limit) + skipped;
    const page: PagedList["page"] = (at) =>
      request("2.1", "jobs/runs/list", { ...filter, limit: Math.min(PAGE, most), expand_tasks: true, ...at });
    const list = { operation: "jobs/runs/list", member: "runs", last: "has_more", page } as const;
    const { elements, next } = await readPages(list, most, from);
    const runs = elements.slice(skipped).map((run) => runOfTasks(objectIn(run)));
    const after = canonicalJson({ ...filter, offset: before + runs.length });
    position = next === undefined ? undefined : { key: after, at: next };
    return { ...(runs.length === 0 ? {} : { runs }), has_more: next !== undefined };
  };
  return (input) =>
    version.read(
      () => listPages(input),
      () => request("2.0", "jobs/runs/list", input),
    );
}

/** A run with its only task among its own fields, as in the contract; one with several tasks has `cluster_ids`. */
export function runOfTasks(run: JsonObject): JsonObject {
  const { tasks: all, ...own } = run;
  const tasks = objects(all);
  const [task] = tasks;
  if (task === undefined) return run;
  if (tasks.length > 1) return { ...run, cluster_ids: [...new Set(tasks.flatMap(clusterIds))] };
  const { cluster_instance: instance } = task;
  return {
    task: taskOf(task),
    cluster_spec: clusterOf(task),
    ...(instance === undefined ? {} : { cluster_instance: instance }),
    ...own,
  };
}

const clusterIds = (task: JsonObject): readonly Json[] =>
  [objectIn(task.cluster_instance).cluster_id, task.existing_cluster_id].filter((id) => id !== undefined);

function clusterOf({ existing_cluster_id, new_cluster, libraries }: JsonObject): JsonObject {
  const spec = { existing_cluster_id, new_cluster, libraries };
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as JsonObject;
}
