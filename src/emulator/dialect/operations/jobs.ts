// Jobs of the dialect: settings in two forms (one task among them, which the contract runs, or a list of tasks), pages from version 2.1 on, partial updates.

import { defined, type Json, type JsonObject, listIn, objectIn, omit, pick } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Operation } from "../../world/world.ts";
import { type Asked, type Hooks, pageInside, pageOf } from "./hook.ts";
import { withPoliciesOfJob } from "./policies.ts";

export const jobHooks: Hooks = {
  "jobs/create": {
    before: ({ input, version, world }) =>
      withLiftedTask(withPoliciesOfJob(world, version === "2.2" ? { ...QUEUED, ...input } : input)),
  },
  "jobs/reset": {
    before: ({ input, world }) => ({
      ...input,
      new_settings: withLiftedTask(withPoliciesOfJob(world, objectIn(input.new_settings))),
    }),
  },
  "jobs/get": { after: (job, asked) => shownJob(job, asked, true) },
  "jobs/list": { after: listJobs },
};

/** Version 2.2 queues the runs of a job unless its settings say otherwise. */
const QUEUED: JsonObject = { queue: { enabled: true } };

/** Lists that version 2.2 shows in pages inside the answer. */
const PAGED = ["tasks", "job_clusters", "environments", "parameters"];
const PAGE = 100;

function shownJob(job: JsonObject, { version, input }: Asked, expand: boolean): JsonObject {
  const { user_name, service_principal_name, group_name } = objectIn(objectIn(job.settings).run_as);
  const runsAs = user_name ?? service_principal_name ?? group_name ?? job.creator_user_name;
  const settings = shownSettings(objectIn(job.settings), version, expand);
  if (version !== "2.2" && listIn(settings.tasks).length > PAGE)
    throw invalidValue("Resources with more than 100 tasks can only be handled by API 2.2 and above.");
  const isList = input.job_id === undefined;
  const { shown, more } =
    version === "2.2"
      ? pageInside(settings, PAGED, PAGE, isList ? undefined : input.page_token)
      : { shown: settings, more: {} };
  return {
    ...job,
    ...defined({ run_as_user_name: runsAs }),
    settings: shown,
    ...more,
  };
}

function listJobs(answer: JsonObject, asked: Asked): JsonObject {
  const { version, input } = asked;
  const expand = input.expand_tasks === true;
  const shown = listIn(answer.jobs).map((job) => shownJob(objectIn(job), asked, expand));
  if (version === "2.0") return shown.length === 0 ? {} : { jobs: shown };
  const name = input.name === undefined ? undefined : String(input.name).toLowerCase();
  const named = shown.filter((job) => name === undefined || nameOf(job) === name);
  return pageOf("jobs", named, input, input.limit);
}

const nameOf = (job: JsonObject): string => String(objectIn(job.settings).name).toLowerCase();

export function updateJob(get: Operation, reset: Operation): Operation {
  return (call, world) => {
    const { job_id = null, new_settings, fields_to_remove } = call.input;
    const reply = get({ ...call, input: { job_id } }, world);
    const job = "json" in reply ? reply.json : {};
    const removed = listIn(fields_to_remove).map(String);
    const settings = updatedSettings(objectIn(job.settings), objectIn(new_settings), removed);
    return reset({ ...call, input: { job_id, new_settings: settings } }, world);
  };
}

const KINDS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"] as const;

/** Fields of a task; settings without a list of tasks have them directly. */
const OF_TASK: readonly string[] = [
  ...KINDS,
  "existing_cluster_id",
  "new_cluster",
  "libraries",
  "max_retries",
  "min_retry_interval_millis",
  "retry_on_timeout",
];

/** Settings with the fields of a single task and its list if the contract can run the task; otherwise with the list alone. */
export function withLiftedTask(settings: JsonObject): JsonObject {
  refuseNodeTypeOfPool(objectIn(settings.new_cluster));
  const tasks = listIn(settings.tasks).map(objectIn);
  if (settings.tasks === undefined) return settings;
  checkTasks(tasks, listIn(settings.job_clusters).map(objectIn));
  const rest = omit(settings, OF_TASK);
  const [task, ...others] = tasks;
  if (task === undefined || others.length > 0) return rest;
  const cluster = clusterOf(task, settings);
  const runs = KINDS.filter((kind) => task[kind] !== undefined).length === 1 && cluster !== undefined;
  if (!runs || isFromGit(task, settings)) return rest;
  return { ...rest, ...pick(task, OF_TASK), ...cluster };
}

/** A file of a repository: by default, where the job has one and the path is relative. */
function isFromGit(task: JsonObject, { git_source }: JsonObject): boolean {
  const { source, notebook_path: path } = objectIn(task.notebook_task ?? task.spark_python_task);
  return (
    source === "GIT" || (git_source !== undefined && path !== undefined && !String(path).startsWith("/"))
  );
}

function clusterOf(task: JsonObject, settings: JsonObject): JsonObject | undefined {
  const { existing_cluster_id, new_cluster, job_cluster_key } = task;
  if (existing_cluster_id !== undefined || new_cluster !== undefined) return {};
  const shared = listIn(settings.job_clusters).map(objectIn);
  const cluster = shared.find((shownCluster) => shownCluster.job_cluster_key === job_cluster_key);
  return cluster === undefined ? undefined : { new_cluster: cluster.new_cluster ?? {} };
}

function checkTasks(tasks: readonly JsonObject[], clusters: readonly JsonObject[]): void {
  const keys = tasks.map((task) => String(task.task_key));
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw invalidValue(`Duplicate task_key '${twice}' in tasks.`);
  for (const task of tasks) {
    refuseNodeTypeOfPool(objectIn(task.new_cluster));
    const { task_key, job_cluster_key } = task;
    if (
      job_cluster_key !== undefined &&
      clusters.every((cluster) => cluster.job_cluster_key !== job_cluster_key)
    )
      throw invalidValue(
        `Job cluster '${String(job_cluster_key)}' of task '${String(task_key)}' is not defined.`,
      );
    for (const { task_key: above } of listIn(task.depends_on).map(objectIn)) {
      if (!keys.includes(String(above)))
        throw invalidValue(`Task '${String(task_key)}' depends on '${String(above)}', which is not defined.`);
    }
  }
}

/** Settings as a version shows them. Tasks are left out of lists that do not ask for them. */
function shownSettings(settings: JsonObject, version: string, expand: boolean): JsonObject {
  const { tasks, job_clusters, ...rest } = settings;
  if (tasks === undefined && version === "2.0") return { ...settings, format: "SINGLE_TASK" };
  const shown = tasks ?? [{ task_key: taskKeyOf(settings), ...pick(settings, OF_TASK) }];
  return {
    ...omit(rest, OF_TASK),
    format: "MULTI_TASK",
    ...(expand ? defined({ tasks: shown, job_clusters }) : {}),
  };
}

/** The key that a task gets which had none. */
export function taskKeyOf({ name, run_name }: JsonObject): string {
  const key = String(name ?? run_name ?? "")
    .replaceAll(/[^\w-]/g, "_")
    .slice(0, 100);
  return key === "" ? "main" : key;
}

/** Top-level fields are replaced, tasks and clusters by their keys; then `fields_to_remove` are removed. */
function updatedSettings(settings: JsonObject, changes: JsonObject, removed: readonly string[]): JsonObject {
  const changed = { ...settings, ...changes };
  const keyed = Object.entries(KEYS)
    .filter(([list]) => settings[list] !== undefined && changes[list] !== undefined)
    .map(([list, key]): [string, Json] => [
      list,
      mergedBy(key, listIn(settings[list]), listIn(changes[list])),
    ]);
  return removed.reduce(withoutField, { ...changed, ...Object.fromEntries(keyed) });
}

const KEYS: Readonly<Record<string, string>> = { tasks: "task_key", job_clusters: "job_cluster_key" };

function mergedBy(key: string, before: readonly Json[], after: readonly Json[]): readonly Json[] {
  const values = new Set(after.map((value) => objectIn(value)[key]));
  return [...before.filter((value) => !values.has(objectIn(value)[key] ?? null)), ...after];
}

function withoutField(settings: JsonObject, field: string): JsonObject {
  const [list = "", ...rest] = field.split("/");
  const key = KEYS[list];
  if (rest.length === 0 || key === undefined) return omit(settings, [field]);
  const left = listIn(settings[list]).filter((value) => objectIn(value)[key] !== rest.join("/"));
  return { ...settings, [list]: left };
}

export function refuseNodeTypeOfPool(cluster: JsonObject): void {
  if (cluster.instance_pool_id === undefined || cluster.node_type_id === undefined) return;
  throw invalidValue("The field 'node_type_id' cannot be supplied when an instance pool ID is provided.");
}
