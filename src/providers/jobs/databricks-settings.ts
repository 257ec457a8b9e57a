// Settings of a job that only the Databricks dialect has: what starts it, as whom and with which code it runs, and what its tasks share.

import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import { clusterFields } from "../clusters/fields.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  mapField,
  required,
  tags,
  textField,
} from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";
import { jobTasks } from "./job-tasks.ts";
import { health, notificationSettings, webhooksOfRuns } from "./notifications.ts";

const ONLY = { dialect: "databricks" } as const;
const UNMANAGED = { ...ONLY, whenAbsent: "unmanaged" } as const;

const pauseStatus = choiceField(["UNPAUSED", "PAUSED"], {
  default: "UNPAUSED",
  description: "PAUSED starts no runs.",
});

const seconds = (description: string) => integerField({ minimum: 60, serverDefault: true, description });

const waits = {
  min_time_between_triggers_seconds: seconds("Minimum time between two runs, in seconds."),
  wait_after_last_change_seconds: seconds("Time without a change before a run starts, in seconds."),
};

const trigger = groupField(
  {
    pause_status: pauseStatus,
    file_arrival: groupField(
      { url: required(textField({ minLength: 1, description: "Location to watch." })), ...waits },
      { description: "Runs when files arrive." },
    ),
    table_update: groupField(
      {
        table_names: required(
          listField(textField({ minLength: 1, description: "Name of a table." }), {
            list: "set",
            minItems: 1,
            description: "Tables to watch.",
          }),
        ),
        condition: choiceField(["ANY_UPDATED", "ALL_UPDATED"], {
          serverDefault: true,
          description: "Whether one update is enough.",
        }),
        ...waits,
      },
      { description: "Runs when tables change." },
    ),
    periodic: groupField(
      {
        interval: required(integerField({ minimum: 1, description: "Number of units between runs." })),
        unit: required(choiceField(["HOURS", "DAYS", "WEEKS"], { description: "Unit of interval." })),
      },
      { description: "Runs at regular intervals." },
    ),
  },
  { ...ONLY, severity: "availability", description: "What starts the job in place of a schedule." },
);

const gitSource = groupField(
  {
    git_url: required(textField({ minLength: 1, description: "URL of the repository." })),
    git_provider: required(
      choiceField(
        [
          "gitHub",
          "gitHubEnterprise",
          "gitLab",
          "gitLabEnterpriseEdition",
          "bitbucketCloud",
          "bitbucketServer",
          "azureDevOpsServices",
          "awsCodeCommit",
        ],
        { description: "Service that hosts it." },
      ),
    ),
    git_branch: textField({ minLength: 1, description: "Branch. Set one of branch, tag, and commit." }),
    git_tag: textField({ minLength: 1, description: "Tag." }),
    git_commit: textField({ minLength: 1, description: "Commit." }),
    sparse_checkout: groupField(
      {
        patterns: required(
          listField(textField({ description: "One pattern." }), { description: "Paths to fetch." }),
        ),
      },
      { description: "Part of the repository to fetch." },
    ),
  },
  { ...ONLY, severity: "security", description: "Repository with the code of the tasks." },
);

const runAs = groupField(
  {
    user_name: textField({ minLength: 1, ignoreCase: true, description: "A user, by name." }),
    service_principal_name: textField({
      minLength: 1,
      ignoreCase: true,
      description: "A service principal, by its application ID.",
    }),
    group_name: textField({ minLength: 1, description: "A group, by name." }),
  },
  { ...UNMANAGED, severity: "security", description: "Who the runs act as (default: who created the job)." },
);

const KEYS = { pattern: "^[\\w-]+$", minLength: 1, maxLength: 100 };

export const databricksSettings: FieldTable = {
  description: textField({
    ...ONLY,
    severity: "other",
    serverDefault: true,
    description: "Description of the job.",
  }),
  tags: tags({ most: 25, ...UNMANAGED, description: "Tags of the job and of its clusters." }),
  webhook_notifications: webhooksOfRuns({
    ...UNMANAGED,
    description: "Destinations that receive messages about runs.",
  }),
  task_key: textField({
    ...UNMANAGED,
    severity: "other",
    isKey: true,
    minLength: 1,
    description: "Key of a single task.",
  }),
  tasks: jobTasks,
  job_clusters: mapField(
    groupField(
      { new_cluster: required(groupField(clusterFields({ mostTags: 45 }), { description: "The cluster." })) },
      { description: "One cluster." },
    ),
    { ...ONLY, keys: KEYS, description: "Clusters that tasks share, by job_cluster_key." },
  ),
  environments: mapField(
    groupField(
      {
        environment_version: textField({
          minLength: 1,
          serverDefault: true,
          description: "Version of the environment.",
        }),
        client: textField({
          minLength: 1,
          serverDefault: true,
          description: "Older name of environment_version.",
        }),
        base_environment: textField({ minLength: 1, description: "Environment to start from." }),
        dependencies: listField(textField({ minLength: 1, description: "One dependency." }), {
          list: "ordered",
          default: [],
          description: "Packages to install, as pip takes them.",
        }),
        java_dependencies: listField(textField({ minLength: 1, description: "One JAR." }), {
          list: "ordered",
          default: [],
          description: "JARs to install.",
        }),
      },
      { description: "One environment." },
    ),
    { ...ONLY, keys: KEYS, description: "Environments of serverless tasks, by environment_key." },
  ),
  parameters: mapField(textField({ description: "Default value." }), {
    ...ONLY,
    severity: "other",
    description: "Parameters of the job and their defaults.",
  }),
  trigger,
  continuous: groupField(
    {
      // Without a default, because a group with defaults alone is compared as absent.
      pause_status: required(choiceField(["UNPAUSED", "PAUSED"], { description: "PAUSED starts no runs." })),
      task_retry_mode: choiceField(["NEVER", "ON_FAILURE"], {
        serverDefault: true,
        description: "Whether failed tasks are repeated.",
      }),
    },
    { ...ONLY, severity: "availability", description: "Keeps one run active at all times." },
  ),
  queue: groupField(
    { enabled: required(flagField({ description: "Whether runs wait instead of being skipped." })) },
    {
      ...UNMANAGED,
      severity: "availability",
      description: "What happens to runs above the limit.",
    },
  ),
  run_as: runAs,
  git_source: gitSource,
  health,
  notification_settings: notificationSettings(false),
  performance_target: choiceField(["PERFORMANCE_OPTIMIZED", "STANDARD"], {
    ...ONLY,
    serverDefault: true,
    severity: "cost",
    description: "Speed or cost of serverless tasks.",
  }),
  budget_policy_id: textField({
    ...UNMANAGED,
    severity: "cost",
    minLength: 1,
    description: "ID of the budget policy.",
  }),
};

/** What starts a job without a person. */
export const STARTS = ["schedule", "trigger", "continuous"] as const;
const TRIGGERS = ["file_arrival", "table_update", "periodic"] as const;
const REVISIONS = ["git_branch", "git_tag", "git_commit"] as const;

/** Groups of which a job has at most one, and triggers and revisions, of which it has exactly one. */
export function databricksSettingProblems(values: Values): readonly Problem[] {
  const starts = STARTS.filter((field) => values[field] !== undefined);
  const [, second] = starts;
  return [
    ...(second === undefined
      ? []
      : [problem("SPEC_COMBINATION", [second], `${starts.join(" and ")} cannot be used together`)]),
    ...oneOf(values, "trigger", TRIGGERS),
    ...oneOf(values, "git_source", REVISIONS),
    ...oneOf(values, "run_as", ["user_name", "service_principal_name", "group_name"]),
    ...(values.continuous !== undefined && Number(values.max_concurrent_runs ?? 1) !== 1
      ? [problem("SPEC_COMBINATION", ["max_concurrent_runs"], "a continuous job has max_concurrent_runs 1")]
      : []),
  ];
}

function oneOf(values: Values, field: string, members: readonly string[]): readonly Problem[] {
  const group = values[field];
  if (typeof group !== "object" || group === null || Array.isArray(group)) return [];
  const chosen = members.filter((member) => Object.hasOwn(group, member));
  if (chosen.length === 1) return [];
  return [problem("SPEC_COMBINATION", [field], `${field} has exactly one of ${members.join(", ")}`)];
}
