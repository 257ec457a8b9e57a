// The resource types of the vendor's Terraform provider, with the kind of each and the fields for its attributes.

import { nestedNameOf } from "../../core/address.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { withoutToken } from "../../providers/clusters/states.ts";
import { isUnset, type OmittedAttribute, renamed } from "./attributes.ts";

const LIBRARIES = { library: "libraries" } as const;

const TASKS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"];

/** Attributes of a task that a single-task job has itself. */
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

function jobAttributes(attributes: JsonObject) {
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

export interface ResourceType {
  readonly kind: string;
  id(attributes: JsonObject): string | undefined;
  name(attributes: JsonObject): string | undefined;
  /** Attributes with the names of fields; what is left out here is reported by the second value. */
  fields?(attributes: JsonObject): {
    readonly attributes: JsonObject;
    readonly left?: readonly OmittedAttribute[];
    /** Why no resource can be this object. */
    readonly unmanageable?: string;
  };
  /** Attributes that the service computes, or that only steer the provider. */
  readonly computed: readonly string[];
}

export const textAttribute = (attributes: JsonObject, name: string): string | undefined => {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
};

const text =
  (name: string) =>
  (attributes: JsonObject): string | undefined =>
    textAttribute(attributes, name);

const inScope =
  (name: string) =>
  (attributes: JsonObject): string | undefined => {
    const [scope, member] = [textAttribute(attributes, "scope"), textAttribute(attributes, name)];
    return scope === undefined || member === undefined ? undefined : nestedNameOf(scope, member);
  };

/** `dbfs:/x` and `/x` are the same path. */
const filePath = (attributes: JsonObject): string | undefined =>
  textAttribute(attributes, "path")?.replace(/^dbfs:/, "");

const ENTITLEMENTS: Readonly<Record<string, string>> = {
  allow_cluster_create: "allow-cluster-create",
  allow_instance_pool_create: "allow-instance-pool-create",
  databricks_sql_access: "databricks-sql-access",
  workspace_access: "workspace-access",
};

export const entitlementsIn = (attributes: JsonObject): readonly string[] =>
  Object.entries(ENTITLEMENTS).flatMap(([flag, name]) => (attributes[flag] === true ? [name] : []));

function principal(attributes: JsonObject, names: Readonly<Record<string, string>>) {
  const entitlements = entitlementsIn(attributes);
  const { external_id: external, ...rest } = attributes;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !Object.hasOwn(ENTITLEMENTS, name)));
  const reason = "the identity provider sets it, so the spec does not manage it";
  return {
    attributes: { ...renamed(own, names), ...(entitlements.length === 0 ? {} : { entitlements }) },
    left: isUnset(external) ? [] : [{ path: ["external_id"], reason }],
  };
}

const OF_PRINCIPAL = [
  "id",
  "acl_principal_id",
  "force",
  "force_delete_repos",
  "force_delete_home_dir",
  "disable_as_user_deletion",
  "home",
  "repos",
  "url",
];
const OF_CONTENT = [
  "id",
  "content_base64",
  "source",
  "md5",
  "object_id",
  "object_type",
  "url",
  "path",
  "workspace_path",
];

const TYPES: Readonly<Record<string, ResourceType>> = {
  databricks_user: {
    kind: "users",
    id: text("id"),
    name: text("user_name"),
    fields: (attributes) => principal(attributes, { user_name: "userName", display_name: "displayName" }),
    computed: OF_PRINCIPAL,
  },
  databricks_group: {
    kind: "groups",
    id: text("id"),
    name: text("display_name"),
    fields: (attributes) => principal(attributes, { display_name: "displayName" }),
    computed: OF_PRINCIPAL,
  },
  databricks_secret_scope: { kind: "scopes", id: text("name"), name: text("name"), computed: ["id", "name"] },
  databricks_secret: {
    kind: "secrets",
    id: inScope("key"),
    name: inScope("key"),
    computed: ["id", "scope", "key", "string_value", "last_updated_timestamp", "config_reference"],
  },
  databricks_secret_acl: {
    kind: "acls",
    id: inScope("principal"),
    name: inScope("principal"),
    computed: ["id", "scope", "principal"],
  },
  databricks_instance_pool: {
    kind: "pools",
    id: text("id"),
    name: text("instance_pool_name"),
    computed: ["id", "instance_pool_id"],
  },
  databricks_cluster: {
    kind: "clusters",
    id: text("id"),
    name: text("cluster_name"),
    fields: (attributes) => ({ attributes: withoutToken(renamed(attributes, { is_pinned: "pinned" })) }),
    computed: [
      "id",
      "cluster_id",
      "default_tags",
      "state",
      "url",
      "idempotency_token",
      "apply_policy_default_values",
      "no_wait",
    ],
  },
  databricks_job: {
    kind: "jobs",
    id: text("id"),
    name: text("name"),
    fields: jobAttributes,
    computed: ["id", "url", "format"],
  },
  databricks_notebook: {
    kind: "notebooks",
    id: text("path"),
    name: text("path"),
    fields: ({ format, language, ...attributes }) => {
      const form = typeof format === "string" && format !== "" ? format : "SOURCE";
      const isArchive = form === "DBC" || form === "HTML";
      return {
        attributes: {
          ...attributes,
          ...(form === "SOURCE" ? { language: language ?? null } : { format: form }),
        },
        ...(isArchive ? { unmanageable: `its format is ${form}` } : {}),
      };
    },
    computed: OF_CONTENT,
  },
  databricks_directory: {
    kind: "directories",
    id: text("path"),
    name: text("path"),
    computed: ["id", "path", "workspace_path", "object_id", "delete_recursive"],
  },
  databricks_dbfs_file: {
    kind: "files",
    id: filePath,
    name: filePath,
    computed: [...OF_CONTENT, "file_size", "dbfs_path"],
  },
};

/** The kind of a resource type; undefined for a type that is not managed, or that is part of another resource. */
export function resourceType(type: string): ResourceType | undefined {
  return Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
}
