// Job runs of a host with versions: through 2.1, whose list has pages of few runs, or through 2.0.

import { canonicalJson } from "../../core/canonical.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import type { OperationName } from "../contract/operations.ts";
import type { JobRequest } from "./jobs.ts";
import { type PagePosition, readPages } from "./pages.ts";
import { objects, taskOf, tasksOfSettings } from "./tasks.ts";
import type { HostVersion } from "./versions.ts";

/** The service refuses 25. */
const PAGE = 24;
/** Of version 2.0. */
const USUAL_LIMIT = 20;

export class VersionedRuns {
  readonly #request: JobRequest;
  readonly #version: HostVersion;
  /** The position after the last list that did not reach the end, by its filter and the number of runs before it. */
  #position: { readonly key: string; readonly at: PagePosition } | undefined;

  constructor(request: JobRequest, version: HostVersion) {
    this.#request = request;
    this.#version = version;
  }

  list(input: JsonObject): Promise<JsonObject> {
    return this.#version.read(
      () => this.#listPages(input),
      () => this.#request("2.0", "jobs/runs/list", input),
    );
  }

  get(input: JsonObject): Promise<JsonObject> {
    return this.#version.read(
      async () => runOfTasks(await this.#request("2.1", "jobs/runs/get", input)),
      () => this.#request("2.0", "jobs/runs/get", input),
    );
  }

  async output(input: JsonObject): Promise<JsonObject> {
    const answer = await this.#request(await this.#version.found(), "jobs/runs/get-output", input);
    return isObject(answer.metadata) ? { ...answer, metadata: runOfTasks(answer.metadata) } : answer;
  }

  async submit(input: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    const version = await this.#version.found();
    const body = version === "2.0" ? input : tasksOfSettings(input);
    return this.#request(version, "jobs/runs/submit", body, permit);
  }

  /** Requests that are the same in both versions. */
  async other(
    operation: OperationName,
    input: JsonObject,
    permit: (() => void) | undefined,
  ): Promise<JsonObject> {
    return this.#request(await this.#version.found(), operation, input, permit);
  }

  /** At least `limit` runs after the first `offset` ones, unless there are fewer. */
  async #listPages({ offset = 0, limit = USUAL_LIMIT, ...filter }: JsonObject): Promise<JsonObject> {
    const before = Number(offset);
    const known = this.#position;
    const at = known?.key === canonicalJson({ ...filter, offset: before }) ? known.at : undefined;
    const skipped = at === undefined ? before : 0;
    const most = Number(limit) + skipped;
    const part = await readPages(
      {
        operation: "jobs/runs/list",
        member: "runs",
        last: "has_more",
        page: (token) =>
          this.#request("2.1", "jobs/runs/list", {
            ...filter,
            limit: Math.min(PAGE, most),
            expand_tasks: true,
            ...(token === undefined ? {} : { page_token: token }),
          }),
      },
      most,
      at,
    );
    const runs = part.elements.slice(skipped).map((run) => runOfTasks(objectIn(run)));
    const after = canonicalJson({ ...filter, offset: before + runs.length });
    this.#position = part.next === undefined ? undefined : { key: after, at: part.next };
    return { ...(runs.length === 0 ? {} : { runs }), has_more: part.next !== undefined };
  }
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
