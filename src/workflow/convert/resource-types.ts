// The resource types of the vendor's Terraform provider, with the kind of each and the fields for its attributes.

import { singleTask } from "../../api/dialect/jobs.ts";
import { nestedNameOf } from "../../core/address.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { type Path, setMember } from "../../core/pointer.ts";
import { withoutToken } from "../../providers/clusters/operations.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import type {
  ConversionLog,
  ConvertedObject,
  ConvertedObjects,
  TerraformInstance,
} from "./terraform-state.ts";

const LIBRARIES = { library: "libraries" } as const;

/** The names of the provider for fields of a job's source. */
export const GIT_SOURCE = {
  url: "git_url",
  provider: "git_provider",
  branch: "git_branch",
  tag: "git_tag",
  commit: "git_commit",
} as const;

const blocks = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Blocks as a map, by the attribute that is their key. */
const byKey = (value: Json | undefined, key: string, element: (block: JsonObject) => Json): JsonObject =>
  Object.fromEntries(blocks(value).map(({ [key]: name, ...rest }) => [String(name), element(rest)]));

/** Blocks of a state as settings with keys. A job with one plain task has the fields of its task itself, as everywhere. */
function jobAttributes(attributes: JsonObject) {
  const { task, job_cluster, environment, parameter, git_source, ...settings } = attributes;
  const tasks = byKey(task, "task_key", taskAttributes);
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
  const { task_key: _, ...ofTask } = fields;
  const [only = {}] = blocks(task);
  const reason = "it belongs to the task, so the spec does not manage it; updates keep it";
  return {
    attributes: { ...keyed, ...ofTask },
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
      return [[name, name.endsWith("_task") ? (blocks(value)[0] ?? value) : value]];
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

/** An attribute that is not in the spec, and why. Its value may be a secret, so it is not kept. */
export interface OmittedAttribute {
  readonly path: Path;
  readonly reason: string;
}

export interface ConvertedAttributes {
  readonly values: Values;
  readonly left: readonly OmittedAttribute[];
}

const NO_FIELD = "the kind has no such field";
export const IS_SENSITIVE = "Terraform marks it as sensitive; set it with a sensitive variable";

export function convertAttributes(
  fields: FieldTable,
  attributes: JsonObject,
  sensitive: readonly Path[] = [],
): ConvertedAttributes {
  const reader = new AttributeReader(sensitive);
  return { values: reader.members({ properties: fields }, attributes, []), left: reader.left };
}

/** Whether an attribute is unset: a provider writes null, zero, or an empty list or string for that. */
export function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.every(isUnset);
  return isObject(value) && Object.values(value).every(isUnset);
}

/** Whether zero or false is the value of a field; elsewhere, a provider writes them for what is not set. */
function isMeantEmpty(name: string, { autoscale }: JsonObject, at: Path): boolean {
  if (name === "num_workers") return isUnset(autoscale);
  // A service returns it for each cluster and pool, but not for the cluster of a job that does not set it.
  return name === "enable_elastic_disk" && !at.includes("new_cluster");
}

class AttributeReader {
  readonly left: OmittedAttribute[] = [];
  readonly #sensitive: ReadonlySet<string>;

  constructor(sensitive: readonly Path[]) {
    this.#sensitive = new Set(sensitive.map((path) => JSON.stringify(path)));
  }

  members(schema: FieldSchema, object: JsonObject, at: Path): { readonly [field: string]: Json } {
    const out: { [field: string]: Json } = {};
    for (const [name, value] of Object.entries(object)) {
      const path = [...at, name];
      const isField = schema.properties === undefined || Object.hasOwn(schema.properties, name);
      if (!isField) {
        if (!isUnset(value)) this.left.push({ path, reason: NO_FIELD });
        continue;
      }
      const isMeant = schema.properties === undefined || isMeantEmpty(name, object, at);
      const converted = this.#value(memberSchema(schema, name), value, path, isMeant);
      if (converted !== undefined) setMember(out, name, converted);
    }
    return out;
  }

  #value(schema: FieldSchema, value: Json, path: Path, meant: boolean): Json | undefined {
    if (value === null) return undefined;
    if (this.#sensitive.has(JSON.stringify(path))) return this.#leave(path, IS_SENSITIVE);
    if (schema.properties !== undefined) return this.#block(schema, value, path);
    if (typeof schema.additionalProperties === "object")
      return isObject(value) ? nonEmpty(this.members(schema, value, path)) : this.#unexpected(value, path);
    if (schema.items !== undefined) return this.#items(schema.items, value, path);
    if (typeof value === "object") return this.#unexpected(value, path);
    if (!meant && schema.default === undefined && isUnset(value)) return undefined;
    if (schema.enum !== undefined && !isAllowed(schema, value))
      return isUnset(value) ? undefined : this.#leave(path, "its value is unknown to this version");
    return value;
  }

  #block(schema: FieldSchema, value: Json, path: Path): Json | undefined {
    const blocks: readonly Json[] = Array.isArray(value) ? value : [value];
    const [only, ...more] = blocks;
    if (more.length > 0) return this.#leave(path, "it has more than one block");
    if (only === undefined || only === null) return undefined;
    const inside = Array.isArray(value) ? [...path, 0] : path;
    if (this.#sensitive.has(JSON.stringify(inside))) return this.#leave(path, IS_SENSITIVE);
    return isObject(only) ? nonEmpty(this.members(schema, only, inside)) : this.#unexpected(value, path);
  }

  #items(schema: FieldSchema, value: Json, path: Path): Json | undefined {
    if (!Array.isArray(value)) return this.#unexpected(value, path);
    const items = value.flatMap(
      (value: Json, index) => this.#value(schema, value, [...path, index], true) ?? [],
    );
    return items.length === 0 ? undefined : items;
  }

  #unexpected(value: Json, path: Path): undefined {
    return isUnset(value) ? undefined : this.#leave(path, "its type differs from that of the field");
  }

  #leave(path: Path, reason: string): undefined {
    this.left.push({ path, reason });
  }
}

const nonEmpty = (value: JsonObject): JsonObject | undefined =>
  Object.keys(value).length === 0 ? undefined : value;

/** In the words of the dialect or of this program. */
function isAllowed({ enum: values = [], words = {} }: FieldSchema, value: Json): boolean {
  return values.includes(value) || (typeof value === "string" && Object.hasOwn(words, value));
}

export function renamed(attributes: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      Object.hasOwn(names, name) ? names[name] : name,
      value,
    ]),
  );
}

const AUTHORITATIVE =
  "its list of members is authoritative: the plan removes members that Terraform did not manage";

interface Principal {
  readonly kind: "users" | "groups" | "service principals";
  readonly name: string;
}

/** The users and groups that resources and data sources of the state name, by ID. */
function principalsIn(instances: readonly TerraformInstance[]): ReadonlyMap<string, Principal> {
  const principalByKey = new Map<string, Principal>();
  for (const { type, values } of instances) {
    const naming = NAMED.get(type);
    const id = textAttribute(values, "id");
    const name = naming === undefined ? undefined : textAttribute(values, naming.attribute);
    if (naming !== undefined && id !== undefined && name !== undefined)
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
  const members: { readonly key: string; readonly member: Principal; readonly part: TerraformInstance }[] =
    [];
  for (const part of parts) {
    if (part.type === "databricks_entitlements") {
      const key = principalKey(part.values);
      if (key === undefined || !result.has(key)) log.leave(part, "its user or group is not in the state");
      else
        update(key, (values) => ({
          ...values,
          entitlements: together(values.entitlements, entitlementsIn(part.values)),
        }));
      continue;
    }
    const key = `groups\n${textAttribute(part.values, "group_id") ?? ""}`;
    const member = names.get(textAttribute(part.values, "member_id") ?? "");
    if (!result.has(key)) log.leave(part, "its group is not a resource of the state");
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
    if (incomplete.has(key)) {
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
  const user = textAttribute(attributes, "user_id");
  const group = textAttribute(attributes, "group_id");
  if (user !== undefined) return `users\n${user}`;
  return group === undefined ? undefined : `groups\n${group}`;
}

const together = (before: Json | undefined, more: readonly string[]): readonly string[] =>
  [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...more])].sort();
