// The attributes of a Terraform job as those of a job of one task.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { isUnset, renamed } from "./attributes.ts";

const LIBRARIES = { library: "libraries" } as const;

const TASKS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"];

/** What a task has that the job of one task has itself. */
const OF_TASK = [
  ...TASKS,
  "existing_cluster_id",
  "new_cluster",
  "library",
  "max_retries",
  "min_retry_interval_millis",
  "retry_on_timeout",
];

const blocks = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export function jobAttributes(attributes: JsonObject) {
  const { task: given, job_cluster: clusters, ...settings } = attributes;
  const tasks = blocks(given);
  const kinds = [...tasks, settings].flatMap((one) =>
    Object.keys(one).filter((name) => name.endsWith("_task") && !isUnset(one[name])),
  );
  const other = kinds.find((kind) => !TASKS.includes(kind));
  const [task = {}, ...more] = tasks;
  if (more.length > 0) return { attributes: {}, unmanageable: `it has ${tasks.length} tasks` };
  if (other !== undefined) return { attributes: {}, unmanageable: `its task is a ${other}` };
  if (kinds.length === 0) return { attributes: {}, unmanageable: "it has no task" };
  if (!isUnset(settings.git_source))
    return { attributes: {}, unmanageable: "its task comes from a Git repository" };
  const shared = blocks(clusters).find(
    ({ job_cluster_key: key }) => !isUnset(key) && key === task.job_cluster_key,
  );
  const ofTask = Object.fromEntries(
    OF_TASK.flatMap((name) => (isUnset(task[name]) ? [] : [[name, task[name] ?? null]])),
  );
  const known = new Set([...OF_TASK, "task_key", "job_cluster_key", "run_if"]);
  const reason = "it belongs to the task, so the spec does not manage it; updates keep it";
  return {
    attributes: renamed(
      { ...settings, ...ofTask, ...(shared === undefined ? {} : { new_cluster: shared.new_cluster ?? [] }) },
      LIBRARIES,
    ),
    left: Object.entries(task).flatMap(([name, value]) =>
      known.has(name) || isUnset(value) ? [] : [{ path: ["task", 0, name], reason }],
    ),
  };
}
