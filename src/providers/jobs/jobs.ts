// Jobs (contract B 2.2 and contract B 4.2). A job is created inert with a token in its name, then reset to its settings (design 6).

import type { Reader } from "../../api/contract/reader.ts";
import { SINGLE_TASK_FIELDS } from "../../api/dialect/jobs.ts";
import { type RemoteId, remoteId } from "../../core/address.ts";
import { defined, isObject, type Json, type JsonObject, listIn, objectIn, omit } from "../../core/json.ts";
import { firingsPerMonth } from "../../core/quartz.ts";
import { count, listed } from "../../core/sentences.ts";
import { type Compute, clusterParts } from "../../resource/compute.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import type { PlannedChange, PlannedWorkspace, Problem } from "../../resource/planning.ts";
import { clusterFields, clusterFiles } from "../clusters/fields.ts";
import { sendCluster } from "../clusters/operations.ts";
import {
  policyKinds,
  policyObjections,
  withoutKeptPolicyValues,
  withoutPolicyValues,
} from "../clusters/policies.ts";
import { clusterProblems, singleNodeProblems } from "../clusters/validate.ts";
import { defineProvider, groupField, textField } from "../kit/field-builders.ts";
import { fileAt, libraries, libraryFiles, libraryProblems } from "../kit/library-fields.ts";
import { tokenInName, unfinishedName, withUnlisted } from "../kit/names.ts";
import { preservedIn, preservedPaths, withPreserved } from "../kit/preserved-fields.ts";
import { effectOn, losesId, problem, removesObject } from "../kit/problems.ts";
import {
  createdInt64,
  ignoreMissing,
  int64,
  jobsOn,
  keyIn,
  liveIfPresent,
  namesOf,
  objectsIn,
  readIfPresent,
  responseText,
} from "../kit/responses.ts";
import { normalizeDesired, normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";
import { databricksSettingProblems, databricksSettings, STARTS } from "./databricks-settings.ts";
import {
  listsToMaps,
  mapsToLists,
  placeInJob,
  withClustersInSpecForm,
  withOnlyTaskLifted,
  withoutInheritedValues,
  withPlainTaskLifted,
  withTasks,
} from "./job-forms.ts";
import { clustersIn, jobTaskProblems, taskFiles } from "./job-tasks.ts";
import { mailed, scheduleProblems, settings, singleTaskFields, taskProblems } from "./settings.ts";

const fields = {
  // Optional: the key of the resource otherwise.
  name: textField({
    severity: "other",
    minLength: 1,
    maxLength: 4096,
    description: "Display name; need not be unique.",
  }),
  existing_cluster_id: textField({
    minLength: 1,
    refersTo: "clusters",
    description: "Cluster that all runs share. Set either this or new_cluster.",
  }),
  new_cluster: groupField(
    {
      cluster_name: textField({ severity: "other", description: "Name of the run's cluster." }),
      ...clusterFields({ mostTags: 45 }),
    },
    { description: "Cluster that the service creates for each run." },
  ),
  ...singleTaskFields,
  libraries,
  ...settings,
  ...databricksSettings,
};

/** Fields that the service computes. The source of a plain single task is always the workspace. */
const READ_ONLY = new Set([
  "notebook_task.source",
  "spark_python_task.source",
  "spark_jar_task.run_as_repl",
  "git_source.git_snapshot",
  "format",
]);

/** `unmanageable`, `used_ids`, and `task_fields` are added by the dialect of the client. */
function toLive(answer: JsonObject): LiveObject {
  const id = keyIn(answer, "job_id");
  const settings = listsToMaps(isObject(answer.settings) ? answer.settings : {});
  const all = withClustersInSpecForm(normalizeLive(fields, settings));
  const values = all.tasks === undefined ? all : omit(all, [...SINGLE_TASK_FIELDS]);
  const name = responseText(settings, "name") ?? "Untitled";
  const token = tokenInName(name);
  const { creator_user_name } = answer;
  const facts = defined({ creator_user_name, token, used_ids: answer.used_ids });
  const reason = responseText(answer, "unmanageable");
  const live = { id: remoteId(id), name, values: { ...values, name }, facts };
  if (reason !== undefined) return { ...live, unmanageable: reason };
  const described = withUnknownFields(live, fields, settings, READ_ONLY);
  const ofTask = listIn(answer.task_fields).map(String);
  if (ofTask.length === 0) return described;
  return { ...described, unknownFields: [...(described.unknownFields ?? []), ...ofTask].sort() };
}

async function byId(api: Reader, id: RemoteId): Promise<LiveObject | undefined> {
  if (!/^\d+$/.test(id)) return undefined;
  return liveIfPresent(() => api.read("jobs/get", { job_id: int64(id) }), toLive);
}

function normalize(values: Values, like?: Values): Values {
  const normal = normalizeDesired(fields, values);
  if (like === undefined) return withoutInheritedValues(withPlainTaskLifted(normal));
  return withoutInheritedValues(isObject(like.tasks) ? withTasks(normal) : withOnlyTaskLifted(normal));
}

function clusterChoiceProblems(values: Values): readonly Problem[] {
  const { existing_cluster_id: existing, new_cluster: own } = values;
  const hasOne = (existing === undefined) !== (own === undefined);
  if (hasOne) return isObject(own) ? clusterProblems(own, ["new_cluster"]) : [];
  if (existing === undefined)
    return [
      problem("SPEC_MISSING_FIELD", [], "a job needs a cluster", "set existing_cluster_id or new_cluster"),
    ];
  const message = "existing_cluster_id and new_cluster cannot be used together";
  return [problem("SPEC_COMBINATION", ["existing_cluster_id"], message)];
}

const singleTaskProblems = (values: Values): readonly Problem[] => [
  ...clusterChoiceProblems(values),
  ...taskProblems(values),
  ...libraryProblems(values.libraries),
];

/** Fields of a single task next to `tasks`. */
function ownFieldProblems(values: Values): readonly Problem[] {
  const own = [...SINGLE_TASK_FIELDS].find((field) => values[field] !== undefined);
  const hint = `move ${own} into a task, or remove tasks`;
  return own === undefined
    ? []
    : [problem("SPEC_COMBINATION", [own], `${own} and tasks cannot be used together`, hint)];
}

/** A job that nothing starts and that sends nothing, with a name by which it can be found again. */
function inert(values: Values, name: string, token: string): JsonObject {
  const rest = omit(values, STARTS_OR_SENDS);
  return { ...rest, name: unfinishedName(name, token), max_concurrent_runs: 0 };
}

const STARTS_OR_SENDS = ["schedule", "trigger", "continuous", "email_notifications", "webhook_notifications"];

/** Sends settings, put into their request by `inside`; `new_cluster` may be a member of a pool. */
function send(
  api: OperationWriter,
  operation: "jobs/create" | "jobs/reset",
  settings: Values,
  inside: (settings: Values) => JsonObject,
): Promise<JsonObject> {
  const cluster = isObject(settings.new_cluster) ? settings.new_cluster : undefined;
  return sendCluster(api, operation, cluster, (new_cluster) =>
    inside(mapsToLists(new_cluster === undefined ? settings : { ...settings, new_cluster })),
  );
}

const reset = (api: OperationWriter, id: string, settings: Values): Promise<JsonObject> =>
  send(api, "jobs/reset", settings, (new_settings) => ({ job_id: int64(id), new_settings }));

function runsOf(workspace: PlannedWorkspace, live: LiveObject): number {
  return (workspace.activeRuns ?? []).filter((run) => responseText(run, "job_id") === live.id).length;
}

/** Other jobs with a task that runs it. */
function losingJobs(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const { live } = change;
  if (live === undefined || !removesObject(change)) return [];
  return namesOf(jobsOn(live.id, workspace).filter(({ id }) => id !== live.id));
}

const NO_LONGER = {
  schedule: "the job no longer runs on its schedule",
  trigger: "the job is no longer started by its trigger",
  continuous: "the job no longer runs continuously",
} as const;

/** What starts the job now and will not, because the change removes or pauses it. */
function stopped({ diffs, after = {} }: PlannedChange, { values }: LiveObject) {
  const starts = (start: Json | undefined): boolean => isObject(start) && start.pause_status !== "PAUSED";
  const isChanged = (field: string): boolean => diffs.some(({ path }) => path[0] === field);
  return STARTS.filter((field) => isChanged(field) && starts(values[field]) && !starts(after[field]));
}

function consequences(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const { live } = change;
  if (live === undefined) return [];
  if (change.action === "update") return stopped(change, live).map((field) => NO_LONGER[field]);
  const callers = effectOn("jobs that run it", losingJobs(change, workspace));
  if (change.action !== "delete") return [...losesId(change, "job"), ...callers];
  const mails = mailed(live.values);
  const runs = runsOf(workspace, live);
  return [
    ...(mails.length > 0 ? [`the service sends e-mail to ${listed(mails)}`] : []),
    "its run history is no longer available",
    ...(runs > 0 ? [`${count(runs, "active run")} of it ${runs === 1 ? "ends" : "end"}`] : []),
    ...callers,
  ];
}

/** The clusters that the job creates for a run; how often it runs, if it has a schedule. */
function jobCompute(values: Values): Compute {
  const own = isObject(values.new_cluster) ? [values.new_cluster] : [];
  const clusters = [...own, ...clustersIn(values).map(({ cluster }) => cluster)];
  const { quartz_cron_expression: cron, pause_status: pause } = objectIn(values.schedule);
  return {
    parts: clusters.flatMap((cluster) => clusterParts(cluster, "jobs")),
    isAlwaysOn: false,
    runsPerMonth: typeof cron === "string" && pause !== "PAUSED" ? firingsPerMonth(cron) : undefined,
  };
}

export const jobs = defineProvider({
  kind: "jobs",
  singular: "job",
  description: "Jobs: tasks, the clusters that they run on, and what starts them.",
  fields,
  severity: "availability",
  nameField: "name",
  unique: false,
  idAttribute: "job_id",
  creationRecovery: "two-phase",
  replaceStrategy: "create-first",
  limit: { max: 1000, per: "workspace" },

  planning: {
    machines: jobCompute,
    validate: (values) => [
      ...(values.tasks === undefined ? singleTaskProblems(values) : ownFieldProblems(values)),
      ...scheduleProblems(values),
    ],
    validateIn: {
      databricks: (values) => [
        ...databricksSettingProblems(values),
        ...jobTaskProblems(values),
        ...(isObject(values.new_cluster) ? singleNodeProblems(values.new_cluster, ["new_cluster"]) : []),
      ],
    },
    dependencies: (_name, values) => [
      ...libraryFiles(values.libraries),
      ...(isObject(values.spark_python_task) ? fileAt(values.spark_python_task.python_file) : []),
      ...(isObject(values.new_cluster) ? clusterFiles(values.new_cluster) : []),
      ...taskFiles(values),
    ],
    normalize,
    placeOf: placeInJob,
    steps: (diffs, live, after) => [
      {
        operation: "reset",
        // A reset without an identity keeps the one that the job has.
        detail: {
          keep: preservedPaths(fields, live.values, after, diffs).filter(([field]) => field !== "run_as"),
        },
      },
    ],
    neededFacts: ({ action }) => (action === "delete" ? ["activeRuns"] : []),
    consequences,
    harms: (change, workspace) =>
      losingJobs(change, workspace).map((name) => `the job ${name} loses a job that it runs`),
    kindsReadForObjections: policyKinds,
    objections: policyObjections,
  },

  operations: {
    async list(api, scope) {
      const inList = objectsIn(await api.read("jobs/list"), "jobs").map(toLive);
      return withUnlisted(inList, scope, (id) => byId(api, id));
    },
    // The details only leave out what a policy gives.
    listsAll: true,
    /** The spec may write the only task in another form than the service answers. */
    readDetails: (api, live, desired, context) =>
      withoutPolicyValues(api, live, desired && normalize(desired, live.values), context),
    read: byId,
    async create(api, task) {
      const values = normalize(task.values);
      const answer = await send(
        api,
        "jobs/create",
        inert(values, task.name, task.token),
        (settings) => settings,
      );
      const id = createdInt64(answer, "job_id");
      await api.created(id);
      await reset(api, id, values);
      return id;
    },
    async update(api, task) {
      const [step] = task.steps;
      const kept = withPreserved(task.values, task.before, preservedIn(step?.detail));
      await reset(api, task.id, normalize(await withoutKeptPolicyValues(api, kept, task.values)));
    },
    /** The service sends e-mail at each deletion, so a deletion that may have happened is checked first. */
    async delete(api, task) {
      const job_id = int64(task.id);
      if ((await readIfPresent(() => api.read("jobs/get", { job_id }))) === undefined) return;
      await ignoreMissing(() => api.write("jobs/delete", { job_id }));
    },
  },
});
