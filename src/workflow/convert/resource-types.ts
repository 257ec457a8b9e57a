// The resource types of the vendor's Terraform provider, with the kind of each and the fields for its attributes.

import { singleTask, TASK_KEY } from "../../api/dialect/jobs.ts";
import { nestedNameOf } from "../../core/address.ts";
import { defined, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { withoutToken } from "../../providers/clusters/operations.ts";
import type { Values } from "../../resource/field-schema.ts";
import { ADMIN_TYPES } from "./admin-types.ts";
import {
  blocks,
  entitlementsIn,
  isUnset,
  MARKED_PART,
  MARKED_SETTINGS,
  OF_PRINCIPAL,
  principal,
  type ResourceType,
  renamed,
  text,
  textAttribute,
  treePath,
} from "./attributes.ts";
import { hasMark } from "./marks.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
  type TerraformInstance,
} from "./terraform-state.ts";

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
  const { task, job_cluster, environment, parameter, git_source, ...settings } = attributes;
  const tasks = byKey(task, "task_key", taskAttributes);
  if (Object.keys(tasks).some(hasMark)) return { attributes: {}, unmanageable: MARKED_SETTINGS };
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
  ...ADMIN_TYPES,
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

export const MEMBERSHIP = "databricks_group_member";

const AUTHORITATIVE =
  "its list of members is authoritative: the plan removes members that Terraform did not manage";

interface Principal {
  readonly kind: "users" | "groups" | "service principals";
  readonly name: string;
}

/** The users and groups that resources and data sources of the state name, by ID. */
export function principalsIn(instances: readonly TerraformInstance[]): ReadonlyMap<string, Principal> {
  const principalByKey = new Map<string, Principal>();
  for (const { type, values } of instances) {
    const naming = NAMED.get(type);
    const id = textAttribute(values, "id");
    const name = naming === undefined ? undefined : textAttribute(values, naming.attribute);
    if (naming !== undefined && id !== undefined && name !== undefined && !hasMark(name))
      principalByKey.set(id, { kind: naming.kind, name });
  }
  return principalByKey;
}

const NAMED = new Map<string, { readonly kind: Principal["kind"]; readonly attribute: string }>([
  ["databricks_user", { kind: "users", attribute: "user_name" }],
  ["databricks_current_user", { kind: "users", attribute: "user_name" }],
  ["databricks_group", { kind: "groups", attribute: "display_name" }],
  ["databricks_service_principal", { kind: "service principals", attribute: "application_id" }],
]);

/** The objects with the members and entitlements that `parts` give them. */
export function withMemberships(
  objects: ConvertedObjects,
  parts: readonly TerraformInstance[],
  instances: readonly TerraformInstance[],
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  const names = principalsIn(instances);
  const update = (key: string, change: (values: Values) => Values): void => {
    const convertedObject = result.get(key) as ConvertedObject;
    result.set(key, {
      ...convertedObject,
      live: { ...convertedObject.live, values: change(convertedObject.live.values) },
    });
  };
  const incomplete = new Set<string>();
  let isAnyIncomplete = false;
  const members: { readonly key: string; readonly member: Principal; readonly part: TerraformInstance }[] =
    [];
  for (const part of parts) {
    if (part.type === "databricks_entitlements") {
      const key = principalKey(part.values);
      if (key === undefined || !result.has(key))
        log.leave(part, "its user, group, or service principal is not in the state");
      else
        update(key, (values) => ({
          ...values,
          entitlements: together(values.entitlements, entitlementsIn(part.values)),
        }));
      continue;
    }
    const group = textAttribute(part.values, "group_id") ?? "";
    const key = convertedKey("groups", group);
    const member = names.get(textAttribute(part.values, "member_id") ?? "");
    if (hasMark(group)) {
      isAnyIncomplete = true;
      log.leave(part, MARKED_PART);
    } else if (!result.has(key)) log.leave(part, "its group is not a resource of the state");
    else if (member === undefined) {
      incomplete.add(key);
      log.leave(part, "the state does not contain the name of the member");
    } else if (member.kind === "service principals")
      log.leave(
        part,
        "its member is a service principal; the spec does not manage it, and it stays a member",
      );
    else members.push({ key, member, part });
  }
  for (const [key, ones] of Map.groupBy(members, (member) => member.key)) {
    if (isAnyIncomplete || incomplete.has(key)) {
      for (const { part } of ones)
        log.leave(part, "another member of its group is unknown, so the spec does not manage the members");
      continue;
    }
    const named = Map.groupBy(ones, ({ member }) => member.kind);
    const lists = (["users", "groups"] as const).flatMap((kind) => {
      const names = (named.get(kind) ?? []).map(({ member }) => member.name);
      return names.length === 0 ? [] : [[kind, together(undefined, names)] as const];
    });
    update(key, (values) => ({ ...values, members: Object.fromEntries(lists) }));
    const group = result.get(key);
    if (group !== undefined) log.note(group.instance, AUTHORITATIVE);
  }
  return result;
}

function principalKey(attributes: JsonObject): string | undefined {
  for (const [attribute, kind] of Object.entries(PRINCIPAL_IDS)) {
    const id = textAttribute(attributes, attribute);
    if (id !== undefined) return convertedKey(kind, id);
  }
  return undefined;
}

/** The kinds of the principals that entitlements name by their IDs. */
const PRINCIPAL_IDS: Readonly<Record<string, string>> = {
  user_id: "users",
  group_id: "groups",
  service_principal_id: "service_principals",
};

const together = (before: Json | undefined, more: readonly string[]): readonly string[] =>
  [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...more])].sort();
