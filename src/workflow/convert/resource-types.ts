// The resource types of the vendor's Terraform provider, with the kind of each and the fields for its attributes.

import { singleTask, TASK_KEY } from "../../api/dialect/jobs.ts";
import { nestedNameOf, remoteId } from "../../core/address.ts";
import { defined, isObject, type Json, type JsonObject, membersWhere, objectIn } from "../../core/json.ts";
import { MEMBER, principalIn, principalText } from "../../providers/access/principals.ts";
import { initScriptOrder } from "../../providers/admin/init-script-order.ts";
import { initScripts } from "../../providers/admin/init-scripts.ts";
import { withoutToken } from "../../providers/clusters/operations.ts";
import {
  blocks,
  isUnset,
  OF_PRINCIPAL,
  principal,
  type ResourceType,
  renamed,
  text,
  textAttribute,
  treePath,
} from "./attributes.ts";
import {
  type ConvertedObjects,
  convertedKey,
  hasMark,
  type TerraformInstance,
  whySensitive,
} from "./terraform-state.ts";

const OF_WORKSPACE = "databricks_permission_assignment";
const OF_ACCOUNT = "databricks_mws_permission_assignment";

/** The kinds of principals by their name in a state. */
const MEMBER_OF_KIND: Readonly<Record<string, string>> = {
  users: MEMBER.user,
  groups: MEMBER.group,
  "service principals": MEMBER.sp,
};

const workspaceOf = ({ values }: TerraformInstance): string | undefined =>
  textAttribute(values, "workspace_id");

/** Assignments with the names of their principals, by the IDs that other resources and data sources of the state have. */
export function namedAssignments(
  instances: readonly TerraformInstance[],
  names: ReadonlyMap<string, { readonly kind: string; readonly name: string }>,
): readonly TerraformInstance[] {
  const workspaces = new Set(instances.filter(({ type }) => type === OF_ACCOUNT).map(workspaceOf));
  return instances.map((instance) => {
    const { type, values } = instance;
    if (type !== OF_WORKSPACE && type !== OF_ACCOUNT) return instance;
    const { kind = "", name } = names.get(textAttribute(values, "principal_id") ?? "") ?? {};
    const member = MEMBER_OF_KIND[kind];
    const own = membersWhere(values, (_, value) => !isUnset(value));
    const named = member === undefined || name === undefined ? own : { [member]: name, ...own };
    return { ...instance, values: type === OF_ACCOUNT ? { ...named, workspaces: workspaces.size } : named };
  });
}

function assignedName(attributes: JsonObject): string | undefined {
  const principal = principalIn(attributes);
  return principal && principalText(principal);
}

const ASSIGNMENT: ResourceType = {
  kind: "workspace_assignments",
  id: text("principal_id"),
  name: assignedName,
  fields: ({ workspaces = 1, ...attributes }) => ({
    attributes,
    unmanageable:
      workspaces === 1
        ? undefined
        : "the state assigns principals to several workspaces, and a spec is of one",
  }),
  computed: ["id", "principal_id", "workspace_id", "display_name", ...Object.values(MEMBER)],
};

const SETTINGS = "databricks_workspace_conf";

/** An instance for each setting: a resource of Terraform holds several. */
export function settingInstances(instance: TerraformInstance): readonly TerraformInstance[] {
  const { type, values, state } = instance;
  const { custom_config: settings } = values;
  if (type !== SETTINGS || state !== undefined) return [instance];
  if (hasMark(settings)) return [{ ...instance, values: { key: settings ?? null } }];
  return Object.entries(objectIn(settings)).map(([key, value]) => ({ ...instance, values: { key, value } }));
}

/** Rules in a spec instead of their text. */
function policyAttributes({
  definition,
  policy_family_definition_overrides: overrides,
  ...rest
}: JsonObject) {
  const isOfFamily = !isUnset(rest.policy_family_id);
  const attributes: { [name: string]: Json } = {
    ...rest,
    ...(isOfFamily || isUnset(definition) ? {} : { definition: rulesIn(definition) }),
    ...(isUnset(overrides) ? {} : { policy_family_definition_overrides: rulesIn(overrides) }),
  };
  const marked = [definition, overrides].find(hasMark);
  if (marked !== undefined) return { attributes, unmanageable: whySensitive(marked, "its definition") };
  const isBroken = [attributes.definition, attributes.policy_family_definition_overrides].includes(null);
  return { attributes, unmanageable: isBroken ? "its definition is not a JSON object" : undefined };
}

function rulesIn(value: Json | undefined): Json {
  try {
    const rules: Json = JSON.parse(String(value));
    return isObject(rules) ? rules : null;
  } catch {
    return null;
  }
}

function warehouseAttributes({ tags, ...attributes }: JsonObject): JsonObject {
  const pairs = blocks(tags).flatMap((block) => blocks(block.custom_tags));
  const custom_tags = Object.fromEntries(pairs.map(({ key, value }) => [String(key), value ?? ""]));
  return { ...attributes, custom_tags };
}

function scriptAttributes({ content_base64: encoded, ...attributes }: JsonObject) {
  const isInline = typeof encoded === "string" && encoded !== "";
  return {
    attributes: isInline
      ? {
          ...attributes,
          script: hasMark(encoded) ? encoded : Buffer.from(encoded, "base64").toString("utf8"),
        }
      : attributes,
    unmanageable: isInline ? undefined : "its script is in a file; `workspace export` writes it",
  };
}

/** The objects with the order of the scripts, which have positions in Terraform. Two with the same position have no order. */
export function withScriptOrder(objects: ConvertedObjects): ConvertedObjects {
  const scripts = [...objects.values()].filter(({ kind }) => kind === initScripts.kind);
  const byPosition = Map.groupBy(scripts, ({ instance }) => Number(instance.values.position ?? Number.NaN));
  const ordered = [...byPosition]
    .filter(([position, there]) => !Number.isNaN(position) && there.length === 1)
    .toSorted(([a], [b]) => a - b)
    .flatMap(([, there]) => there);
  const [first, ...rest] = ordered;
  if (first === undefined || rest.length === 0) return objects;
  const { kind, builtIn: [name = ""] = [] } = initScriptOrder;
  const values = { scripts: ordered.map(({ live }) => live.name) };
  const order = { kind, live: { id: remoteId(name), name, values, facts: {} }, instance: first.instance };
  return new Map([...objects, [convertedKey(kind, name), order]]);
}

/** The service returns nothing but the addresses of e-mails, and `*_set` for everything else. */
function destinationAttributes({ config, ...attributes }: JsonObject) {
  const [parts = {}] = blocks(config);
  const addresses = blocks(parts.email).flatMap(({ addresses: all }) => all ?? []);
  const left = Object.entries(parts).flatMap(([part, value]) =>
    Object.entries(blocks(value)[0] ?? {}).flatMap(([name, attribute]) =>
      part === "email" || name.endsWith("_set") || isUnset(attribute)
        ? []
        : [{ path: ["config", 0, part, 0, name], reason: UNREADABLE }],
    ),
  );
  return { attributes: { ...attributes, ...(addresses.length === 0 ? {} : { addresses }) }, left };
}

const UNREADABLE = "the service does not return it; to manage it, set it with a sensitive variable";

function credentialAttributes({ personal_access_token: token, ...attributes }: JsonObject) {
  const left = isUnset(token) ? [] : [{ path: ["personal_access_token"], reason: UNREADABLE }];
  return { attributes, left };
}

const LIBRARIES = { library: "libraries" } as const;

/** The names of the provider for fields of a job's source. */
const GIT_SOURCE = {
  url: "git_url",
  provider: "git_provider",
  branch: "git_branch",
  tag: "git_tag",
  commit: "git_commit",
} as const;

/** Blocks as a map, by the attribute that is their key. */
const byKey = (value: Json | undefined, key: string, element: (block: JsonObject) => Json): JsonObject =>
  Object.fromEntries(blocks(value).map(({ [key]: name, ...rest }) => [String(name), element(rest)]));

/** Blocks of a state as settings with keys. A job with one plain task has the fields of its task itself, as everywhere. */
function jobAttributes(attributes: JsonObject) {
  const { task, job_cluster, environment, parameter, git_source, continuous, ...settings } = attributes;
  const tasks = byKey(task, "task_key", taskAttributes);
  const marked = Object.keys(tasks).find(hasMark);
  if (marked !== undefined) return { attributes: {}, unmanageable: whySensitive(marked, "its settings") };
  const kinds = [...Object.values(tasks).map(objectIn), settings].flatMap((holder) =>
    Object.keys(holder).filter((name) => name.endsWith("_task") && !isUnset(holder[name])),
  );
  if (kinds.length === 0) return { attributes: {}, unmanageable: "it has no task" };
  const own = renamed(settings, LIBRARIES);
  const fields = singleTask({
    tasks: blocks(task).map((block) => present(renamed(block, LIBRARIES))),
    job_clusters: blocks(job_cluster),
    environments: blocks(environment),
    ...(isUnset(git_source) ? {} : { git_source: git_source ?? null }),
  });
  const keyed = {
    ...own,
    parameters: byKey(parameter, "name", (block) => block.default ?? ""),
    continuous: blocks(continuous).map((block) =>
      isUnset(block.pause_status) ? { ...block, pause_status: "UNPAUSED" } : block,
    ),
    ...(isUnset(git_source)
      ? {}
      : { git_source: blocks(git_source).map((block) => renamed(block, GIT_SOURCE)) }),
  };
  if (fields === undefined)
    return {
      attributes: {
        ...keyed,
        tasks,
        job_clusters: byKey(job_cluster, "job_cluster_key", (block) => block),
        environments: byKey(environment, "environment_key", (block) => block.spec ?? []),
      },
    };
  const { task_key: key, ...ofTask } = fields;
  const [only = {}] = blocks(task);
  const reason = "it belongs to the task, so the spec does not manage it; updates keep it";
  return {
    attributes: { ...keyed, ...ofTask, ...(key === TASK_KEY ? {} : defined({ task_key: key })) },
    left: Object.entries(only).flatMap(([name, value]) =>
      isUnset(value) || name === "task_key" || name === "run_if" || Object.hasOwn(fields, fieldOf(name))
        ? []
        : [{ path: ["task", 0, name], reason }],
    ),
  };
}

const fieldOf = (name: string): string => (name === "library" ? LIBRARIES.library : name);

const present = (block: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(block).flatMap(([name, value]) => {
      if (isUnset(value)) return [];
      const [task] = name.endsWith("_task") ? blocks(value) : [];
      return [[name, task === undefined ? value : present(task)]];
    }),
  );

function taskAttributes(block: JsonObject): JsonObject {
  const { run_job_task: runs, for_each_task: loops, ...rest } = renamed(block, LIBRARIES);
  return {
    ...rest,
    run_job_task: blocks(runs).map((run) => ({ ...run, job_id: String(run.job_id ?? "") })),
    for_each_task: blocks(loops).map((loop) => ({ ...loop, task: blocks(loop.task).map(taskAttributes) })),
  };
}

const inScope =
  (name: string) =>
  (attributes: JsonObject): string | undefined => {
    const [scope, member] = [textAttribute(attributes, "scope"), textAttribute(attributes, name)];
    return scope === undefined || member === undefined ? undefined : nestedNameOf(scope, member);
  };

/** `dbfs:/x` and `/x` are the same path. */
const filePath = (attributes: JsonObject): string | undefined =>
  textAttribute(attributes, "path")?.replace(/^dbfs:/, "");

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
  databricks_service_principal: {
    kind: "service_principals",
    id: text("id"),
    name: text("display_name"),
    fields: (attributes) =>
      principal(attributes, { display_name: "displayName", application_id: "applicationId" }),
    computed: OF_PRINCIPAL,
  },
  databricks_cluster_policy: {
    kind: "cluster_policies",
    id: text("policy_id"),
    name: text("name"),
    fields: policyAttributes,
    computed: ["id", "policy_id"],
  },
  databricks_sql_endpoint: {
    kind: "warehouses",
    id: text("id"),
    name: text("name"),
    fields: (attributes) => ({ attributes: warehouseAttributes(attributes) }),
    computed: [
      "id",
      "state",
      "health",
      "jdbc_url",
      "odbc_params",
      "num_clusters",
      "num_active_sessions",
      "creator_name",
      "data_source_id",
      "no_wait",
    ],
  },
  databricks_repo: {
    kind: "repos",
    id: text("id"),
    name: treePath,
    fields: (attributes) => ({ attributes: renamed(attributes, { git_provider: "provider" }) }),
    computed: ["id", "path", "workspace_path", "commit_hash", "git_credential_id"],
  },
  databricks_git_credential: {
    kind: "git_credentials",
    id: text("id"),
    name: text("git_provider"),
    fields: credentialAttributes,
    computed: ["id", "force"],
  },
  databricks_global_init_script: {
    kind: "global_init_scripts",
    id: text("id"),
    name: text("name"),
    fields: scriptAttributes,
    computed: ["id", "source", "md5", "position"],
  },
  databricks_instance_profile: {
    kind: "instance_profiles",
    id: text("id"),
    name: text("instance_profile_arn"),
    computed: ["id", "skip_validation"],
  },
  databricks_ip_access_list: {
    kind: "ip_access_lists",
    id: text("id"),
    name: text("label"),
    computed: ["id", "list_id", "address_count", "created_at", "created_by", "updated_at", "updated_by"],
  },
  databricks_notification_destination: {
    kind: "notification_destinations",
    id: text("id"),
    name: text("display_name"),
    fields: destinationAttributes,
    computed: ["id"],
  },
  [OF_WORKSPACE]: ASSIGNMENT,
  [OF_ACCOUNT]: ASSIGNMENT,
  [SETTINGS]: { kind: "workspace_conf", id: text("key"), name: text("key"), computed: ["id", "key"] },
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
    fields: (attributes) => ({
      attributes: withoutToken(renamed(attributes, { is_pinned: "pinned", ...LIBRARIES })),
    }),
    computed: ["id", "cluster_id", "default_tags", "state", "url", "idempotency_token", "no_wait"],
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
    id: treePath,
    name: treePath,
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
  databricks_workspace_file: {
    kind: "workspace_files",
    id: treePath,
    name: treePath,
    computed: OF_CONTENT,
  },
  databricks_directory: {
    kind: "directories",
    id: treePath,
    name: treePath,
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
