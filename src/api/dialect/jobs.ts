// Jobs of a host with versions: read and written through 2.1 if the host has it, through 2.0 otherwise.

import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Refused, refusedWith } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";
import { isMissing } from "../contract/refusals.ts";
import { allPages, type PagedList, type PagePosition, readPages } from "./pages.ts";
import type { ApiVersion, HostVersion } from "./table.ts";

type Handler = (input: JsonObject, permit?: () => void) => Promise<JsonObject>;

/** Operations that are more than one request in the dialect, or whose form depends on the version. */
export type Handlers = { readonly [operation in OperationName]?: Handler };

/** One request in the dialect's own form. */
export type JobRequest = (
  version: ApiVersion,
  operation: OperationName,
  input: JsonObject,
  permit?: () => void,
) => Promise<JsonObject>;

/** `live` is the job that a reset replaces, in the contract's form with all its fields. */
type CarryJob = (live: JsonObject, settings: JsonObject) => JsonObject;

const PAGE = 100;

export function jobHandlers(request: JobRequest, version: HostVersion, carry: CarryJob): Handlers {
  return {
    "jobs/list": (input) => {
      const page: PagedList["page"] = (at) =>
        request("2.1", "jobs/list", { ...input, limit: PAGE, expand_tasks: true, ...at });
      const list = { operation: "jobs/list", member: "jobs", last: "has_more", page } as const;
      return version.read(
        async () => ({ jobs: (await allPages(list, "job_id")).map(jobOfTasks) }),
        async () => {
          const { jobs, ...rest } = await request("2.0", "jobs/list", input);
          if (!Array.isArray(jobs)) return rest;
          const read = (job: JsonObject) => request("2.0", "jobs/get", { job_id: job.job_id ?? "" });
          return { ...rest, jobs: await Promise.all(jobs.map((job) => listedJob(objectIn(job), read))) };
        },
      );
    },
    "jobs/get": (input) =>
      version.read(
        async () => jobOfTasks(await request("2.1", "jobs/get", input)),
        async () => jobWithoutTasks(await request("2.0", "jobs/get", input)),
      ),
    "jobs/create": async (settings, permit) => {
      const found = await version.found();
      return request(found, "jobs/create", found === "2.0" ? settings : tasksOfSettings(settings), permit);
    },
    // Fields that the settings do not set are read from the live job right before the write.
    "jobs/reset": async (input, permit) => {
      const found = await version.found();
      const job = await request(found, "jobs/get", { job_id: input.job_id ?? "" });
      const { unmanageable } = found === "2.0" ? jobWithoutTasks(job) : jobOfTasks(job);
      if (typeof unmanageable === "string") throw wouldLoseTasks(unmanageable);
      const live = objectIn(job.settings);
      const wanted = objectIn(input.new_settings);
      const settings =
        found === "2.0" ? carry(live, wanted) : tasksOfSettings(carry(settingsOfTasks(live), wanted), live);
      return request(found, "jobs/reset", { ...input, new_settings: settings }, permit);
    },
    ...inBothVersions(["jobs/delete"], request, version),
  };
}

/** Requests that are the same in both versions. */
function inBothVersions(
  operations: readonly OperationName[],
  request: JobRequest,
  version: HostVersion,
): Handlers {
  const handler =
    (operation: OperationName): Handler =>
    async (input, permit) =>
      request(await version.found(), operation, input, permit);
  return Object.fromEntries(operations.map((operation) => [operation, handler(operation)]));
}

/** A job in the list of version 2.0, which does not show several tasks. A plan must know the clusters and pools that they need. */
async function listedJob(
  job: JsonObject,
  read: (job: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { format, tasks } = objectIn(job.settings);
  if (format !== "MULTI_TASK" || tasks !== undefined) return jobWithoutTasks(job);
  try {
    return jobWithoutTasks(await read(job));
  } catch (failure) {
    // It was deleted after the list was made.
    if (isMissing(failure)) return jobWithoutTasks(job);
    throw failure;
  }
}

function wouldLoseTasks(reason: string): Refused {
  const message = `jobs/reset was not sent: the job cannot be managed, because ${reason}`;
  return refusedWith(0, "API_REFUSED", message, {
    hint: "the job was changed outside `workspace`; run `workspace plan`, and change the job with the vendor's own tools",
  });
}

const TASK_KINDS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"] as const;

/** What a task holds that the contract has among the settings. Its own mails, timeout and conditions stay its own. */
const OF_TASK: ReadonlySet<string> = new Set([
  ...TASK_KINDS,
  "existing_cluster_id",
  "new_cluster",
  "libraries",
  "max_retries",
  "min_retry_interval_millis",
  "retry_on_timeout",
]);

const LISTS: ReadonlySet<string> = new Set(["tasks", "job_clusters", "format"]);
const TASK_KEY = "main";

/**
 * A job with tasks in the contract's form. A job that it cannot express has only its name, the reason in `unmanageable`, and the
 * clusters and pools that its tasks need in `compute_ids`.
 */
function jobOfTasks(job: JsonObject): JsonObject {
  const settings = objectIn(job.settings);
  const reason = unmanageable(settings);
  if (reason !== undefined) return unmanageableJob(job, reason);
  const fields = fieldsOfTask(settings);
  return {
    ...job,
    settings: settingsOfTasks(settings),
    ...(fields.length === 0 ? {} : { task_fields: fields }),
  };
}

/** A job of version 2.0, which has several tasks only in the answer to `jobs/get`. */
function jobWithoutTasks(job: JsonObject): JsonObject {
  const { format, tasks, ...settings } = objectIn(job.settings);
  if (isFromGit(settings)) return unmanageableJob(job, FROM_GIT);
  if (
    format !== "MULTI_TASK" &&
    tasks === undefined &&
    TASK_KINDS.some((kind) => settings[kind] !== undefined)
  )
    return { ...job, settings };
  return unmanageableJob(
    job,
    format === "MULTI_TASK" ? "it has a list of tasks" : "it has no task of a known kind",
  );
}

function unmanageableJob(job: JsonObject, reason: string): JsonObject {
  const { name } = objectIn(job.settings);
  const ids = [...new Set(computeIds(objectIn(job.settings)))];
  return {
    ...job,
    settings: name === undefined ? {} : { name },
    unmanageable: reason,
    ...(ids.length === 0 ? {} : { compute_ids: ids }),
  };
}

/** The fields of a task that the contract does not have, with a value that differs from that of a new task. */
function fieldsOfTask({ tasks, job_clusters }: JsonObject): readonly string[] {
  const [task = {}] = objects(tasks);
  const own = Object.keys(task).filter(
    (field) => !OF_TASK.has(field) && !NAMES.has(field) && !isUsual(field, task[field] ?? null),
  );
  const unused = objects(job_clusters).some((one) => one.job_cluster_key !== task.job_cluster_key);
  return [...own.map((field) => `tasks.${field}`), ...(unused ? ["job_clusters"] : [])];
}

/** What other tasks and the task itself call its parts; a job with one task has no use for them. */
const NAMES: ReadonlySet<string> = new Set(["task_key", "job_cluster_key"]);

function isUsual(field: string, value: Json): boolean {
  if (field === "run_if") return value === "ALL_SUCCESS";
  if (field === "timeout_seconds") return value === 0;
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

const COMPUTE_IDS: ReadonlySet<string> = new Set([
  "existing_cluster_id",
  "instance_pool_id",
  "driver_instance_pool_id",
]);

/** Of tasks, tasks in loops, and shared clusters. */
function computeIds(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(computeIds);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, member]) =>
    COMPUTE_IDS.has(field) && typeof member === "string" ? [member] : computeIds(member),
  );
}

/** Why the contract cannot express a job; undefined if it can. */
function unmanageable(settings: JsonObject): string | undefined {
  const tasks = objects(settings.tasks);
  const [task] = tasks;
  if (task === undefined) return "it has no task";
  if (tasks.length > 1) return `it has ${tasks.length} tasks`;
  const kinds = Object.keys(task).filter((field) => field.endsWith("_task"));
  const [kind = "", ...more] = kinds;
  if (more.length > 0 || !TASK_KINDS.some((one) => one === kind))
    return `its task is ${kinds.length === 0 ? "of an unknown kind" : `a ${kinds.join(" and a ")}`}`;
  if (task.existing_cluster_id === undefined && clusterOf(task, settings) === undefined)
    return "its task has no cluster";
  return isFromGit(task) ? FROM_GIT : undefined;
}

const FROM_GIT = "its task comes from a Git repository";

/** Its path is one of the repository, which no field of the contract names. */
function isFromGit({ notebook_task, spark_python_task }: JsonObject): boolean {
  const { notebook_path: path, source } = objectIn(notebook_task ?? spark_python_task);
  return source === "GIT" || (typeof path === "string" && !path.startsWith("/"));
}

function clusterOf(task: JsonObject, settings: JsonObject): Json | undefined {
  if (task.new_cluster !== undefined) return task.new_cluster;
  const { job_cluster_key: key } = task;
  return key === undefined ? undefined : shared(settings, key)?.new_cluster;
}

const shared = (settings: JsonObject, key: Json): JsonObject | undefined =>
  objects(settings.job_clusters).find((one) => one.job_cluster_key === key);

/** Settings of one task in the contract's form, with all fields that the contract does not have. */
function settingsOfTasks(settings: JsonObject): JsonObject {
  const task = objects(settings.tasks)[0] ?? {};
  const cluster = clusterOf(task, settings);
  return {
    ...only(settings, (field) => !LISTS.has(field)),
    ...only(task, (field) => OF_TASK.has(field)),
    ...(cluster === undefined ? {} : { new_cluster: cluster }),
  };
}

/** Settings in the contract's form as settings with one task. `live`, if there is a job, keeps what the task alone has. */
function tasksOfSettings(settings: JsonObject, live: JsonObject = {}): JsonObject {
  const before = objects(live.tasks)[0] ?? { task_key: TASK_KEY };
  const own = only(before, (field) => !OF_TASK.has(field));
  const { new_cluster, ...task } = only(settings, (field) => OF_TASK.has(field));
  const { job_cluster_key, ...unshared } = own;
  const key = new_cluster === undefined ? undefined : job_cluster_key;
  const placed =
    key !== undefined
      ? { ...own, ...task }
      : { ...unshared, ...task, ...(new_cluster === undefined ? {} : { new_cluster }) };
  const clusters = objects(live.job_clusters).map((one) =>
    key !== undefined && one.job_cluster_key === key ? { ...one, new_cluster: new_cluster ?? {} } : one,
  );
  return {
    ...only(settings, (field) => !OF_TASK.has(field)),
    tasks: [placed],
    ...(clusters.length === 0 ? {} : { job_clusters: clusters }),
  };
}

/** The part of a task that defines what it runs. */
const taskOf = (task: JsonObject): JsonObject =>
  only(task, (field) => TASK_KINDS.some((kind) => kind === field));

function only(object: JsonObject, is: (field: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => is(field)));
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The service refuses 25. */
const RUNS_PAGE = 24;
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
      request("2.1", "jobs/runs/list", {
        ...filter,
        limit: Math.min(RUNS_PAGE, most),
        expand_tasks: true,
        ...at,
      });
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
function runOfTasks(run: JsonObject): JsonObject {
  const { tasks: all, ...own } = run;
  const tasks = objects(all);
  const [task] = tasks;
  if (task === undefined) return run;
  if (tasks.length > 1) return { ...run, cluster_ids: [...new Set(tasks.flatMap(clusterIds))] };
  const { cluster_instance: instance } = task;
  return {
    task: taskOf(task),
    cluster_spec: clusterOfRun(task),
    ...(instance === undefined ? {} : { cluster_instance: instance }),
    ...own,
  };
}

const clusterIds = (task: JsonObject): readonly Json[] =>
  [objectIn(task.cluster_instance).cluster_id, task.existing_cluster_id].filter((id) => id !== undefined);

function clusterOfRun({ existing_cluster_id, new_cluster, libraries }: JsonObject): JsonObject {
  const spec = { existing_cluster_id, new_cluster, libraries };
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as JsonObject;
}
