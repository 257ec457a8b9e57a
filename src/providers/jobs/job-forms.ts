// Jobs of the Databricks dialect between a spec, where tasks and what they share have keys, and requests, where they are lists.

import { isUsual, SINGLE_TASK_FIELDS, singleTask, TASK_KEY } from "../../api/dialect/jobs.ts";
import { compareKeys, defined, isObject, type Json, type JsonObject, omit, pick } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Place } from "../../core/sensitive/places.ts";
import type { Values } from "../../resource/field-schema.ts";
import { clusterInSpecForm, placeInCluster, withoutInherited } from "../clusters/fields.ts";
import { int64 } from "../kit/responses.ts";

/** The lists of a job, and the field of an element that is its key in a spec. */
const KEYED = {
  tasks: "task_key",
  job_clusters: "job_cluster_key",
  environments: "environment_key",
} as const;

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Settings of an answer with maps in place of lists. Continuous runs have the status that the service may leave out. */
export function listsToMaps(settings: JsonObject): JsonObject {
  const out: Record<string, Json> = { ...settings };
  for (const [list, key] of Object.entries(KEYED)) {
    if (!Array.isArray(settings[list])) continue;
    out[list] = Object.fromEntries(
      objects(settings[list]).map(({ [key]: name, ...rest }) => [
        String(name),
        list === "environments" && isObject(rest.spec) ? rest.spec : rest,
      ]),
    );
  }
  if (Array.isArray(settings.parameters))
    out.parameters = Object.fromEntries(
      objects(settings.parameters).map(({ name, default: usual }) => [String(name), usual ?? ""]),
    );
  if (isObject(settings.continuous)) out.continuous = { pause_status: "UNPAUSED", ...settings.continuous };
  return out;
}

/** Settings of a request with lists in place of maps, in the order of their keys. */
export function mapsToLists(values: Values): JsonObject {
  const out: Record<string, Json> = { ...values };
  for (const [list, key] of Object.entries(KEYED)) {
    const map = values[list];
    if (!isObject(map)) continue;
    out[list] = inOrder(map).map(([name, element]) => {
      const members = isObject(element) ? element : {};
      if (list === "environments") return { [key]: name, spec: members };
      return { [key]: name, ...(list === "tasks" ? withJobId(members) : members) };
    });
  }
  if (isObject(values.parameters))
    out.parameters = inOrder(values.parameters).map(([name, usual]) => ({ name, default: usual }));
  return out;
}

const inOrder = (map: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(map).sort(compareKeys);

/** IDs of jobs are numbers in requests. */
function withJobId(task: JsonObject): JsonObject {
  const { run_job_task: run, for_each_task: loop } = task;
  const id = isObject(run) ? run.job_id : undefined;
  return {
    ...task,
    ...(isObject(run) && typeof id === "string" && /^\d+$/.test(id)
      ? { run_job_task: { ...run, job_id: int64(id) } }
      : {}),
    ...(isObject(loop) && isObject(loop.task)
      ? { for_each_task: { ...loop, task: withJobId(loop.task) } }
      : {}),
  };
}

/** The fields of a single task under its key. */
export function withTasks(values: Values): Values {
  const { task_key: key, ...rest } = values;
  const task = Object.entries(rest).filter(([field]) => SINGLE_TASK_FIELDS.has(field));
  if (task.length === 0) return values;
  const name = typeof key === "string" ? key : TASK_KEY;
  return { ...omit(rest, [...SINGLE_TASK_FIELDS]), tasks: { [name]: Object.fromEntries(task) } };
}

/** The fields of the only task; what only `tasks` can have of it stays there. */
export function withOnlyTaskLifted(values: Values): Values {
  if (!isObject(values.tasks)) return values;
  const [[key, task] = [], ...others] = Object.entries(values.tasks);
  if (key === undefined || !isObject(task) || others.length > 0) return values;
  const { tasks: _, ...rest } = values;
  const lifted = { ...rest, ...pick(task, [...SINGLE_TASK_FIELDS]), task_key: key };
  const left = Object.entries(task).filter(
    ([field, value]) => !SINGLE_TASK_FIELDS.has(field) && !isUsual(field, value),
  );
  return left.length === 0 ? lifted : { ...lifted, tasks: { [key]: Object.fromEntries(left) } };
}

/** A job with a plain single task, as the client reads it: with the fields of the task. */
export function withPlainTaskLifted(values: Values): Values {
  if (!isObject(values.tasks)) return values;
  const { tasks: _, ...rest } = values;
  const fields = singleTask(mapsToLists(values));
  return fields === undefined ? values : { ...rest, ...fields };
}

/** Tasks, tasks in loops, and shared clusters have the fields of a job with a single task. */
export function placeInJob(path: Path): Place {
  const [field, , loop, inLoop] = path;
  if (field === "tasks" || field === "job_clusters") {
    const length = loop === "for_each_task" && inLoop === "task" ? 4 : 2;
    const place = path.slice(length);
    const isMovable = place.length === 0 || SINGLE_TASK_FIELDS.has(String(place[0]));
    return { holder: path.slice(0, length), place: isMovable ? placeInTask(place) : ["tasks", ...place] };
  }
  if (SINGLE_TASK_FIELDS.has(String(field))) return { holder: [], place: placeInTask(path) };
  return { place: field === "job_parameters" ? ["parameters", ...path.slice(1)] : path };
}

const placeInTask = (path: Path): Path =>
  path[0] === "new_cluster" ? ["new_cluster", ...placeInCluster(path.slice(1))] : path;

/** The values with each cluster that the job describes changed. */
function withClusters(values: Values, change: (cluster: Values) => Values): Values {
  const of = (holder: JsonObject): JsonObject => {
    const { new_cluster: cluster, for_each_task: loop } = holder;
    const changed = isObject(cluster) ? { ...holder, new_cluster: change(cluster) } : holder;
    return isObject(loop) && isObject(loop.task)
      ? { ...changed, for_each_task: { ...loop, task: of(loop.task) } }
      : changed;
  };
  const each = (map: Json | undefined): JsonObject | undefined =>
    isObject(map)
      ? Object.fromEntries(
          Object.entries(map).map(([key, holder]) => [key, isObject(holder) ? of(holder) : holder]),
        )
      : undefined;
  const [tasks, clusters] = [each(values.tasks), each(values.job_clusters)];
  const changed = of(values);
  return tasks === undefined && clusters === undefined
    ? changed
    : { ...changed, ...defined({ tasks, job_clusters: clusters }) };
}

export const withClustersInSpecForm = (values: Values): Values => withClusters(values, clusterInSpecForm);
export const withoutInheritedValues = (values: Values): Values => withClusters(values, withoutInherited);
