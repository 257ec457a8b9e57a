// Jobs in their two forms: as the contract has them, with one task among the settings, and with a list of tasks.

import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";

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
export function jobOfTasks(job: JsonObject): JsonObject {
  const settings = objectIn(job.settings);
  const reason = unmanageable(settings);
  if (reason !== undefined) return unmanageableJob(job, reason);
  return { ...job, settings: settingsOfTasks(settings) };
}

/** A job of version 2.0, which has several tasks only in the answer to `jobs/get`. */
export function jobWithoutTasks(job: JsonObject): JsonObject {
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
export function settingsOfTasks(settings: JsonObject): JsonObject {
  const task = objects(settings.tasks)[0] ?? {};
  const cluster = clusterOf(task, settings);
  return {
    ...only(settings, (field) => !LISTS.has(field)),
    ...only(task, (field) => OF_TASK.has(field)),
    ...(cluster === undefined ? {} : { new_cluster: cluster }),
  };
}

/** Settings in the contract's form as settings with one task. `live`, if there is a job, keeps what the task alone has. */
export function tasksOfSettings(settings: JsonObject, live: JsonObject = {}): JsonObject {
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
export const taskOf = (task: JsonObject): JsonObject =>
  only(task, (field) => TASK_KINDS.some((kind) => kind === field));

function only(object: JsonObject, is: (field: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => is(field)));
}

export function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
