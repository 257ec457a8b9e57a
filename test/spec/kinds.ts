// Small kinds that show every annotation which the reading of a spec knows, so that its tests rest on no real kind.

import Type, { type TSchema } from "typebox";
import type { FieldTable } from "../../src/resource/field-schema.ts";
import { type Provider, type Registry, registryOf } from "../../src/resource/kind.ts";
import { type FlatKind, providerOf } from "../flat-kind.ts";

const never = (): never => {
  throw new Error("the reading of a spec calls no verb that talks to a service");
};

function kind(
  definition: Pick<Provider, "kind" | "singular" | "nameField" | "idAttribute"> & {
    readonly fields: Record<string, TSchema>;
  } & Partial<Omit<FlatKind, "fields">>,
): Provider {
  return providerOf({
    description: `Every ${definition.singular}.`,
    unique: true,
    creationRecovery: "client-named",
    replaceStrategy: "delete-first",
    list: never,
    read: never,
    create: never,
    update: never,
    delete: never,
    ...definition,
    fields: definition.fields as unknown as FieldTable,
  });
}

const text = (options: object = {}): TSchema => Type.String({ description: "A text.", ...options });
const maybe = (field: TSchema): TSchema => Type.Optional(field);
const whole = (options: object = {}): TSchema => Type.Integer({ description: "A number.", ...options });
const names = (kindNamed: string): TSchema =>
  Type.Array(Type.String({ names: kindNamed }), { list: "set", whenAbsent: "unmanaged" });

const users = kind({
  kind: "users",
  singular: "user",
  nameField: "userName",
  idAttribute: "id",
  ignoreCase: true,
  fields: {
    userName: text({ onChange: "replace" }),
    groups: maybe(names("groups")),
    active: maybe(Type.Boolean()),
  },
});

const groups = kind({
  kind: "groups",
  singular: "group",
  nameField: "displayName",
  idAttribute: "id",
  fields: {
    displayName: text(),
    members: maybe(Type.Object({ users: maybe(names("users")), groups: maybe(names("groups")) })),
  },
});

const scopes = kind({
  kind: "scopes",
  singular: "secret scope",
  nameField: undefined,
  idAttribute: "name",
  limit: { max: 3, per: "workspace" },
  fields: { backend_type: maybe(Type.Union([Type.Literal("PLATFORM"), Type.Literal("VAULT")])) },
});

const member = (name: string): string => name.slice(name.indexOf("/") + 1);

const acls = kind({
  kind: "acls",
  singular: "access",
  nameField: undefined,
  idAttribute: "name",
  nested: { kind: "scopes", under: "acls", shorthand: "permission" },
  dependencies: (name) => ["users", "groups"].map((one) => ({ kind: one, name: member(name) })),
  fields: { permission: text({ enum: ["READ", "WRITE", "MANAGE"] }) },
});

const secrets = kind({
  kind: "secrets",
  singular: "secret",
  nameField: undefined,
  idAttribute: "key",
  nested: { kind: "scopes", under: "secrets" },
  limit: { max: 2, per: "parent" },
  fields: {
    env: maybe(text({ source: true })),
    file: maybe(text({ source: true })),
    encoding: maybe(text({ source: true, enum: ["text", "bytes"] })),
    value: maybe(text({ writeOnly: true, sensitive: true, witness: "last_updated_timestamp" })),
  },
});

const pools = kind({
  kind: "pools",
  singular: "pool",
  nameField: "instance_pool_name",
  idAttribute: "instance_pool_id",
  fields: {
    instance_pool_name: text({ minLength: 1, maxLength: 20 }),
    node_type_id: text({ onChange: "replace" }),
    min_idle_instances: maybe(whole({ minimum: 0, default: 0 })),
    max_capacity: maybe(whole({ maximum: 1000 })),
    enable_elastic_disk: maybe(Type.Boolean()),
    custom_tags: maybe(
      Type.Unsafe({
        type: "object",
        maxProperties: 2,
        additionalProperties: Type.String(),
        propertyNames: { maxLength: 5 },
      }),
    ),
    preloaded_spark_versions: maybe(Type.Array(Type.String(), { list: "set" })),
    state: maybe(text({ readOnly: true })),
    serial: maybe(whole()),
  },
  validate: ({ min_idle_instances: least, max_capacity: most }) =>
    typeof least === "number" && typeof most === "number" && least > most
      ? [
          {
            path: ["min_idle_instances"],
            code: "SPEC_COMBINATION",
            message: "min_idle_instances is more than max_capacity",
          },
        ]
      : [],
});

const clusters = kind({
  kind: "clusters",
  singular: "cluster",
  nameField: "cluster_name",
  idAttribute: "cluster_id",
  unique: false,
  fields: {
    cluster_name: maybe(text()),
    num_workers: maybe(whole()),
    autoscale: maybe(Type.Object({ min_workers: whole(), max_workers: whole() })),
    instance_pool_id: maybe(text({ refersTo: "pools" })),
    spark_conf: maybe(Type.Record(Type.String(), Type.String())),
  },
});

const jobs = kind({
  kind: "jobs",
  singular: "job",
  nameField: "name",
  idAttribute: "job_id",
  unique: false,
  fields: {
    name: maybe(text()),
    existing_cluster_id: maybe(text({ refersTo: "clusters" })),
    notebook_path: maybe(text({ mentions: ["notebooks"] })),
    libraries: maybe(Type.Array(Type.Object({ jar: maybe(text({ mentions: ["files"] })) }), { list: "set" })),
    max_retries: maybe(whole({ minimum: -1 })),
  },
});

const parent = (name: string): string => name.slice(0, name.lastIndexOf("/"));
const inFolder: Partial<FlatKind> = { dependencies: (name) => [{ kind: "directories", name: parent(name) }] };

const directories = kind({
  kind: "directories",
  singular: "folder",
  nameField: undefined,
  idAttribute: "path",
  tree: { root: "workspace", folders: true },
  ...inFolder,
  fields: {},
});

const source = { source: maybe(text({ source: true })), source_dir: maybe(text({ source: true })) };
const patterns = {
  include: maybe(Type.Array(Type.String(), { source: true })),
  exclude: maybe(Type.Array(Type.String(), { source: true })),
};

const notebooks = kind({
  kind: "notebooks",
  singular: "notebook",
  nameField: undefined,
  idAttribute: "path",
  tree: { root: "workspace", folders: false },
  ...inFolder,
  fields: {
    ...source,
    ...patterns,
    language: maybe(text({ enum: ["PYTHON", "SCALA", "SQL", "R"] })),
    format: maybe(text({ enum: ["SOURCE", "HTML", "JUPYTER", "DBC"] })),
    content: maybe(text()),
  },
  content: { digest: (bytes, values) => `${new TextDecoder().decode(bytes).trim()}|${values.format}` },
});

const files = kind({
  kind: "files",
  singular: "file",
  nameField: undefined,
  idAttribute: "path",
  tree: { root: "files", folders: false },
  fields: { ...source, ...patterns, content: maybe(text()) },
});

export const registry: Registry = registryOf([
  users,
  groups,
  scopes,
  acls,
  secrets,
  pools,
  clusters,
  jobs,
  directories,
  notebooks,
  files,
]);

/** The registry with a changed kind. */
export const withKind = (kind: string, change: Partial<Provider>): Registry =>
  registryOf(
    registry.kinds.map((other) => (other.kind === kind ? { ...other, ...change } : other)) as Provider[],
  );

/** The registry in which `pools` have more fields, which need no value. */
export const withPoolFields = (fields: Readonly<Record<string, object>>): Registry => {
  const added = Object.entries(fields).map(([name, schema]) => [name, maybe(Type.Unsafe(schema))]);
  return withKind("pools", {
    fields: { ...registry.get("pools").fields, ...Object.fromEntries(added) },
  } as Partial<Provider>);
};
