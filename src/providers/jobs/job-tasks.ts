// The tasks of a job of several tasks, keyed by task_key: what each runs, where, when, and after which others (dialect databricks).

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import { clusterFields, clusterFiles } from "../clusters/fields.ts";
import { clusterProblems, singleNodeProblems } from "../clusters/validate.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  mapField,
  required,
  textField,
} from "../kit/field-builders.ts";
import { fileAt, libraries, libraryFiles, libraryProblems, workspaceFileAt } from "../kit/library-fields.ts";
import { problem } from "../kit/problems.ts";
import { emails, health, notificationSettings, webhooksOfRuns } from "./notifications.ts";
import { jarFields, textMap, texts } from "./settings.ts";

const id = (description: string): FieldSchema => textField({ minLength: 1, description });

const warehouseId = (description: string): FieldSchema =>
  textField({ minLength: 1, refersTo: "warehouses", description });

const source = choiceField(["WORKSPACE", "GIT"], {
  serverDefault: true,
  description: "Where the file is: the workspace, or the job's git_source.",
});

const taskKinds: FieldTable = {
  notebook_task: groupField(
    {
      notebook_path: required(
        textField({
          minLength: 1,
          mentions: ["notebooks"],
          shouldExist: true,
          description: "Path of the notebook: absolute in the workspace, relative in git_source.",
        }),
      ),
      base_parameters: textMap("Parameters of every run."),
      source,
      warehouse_id: warehouseId("SQL warehouse that runs the cells of a SQL notebook."),
    },
    { description: "Runs a notebook." },
  ),
  spark_jar_task: groupField(
    {
      ...jarFields,
      run_as_repl: flagField({
        serverDefault: true,
        deprecated: true,
        description: "Deprecated by the service.",
      }),
    },
    { description: "Runs the main class of a JAR among the libraries." },
  ),
  spark_python_task: groupField(
    {
      python_file: required(
        textField({ minLength: 1, fileUri: true, description: "URI or path of the Python file." }),
      ),
      parameters: texts("Command line arguments of the file."),
      source,
    },
    { description: "Runs a Python file." },
  ),
  spark_submit_task: groupField(
    { parameters: required(texts("Arguments of the submit script.")) },
    { description: "Runs spark-submit on a new cluster." },
  ),
  python_wheel_task: groupField(
    {
      package_name: required(id("Name of the package.")),
      entry_point: required(id("Entry point to run.")),
      parameters: texts("Command line arguments."),
      named_parameters: textMap("Arguments as --NAME=VALUE. Set either this or parameters."),
    },
    { description: "Runs an entry point of a Python wheel." },
  ),
  pipeline_task: groupField(
    {
      pipeline_id: required(id("ID of the pipeline.")),
      full_refresh: flagField({ default: false, description: "Computes all tables again." }),
      refresh_selection: texts("Tables to update."),
      full_refresh_selection: texts("Tables to compute again."),
    },
    { description: "Updates a pipeline." },
  ),
  dbt_task: groupField(
    {
      commands: required(texts("dbt commands, in this order.")),
      project_directory: id("Folder of the dbt project."),
      profiles_directory: id("Folder of profiles.yml."),
      schema: textField({ serverDefault: true, minLength: 1, description: "Schema to write to." }),
      catalog: textField({ serverDefault: true, minLength: 1, description: "Catalog to write to." }),
      warehouse_id: warehouseId("SQL warehouse that runs the commands."),
      source,
    },
    { description: "Runs dbt." },
  ),
  sql_task: groupField(
    {
      warehouse_id: required(warehouseId("SQL warehouse that runs it.")),
      parameters: textMap("Parameters of the query or file."),
      query: groupField({ query_id: required(id("ID of the query.")) }, { description: "Runs a query." }),
      file: groupField(
        { path: required(id("Path of the SQL file.")), source },
        { description: "Runs a file." },
      ),
      alert: groupField(
        {
          alert_id: required(id("ID of the alert.")),
          pause_subscriptions: flagField({ default: false, description: "Sends no messages." }),
          subscriptions: subscriptions(),
        },
        { description: "Evaluates an alert." },
      ),
      dashboard: groupField(
        {
          dashboard_id: required(id("ID of the dashboard.")),
          custom_subject: textField({ minLength: 1, description: "Subject of the e-mail." }),
          pause_subscriptions: flagField({ default: false, description: "Sends no messages." }),
          subscriptions: subscriptions(),
        },
        { description: "Refreshes a legacy dashboard." },
      ),
    },
    { description: "Runs SQL: exactly one of query, file, alert, and dashboard." },
  ),
  run_job_task: groupField(
    {
      job_id: required(textField({ minLength: 1, refersTo: "jobs", description: "Job to run." })),
      job_parameters: textMap("Parameters of that job."),
    },
    { description: "Runs another job." },
  ),
  condition_task: groupField(
    {
      op: required(
        choiceField(
          [
            "EQUAL_TO",
            "NOT_EQUAL",
            "GREATER_THAN",
            "GREATER_THAN_OR_EQUAL",
            "LESS_THAN",
            "LESS_THAN_OR_EQUAL",
          ],
          { description: "How left compares with right." },
        ),
      ),
      left: required(textField({ description: "Left value; may contain {{…}} of the service." })),
      right: required(textField({ description: "Right value; may contain {{…}} of the service." })),
    },
    { description: "Compares two values. Other tasks depend on its outcome." },
  ),
  dashboard_task: groupField(
    {
      dashboard_id: required(id("ID of the dashboard.")),
      warehouse_id: warehouseId("SQL warehouse that runs it."),
      subscription: groupField(
        {
          custom_subject: textField({ minLength: 1, description: "Subject of the e-mail." }),
          paused: flagField({ default: false, description: "Sends no messages." }),
          subscribers: subscriptions(),
        },
        { description: "Who receives the dashboard." },
      ),
    },
    { description: "Refreshes a dashboard." },
  ),
};

function subscriptions(): FieldSchema {
  return listField(
    groupField(
      {
        user_name: textField({ minLength: 1, description: "User who receives it." }),
        destination_id: textField({
          minLength: 1,
          refersTo: "notification_destinations",
          description: "ID of a notification destination.",
        }),
      },
      { description: "One recipient: a user or a destination." },
    ),
    { list: "set", default: [], description: "Recipients." },
  );
}

const common: FieldTable = {
  description: textField({ severity: "other", description: "Description of the task." }),
  run_if: choiceField(
    ["ALL_SUCCESS", "ALL_DONE", "NONE_FAILED", "AT_LEAST_ONE_SUCCESS", "ALL_FAILED", "AT_LEAST_ONE_FAILED"],
    { default: "ALL_SUCCESS", description: "Which results of the tasks in depends_on let the task run." },
  ),
  disabled: flagField({ default: false, description: "Skips the task." }),
  existing_cluster_id: textField({ minLength: 1, refersTo: "clusters", description: "Cluster to run on." }),
  new_cluster: groupField(clusterFields({ mostTags: 45 }), {
    description: "Cluster that the service creates for the task.",
  }),
  job_cluster_key: textField({ isKey: true, minLength: 1, description: "Key of a cluster in job_clusters." }),
  environment_key: textField({
    isKey: true,
    minLength: 1,
    description: "Key of an environment in environments.",
  }),
  libraries,
  timeout_seconds: integerField({
    minimum: 0,
    default: 0,
    description: "Time limit in seconds; 0 means none.",
  }),
  max_retries: integerField({
    minimum: -1,
    default: 0,
    description: "Maximum number of retries; -1 has no limit.",
  }),
  min_retry_interval_millis: integerField({
    minimum: 0,
    default: 0,
    description: "Minimum time before a retry, in milliseconds.",
  }),
  retry_on_timeout: flagField({ default: false, description: "Whether to retry after a time limit." }),
  disable_auto_optimization: flagField({
    serverDefault: true,
    description: "Switches the automatic optimization of serverless tasks off.",
  }),
  email_notifications: emails({ description: "Recipients of e-mail about the task." }),
  webhook_notifications: webhooksOfRuns({
    description: "Destinations that receive messages about the task.",
  }),
  notification_settings: notificationSettings(true),
  health,
};

const loop = groupField(
  {
    inputs: required(
      textField({ minLength: 1, description: "A JSON list as text, or a {{…}} reference to one." }),
    ),
    concurrency: integerField({
      minimum: 1,
      maximum: 100,
      serverDefault: true,
      description: "Iterations that run at the same time (default: 20).",
    }),
    task: required(
      groupField(
        {
          task_key: required(textField({ isKey: true, minLength: 1, description: "Key of the iteration." })),
          ...common,
          ...taskKinds,
        },
        { description: "What runs for each input. It cannot be a for_each_task." },
      ),
    ),
  },
  { description: "Runs a task once for each input." },
);

const dependsOn = listField(
  groupField(
    {
      task_key: required(textField({ isKey: true, minLength: 1, description: "Key of the other task." })),
      outcome: choiceField(["true", "false"], { description: "Outcome of a condition_task." }),
    },
    { description: "One task that runs before." },
  ),
  { list: { key: "task_key" }, default: [], description: "Tasks that run before this one." },
);

/** `^` also in the emulator's host: letters, digits, hyphens, and underscores. */
const TASK_KEY = { pattern: "^[\\w-]+$", minLength: 1, maxLength: 100 };

export const jobTasks = mapField(
  groupField(
    { depends_on: dependsOn, ...common, ...taskKinds, for_each_task: loop },
    { description: "One task." },
  ),
  {
    dialect: "databricks",
    keys: TASK_KEY,
    maxProperties: 1000,
    description: "Tasks by task_key, in place of the fields of a single task.",
  },
);

const KINDS = [...Object.keys(taskKinds), "for_each_task"];
const COMPUTE = ["existing_cluster_id", "new_cluster", "job_cluster_key"];

/** They start no program of their own. */
const WITHOUT_COMPUTE: ReadonlySet<string> = new Set(["condition_task", "run_job_task", "for_each_task"]);
/** Without a cluster they run serverless, and then need an environment. */
const NEEDS_ENVIRONMENT: ReadonlySet<string> = new Set(["spark_python_task", "python_wheel_task"]);

/** A task and where the job has it. */
interface TaskAt {
  readonly path: readonly string[];
  readonly task: JsonObject;
}

/** Every task of a job, also those inside loops. */
function tasksIn({ tasks }: Values): readonly TaskAt[] {
  return entriesOf(tasks).flatMap(([key, task]) => {
    const path = ["tasks", key];
    const inner = isObject(task.for_each_task) ? task.for_each_task.task : undefined;
    return [
      { path, task },
      ...(isObject(inner) ? [{ path: [...path, "for_each_task", "task"], task: inner }] : []),
    ];
  });
}

const entriesOf = (map: Json | undefined): readonly (readonly [string, JsonObject])[] =>
  isObject(map)
    ? Object.entries(map).flatMap(([key, value]) => (isObject(value) ? [[key, value] as const] : []))
    : [];

/** Clusters that a job describes itself, and where. */
export function clustersIn(
  values: Values,
): readonly { readonly path: readonly string[]; readonly cluster: JsonObject }[] {
  const ofTasks = tasksIn(values).map(({ path, task }) => [path, task.new_cluster] as const);
  const shared = entriesOf(values.job_clusters).map(
    ([key, cluster]) => [["job_clusters", key], cluster.new_cluster] as const,
  );
  return [...ofTasks, ...shared].flatMap(([path, cluster]) =>
    isObject(cluster) ? [{ path: [...path, "new_cluster"], cluster }] : [],
  );
}

/** The rules for jobs with `tasks` that a schema cannot express. */
export function jobTaskProblems(values: Values): readonly Problem[] {
  const keys = new Set(entriesOf(values.tasks).map(([key]) => key));
  return [
    ...tasksIn(values).flatMap((taskAt) => problemsOf(taskAt, values)),
    ...unknownKeys(values, keys),
    ...cycles(values),
    ...clustersIn(values).flatMap(({ path, cluster }) => [
      ...clusterProblems(cluster, path),
      ...singleNodeProblems(cluster, path),
    ]),
  ];
}

function problemsOf({ path, task }: TaskAt, values: Values): readonly Problem[] {
  const kinds = KINDS.filter((kind) => task[kind] !== undefined);
  const [kind, second] = kinds;
  const hint = `set one of ${KINDS.join(", ")}`;
  if (kind === undefined) return [problem("SPEC_MISSING_FIELD", path, "a task needs what it runs", hint)];
  if (second !== undefined)
    return [
      problem(
        "SPEC_COMBINATION",
        [...path, second],
        `a task runs one of these, not ${kinds.join(" and ")}`,
        hint,
      ),
    ];
  const at = (problems: readonly Problem[]) =>
    problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] }));
  return [
    ...computeProblems(path, task, kind),
    ...keyProblems(path, task, "job_cluster_key", values.job_clusters, "job_clusters"),
    ...keyProblems(path, task, "environment_key", values.environments, "environments"),
    ...at(libraryProblems(task.libraries)),
    ...sqlProblems(path, task.sql_task),
  ];
}

function computeProblems(path: readonly string[], task: JsonObject, kind: string): readonly Problem[] {
  const chosen = COMPUTE.filter((field) => task[field] !== undefined);
  const [first, second] = chosen;
  if (second !== undefined)
    return [
      problem("SPEC_COMBINATION", [...path, second], `${chosen.join(" and ")} cannot be used together`),
    ];
  if (first !== undefined && WITHOUT_COMPUTE.has(kind))
    return [
      problem("SPEC_COMBINATION", [...path, first], `a ${kind} runs without a cluster`, `remove ${first}`),
    ];
  if (first === undefined && NEEDS_ENVIRONMENT.has(kind) && task.environment_key === undefined)
    return [
      problem(
        "SPEC_MISSING_FIELD",
        path,
        `a ${kind} needs a cluster or an environment_key`,
        `set one of ${COMPUTE.join(", ")}, or environment_key for serverless compute`,
      ),
    ];
  return [];
}

function keyProblems(
  path: readonly string[],
  task: JsonObject,
  field: string,
  declared: Json | undefined,
  section: string,
): readonly Problem[] {
  const key = task[field];
  const names = entriesOf(declared).map(([name]) => name);
  if (typeof key !== "string" || key.includes("${") || names.includes(key)) return [];
  const hint = names.length === 0 ? `declare it in ${section}` : `${section} has ${names.join(", ")}`;
  return [problem("SPEC_REFERENCE", [...path, field], `${section} has no key "${key}"`, hint)];
}

function sqlProblems(path: readonly string[], sql: Json | undefined): readonly Problem[] {
  if (!isObject(sql)) return [];
  const forms = ["query", "file", "alert", "dashboard"];
  if (forms.filter((form) => sql[form] !== undefined).length === 1) return [];
  return [
    problem(
      "SPEC_COMBINATION",
      [...path, "sql_task"],
      "a sql_task runs one of query, file, alert, dashboard",
    ),
  ];
}

const requirementsOf = (task: JsonObject): readonly string[] =>
  Array.isArray(task.depends_on)
    ? task.depends_on.flatMap((entry: Json) =>
        isObject(entry) && typeof entry.task_key === "string" ? [entry.task_key] : [],
      )
    : [];

function unknownKeys(values: Values, keys: ReadonlySet<string>): readonly Problem[] {
  return entriesOf(values.tasks).flatMap(([key, task]) =>
    requirementsOf(task).flatMap((name, at): Problem[] => {
      if (keys.has(name) || name.includes("${")) return [];
      const hint = `the tasks are ${[...keys].join(", ")}`;
      const path = ["tasks", key, "depends_on", at, "task_key"];
      return [problem("SPEC_REFERENCE", path, `the job has no task "${name}"`, hint)];
    }),
  );
}

/** Each cycle once, with all its tasks. */
function cycles(values: Values): readonly Problem[] {
  const tasks = new Map(entriesOf(values.tasks));
  const done = new Set<string>();
  const problems: Problem[] = [];
  const visit = (key: string, above: readonly string[]): void => {
    const start = above.indexOf(key);
    if (start >= 0) {
      const cycle = [...above.slice(start), key].join(" → ");
      problems.push(
        problem("SPEC_CYCLE", ["tasks", key, "depends_on"], `tasks depend on each other: ${cycle}`),
      );
      return;
    }
    if (done.has(key)) return;
    for (const name of requirementsOf(tasks.get(key) ?? {})) visit(name, [...above, key]);
    done.add(key);
  };
  for (const key of tasks.keys()) visit(key, []);
  return problems;
}

export function taskFiles(values: Values): readonly { readonly kind: string; readonly name: string }[] {
  return [
    ...tasksIn(values).flatMap(({ task }) => [
      ...libraryFiles(task.libraries),
      ...(isObject(task.spark_python_task) ? fileAt(task.spark_python_task.python_file) : []),
      ...(isObject(task.sql_task) && isObject(task.sql_task.file)
        ? workspaceFileAt(task.sql_task.file.path)
        : []),
    ]),
    ...clustersIn(values).flatMap(({ cluster }) => clusterFiles(cluster)),
  ];
}
