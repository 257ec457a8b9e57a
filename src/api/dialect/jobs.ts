// Jobs of a host with versions: read and written through 2.1 if the host has it, through 2.0 otherwise.

import { canonicalJson } from "../../core/digest.ts";
import {
  defined,
  isObject,
  type Json,
  type JsonObject,
  listIn,
  membersWhere,
  objectIn,
} from "../../core/json.ts";
import { isMissing, type Refused, refusedWith } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";
import { allPages, eachTokenPage, elementsIn, type Page, type ReadPage } from "../contract/pages.ts";
import { usedIds } from "../contract/used-ids.ts";
import type { ApiVersion, HostVersion } from "./table.ts";

type Handler = (input: JsonObject, permit?: () => void) => Promise<JsonObject>;

/** Operations that are more than one request in the dialect, or whose form depends on the version. */
export type Handlers = { readonly [operation in OperationName]?: Handler };

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
  const whole = (from: ApiVersion, input: JsonObject) =>
    wholeAnswer("jobs/get", (at) => request(from, "jobs/get", { ...input, ...at }));
  return {
    "jobs/list": (input) =>
      version.read(async (from) => {
        if (from === "2.0") return listOldJobs(request, input);
        const page: ReadPage = (at) =>
          request(from, "jobs/list", { ...input, limit: PAGE, expand_tasks: true, ...at });
        const jobs = await allPages(
          { operation: "jobs/list", member: "jobs", last: "has_more", page },
          "job_id",
        );
        // A list shows only the first tasks of a job.
        const all = (job: JsonObject): Promise<JsonObject> | JsonObject =>
          job.has_more === true ? completed(job, () => whole(from, { job_id: job.job_id ?? "" })) : job;
        return { jobs: (await Promise.all(jobs.map(all))).map(jobOfTasks) };
      }),
    "jobs/get": (input) =>
      version.read(async (from) =>
        from === "2.0"
          ? jobWithoutTasks(await request(from, "jobs/get", input))
          : jobOfTasks(await whole(from, input)),
      ),
    // Fields that the settings do not set are read from the live job right before the write.
    "jobs/reset": async (input, permit) => {
      const apiVersion = await version.current();
      const job = await whole(apiVersion, { job_id: input.job_id ?? "" });
      const { unmanageable } = apiVersion === "2.0" ? jobWithoutTasks(job) : jobOfTasks(job);
      if (typeof unmanageable === "string") throw wouldLoseTasks(unmanageable);
      const live = membersWhere(objectIn(job.settings), (field) => field !== "format");
      const wanted = objectIn(input.new_settings);
      const settings = carry(live, apiVersion === "2.0" ? wanted : settingsWithTasks(wanted, live));
      return request(apiVersion, "jobs/reset", { ...input, new_settings: settings }, permit);
    },
    "jobs/create": inBothVersions("jobs/create", request, version, settingsWithTasks),
    "jobs/delete": inBothVersions("jobs/delete", request, version),
  };
}

async function listOldJobs(request: JobRequest, input: JsonObject): Promise<JsonObject> {
  const { jobs, ...rest } = await request("2.0", "jobs/list", input);
  if (!Array.isArray(jobs)) return rest;
  const read = (job: JsonObject) => request("2.0", "jobs/get", { job_id: job.job_id ?? "" });
  return { ...rest, jobs: await Promise.all(jobs.map((job) => listedJob(objectIn(job), read))) };
}

/** A listed job as `read` finds it; as listed if it was deleted since. */
async function completed(
  job: JsonObject,
  read: (job: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await read(job);
  } catch (failure) {
    if (isMissing(failure)) return job;
    throw failure;
  }
}

/** Lists that version 2.2 shows in pages inside one answer. */
const PAGED: readonly string[] = ["tasks", "job_clusters", "environments", "parameters"];

/** One answer from all its pages. Throws Refused if they do not end. */
async function wholeAnswer(operation: OperationName, read: ReadPage): Promise<JsonObject> {
  const answers: JsonObject[] = [];
  for await (const { answer } of eachTokenPage(operation, "no token", read)) answers.push(answer);
  const [first = {}, ...more] = answers;
  if (more.length === 0) return first;
  const joined = (holder: JsonObject, others: readonly JsonObject[]): JsonObject => ({
    ...holder,
    ...Object.fromEntries(
      PAGED.flatMap((name) => {
        const all = [holder, ...others].flatMap((part) => listIn(part[name]));
        return all.length === 0 ? [] : [[name, all]];
      }),
    ),
  });
  const { has_more: _, next_page_token: __, ...answer } = joined(first, more);
  if (!isObject(first.settings)) return answer;
  return {
    ...answer,
    settings: joined(
      first.settings,
      more.map((part) => objectIn(part.settings)),
    ),
  };
}

/** One request in both versions. `withTasks`: its form in those that have lists of tasks. */
function inBothVersions(
  operation: OperationName,
  request: JobRequest,
  version: HostVersion,
  withTasks = (input: JsonObject) => input,
): Handler {
  return async (input, permit) => {
    const apiVersion = await version.current();
    return request(apiVersion, operation, apiVersion === "2.0" ? input : withTasks(input), permit);
  };
}

/** A job in the list of version 2.0, which does not show several tasks. A plan must know the clusters and pools that they need. */
async function listedJob(
  job: JsonObject,
  read: (job: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { format, tasks } = objectIn(job.settings);
  return jobWithoutTasks(format === "MULTI_TASK" && tasks === undefined ? await completed(job, read) : job);
}

function wouldLoseTasks(reason: string): Refused {
  const message = `jobs/reset was not sent: the job cannot be managed, because ${reason}`;
  return refusedWith(0, "API_REFUSED", message, {
    hint: "the job was changed outside `workspace`; run `workspace plan`, and change the job with the vendor's own tools",
  });
}

const TASK_KINDS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"] as const;

/** What a task holds that the contract has among the settings. Its own mails, timeout and conditions stay its own. */
export const SINGLE_TASK_FIELDS: ReadonlySet<string> = new Set([
  ...TASK_KINDS,
  "existing_cluster_id",
  "new_cluster",
  "libraries",
  "max_retries",
  "min_retry_interval_millis",
  "retry_on_timeout",
]);

const LISTS: ReadonlySet<string> = new Set(["tasks", "job_clusters", "format"]);
/** Key of the only task of a job whose spec names none. */
export const TASK_KEY = "main";

/**
 * A job with tasks: in the contract's form if that expresses all that a spec can have of it, else with its lists. Fields of a
 * single task that no spec has are named in `task_fields`.
 */
function jobOfTasks(job: JsonObject): JsonObject {
  const settings = objectIn(job.settings);
  const reason = unmanageable(settings);
  if (reason !== undefined) return unmanageableJob(job, reason);
  const own = membersWhere(withRunAs(job, settings), (field) => field !== "format");
  const fields = singleTask(settings);
  if (fields === undefined) return { ...job, settings: own };
  const unknown = unknownFields(objects(settings.tasks)[0] ?? {});
  return {
    ...job,
    settings: { ...membersWhere(own, (field) => !LISTS.has(field)), ...fields },
    ...(unknown.length === 0 ? {} : { task_fields: unknown }),
  };
}

/** Why no spec can have a job; undefined if one can. */
function unmanageable(settings: JsonObject): string | undefined {
  const { kind: deployed } = objectIn(settings.deployment);
  if (deployed === "BUNDLE") return "a bundle deploys it";
  if (deployed === "SYSTEM_MANAGED") return "the service manages it";
  const tasks = objects(settings.tasks);
  if (tasks.length === 0) return "it has no task";
  const inner = tasks.map(({ for_each_task: loop }) => objectIn(objectIn(loop).task));
  const unknown = [...tasks, ...inner]
    .flatMap((task) => Object.keys(task))
    .find((field) => field.endsWith("_task") && !KINDS.has(field));
  return unknown === undefined ? undefined : `it has a ${unknown}`;
}

/** The identity of a job that names none is who runs it. */
function withRunAs({ run_as_user_name: name }: JsonObject, settings: JsonObject): JsonObject {
  if (settings.run_as !== undefined || typeof name !== "string" || name === "") return settings;
  return { ...settings, run_as: name.includes("@") ? { user_name: name } : { service_principal_name: name } };
}

/** Members that a spec can have of each task, and the contract does not. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  notebook_task: ["warehouse_id"],
  spark_jar_task: [],
  spark_python_task: [],
  spark_submit_task: [],
};

const KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(MEMBERS),
  "python_wheel_task",
  "pipeline_task",
  "dbt_task",
  "sql_task",
  "run_job_task",
  "condition_task",
  "for_each_task",
  "dashboard_task",
]);

/** The fields of the only task with its key, if the contract's form has all that a spec can have of it; undefined for other jobs. */
export function singleTask(settings: JsonObject): JsonObject | undefined {
  const [task, ...others] = objects(settings.tasks);
  if (task === undefined || others.length > 0 || settings.git_source !== undefined) return undefined;
  if (objects(settings.job_clusters).length > 0 || objects(settings.environments).length > 0)
    return undefined;
  const [kind, second] = Object.keys(task).filter((field) => field.endsWith("_task"));
  const ownMembers = MEMBERS[kind ?? ""];
  if (kind === undefined || ownMembers === undefined || second !== undefined || isFromGit(task))
    return undefined;
  const hasMore = ownMembers.some((member) => objectIn(task[kind])[member] !== undefined);
  if (hasMore || TASK_ONLY_FIELDS.some((field) => !isUsual(field, task[field] ?? null))) return undefined;
  if (task.existing_cluster_id === undefined && task.new_cluster === undefined) return undefined;
  return membersWhere(task, (field) => SINGLE_TASK_FIELDS.has(field) || field === "task_key");
}

/** What a spec can have of a task, and a job with a single task in the contract's form cannot. */
const TASK_ONLY_FIELDS = [
  "description",
  "depends_on",
  "run_if",
  "disabled",
  "job_cluster_key",
  "environment_key",
  "timeout_seconds",
  "disable_auto_optimization",
  "email_notifications",
  "webhook_notifications",
  "notification_settings",
  "health",
] as const;

function unknownFields(task: JsonObject): readonly string[] {
  const knownFields = new Set<string>([...SINGLE_TASK_FIELDS, ...TASK_ONLY_FIELDS, "task_key"]);
  return Object.keys(task)
    .filter((field) => !knownFields.has(field) && !isUsual(field, task[field] ?? null))
    .map((field) => `tasks.${field}`);
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
  const ids = [...new Set(usedIds(job.settings))];
  return {
    ...job,
    settings: defined({ name }),
    unmanageable: reason,
    ...(ids.length === 0 ? {} : { used_ids: ids }),
  };
}

/** Whether a field of a task has the value that the service gives one without it. */
export function isUsual(field: string, value: Json): boolean {
  if (field === "run_if" && value !== null) return value === "ALL_SUCCESS";
  return (
    value === null ||
    value === 0 ||
    value === false ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );
}

const FROM_GIT = "its task comes from a Git repository";

/** Its path is one of the repository, which no field of the contract names. */
function isFromGit({ notebook_task, spark_python_task }: JsonObject): boolean {
  const { notebook_path: path, source } = objectIn(notebook_task ?? spark_python_task);
  return source === "GIT" || (typeof path === "string" && !path.startsWith("/"));
}

/** Settings as requests have them: with a list of tasks. A single task keeps the key that it has. */
function settingsWithTasks(settings: JsonObject, live: JsonObject = {}): JsonObject {
  const { task_key, ...rest } = settings;
  if (rest.tasks !== undefined) return rest;
  const [before, ...others] = objects(live.tasks);
  const key = task_key ?? (others.length === 0 ? before?.task_key : undefined) ?? TASK_KEY;
  return {
    ...membersWhere(rest, (field) => !SINGLE_TASK_FIELDS.has(field)),
    tasks: [{ task_key: key, ...membersWhere(rest, (field) => SINGLE_TASK_FIELDS.has(field)) }],
  };
}

/** The part of a task that defines what it runs. */
const taskOf = (task: JsonObject): JsonObject =>
  membersWhere(task, (field) => TASK_KINDS.some((kind) => kind === field));

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
      version.read(async (from) => {
        if (from === "2.0") return request(from, "jobs/runs/get", input);
        const read = (at: object) => request(from, "jobs/runs/get", { ...input, ...at });
        return runOfTasks(await wholeAnswer("jobs/runs/get", read));
      }),
    "jobs/runs/get-output": async (input) => {
      const answer = await request(await version.current(), "jobs/runs/get-output", input);
      return isObject(answer.metadata) ? { ...answer, metadata: runOfTasks(answer.metadata) } : answer;
    },
    "jobs/runs/submit": inBothVersions("jobs/runs/submit", request, version, settingsWithTasks),
    ...Object.fromEntries(SAME.map((operation) => [operation, inBothVersions(operation, request, version)])),
  };
}

const SAME = ["jobs/run-now", "jobs/runs/export", "jobs/runs/cancel", "jobs/runs/delete"] as const;

function runLister(request: JobRequest, version: HostVersion): (input: JsonObject) => Promise<JsonObject> {
  /** The pages after the last list that did not reach the end, by its filter and the number of runs before them. */
  let rest: { readonly key: string; readonly pages: AsyncGenerator<Page> } | undefined;

  /** At least `limit` runs after the first `offset` ones, unless there are fewer. */
  const listPages = async (from: ApiVersion, { offset = 0, limit = USUAL_LIMIT, ...filter }: JsonObject) => {
    const before = Number(offset);
    const continued = rest?.key === canonicalJson({ ...filter, offset: before }) ? rest.pages : undefined;
    rest = undefined;
    const skipped = continued === undefined ? before : 0;
    const most = Number(limit) + skipped;
    const page: ReadPage = (at) =>
      request(from, "jobs/runs/list", {
        ...filter,
        limit: Math.min(RUNS_PAGE, most),
        expand_tasks: true,
        ...at,
      });
    const list = { operation: "jobs/runs/list", member: "runs" } as const;
    const pages = continued ?? eachTokenPage(list.operation, "has_more", page);
    const elements: Json[] = [];
    let isLast = false;
    while (!isLast && elements.length < most) {
      const { value } = await pages.next();
      elements.push(...elementsIn(list, value?.answer ?? {}));
      isLast = value?.isLast ?? true;
    }
    const runs = elements.slice(skipped).map((run) => runOfTasks(objectIn(run)));
    if (!isLast) rest = { key: canonicalJson({ ...filter, offset: before + runs.length }), pages };
    return { ...(runs.length === 0 ? {} : { runs }), has_more: !isLast };
  };
  return (input) =>
    version.read((from) =>
      from === "2.0" ? request(from, "jobs/runs/list", input) : listPages(from, input),
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
    ...defined({ cluster_instance: instance }),
    ...own,
  };
}

const clusterIds = (task: JsonObject): readonly Json[] =>
  [objectIn(task.cluster_instance).cluster_id, task.existing_cluster_id].filter((id) => id !== undefined);

function clusterOfRun({ existing_cluster_id, new_cluster, libraries }: JsonObject): JsonObject {
  return defined({ existing_cluster_id, new_cluster, libraries });
}
