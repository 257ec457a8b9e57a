// The measured workspace as a configuration of Terraform with the vendor's provider, in the JSON syntax (`main.tf.json`).

import { JOB_CLUSTER, type World } from "./world.ts";

type Block = Readonly<Record<string, unknown>>;
type Blocks = Readonly<Record<string, Block>>;

export interface TerraformConfig {
  readonly terraform: Block;
  readonly provider: Blocks;
  readonly variable: Blocks;
  /** By type and by name. */
  readonly resource: Readonly<Record<string, Blocks>>;
}

/** Its host and token come from DATABRICKS_HOST and DATABRICKS_TOKEN, the value of all secrets from TF_VAR_secret. */
export function terraformConfig(world: World): TerraformConfig {
  const { users, groups, scopes, pools, clusters, jobs } = world;
  const memberships = Object.entries(groups).flatMap(([group, { members }]) =>
    members.users.map((user) => ({ group, user })),
  );
  const secrets = Object.entries(scopes).flatMap(([scope, { secrets: keys }]) =>
    keys.map((key) => ({ scope, key })),
  );
  const acls = Object.entries(scopes).flatMap(([scope, one]) =>
    Object.entries(one.acls).map(([group, permission]) => ({ scope, group, permission })),
  );
  const resource = {
    databricks_user: named(
      Object.entries(users),
      ([name]) => name,
      ([name, { entitlements }]) => ({
        user_name: name,
        ...(entitlements === undefined ? {} : { allow_cluster_create: true }),
      }),
    ),
    databricks_group: named(Object.keys(groups), String, (name) => ({ display_name: name })),
    databricks_group_member: named(
      memberships,
      ({ group, user }) => `${group}-${user}`,
      ({ group, user }) => ({
        group_id: reference("databricks_group", group, "id"),
        member_id: reference("databricks_user", user, "id"),
      }),
    ),
    databricks_secret_scope: named(Object.keys(scopes), String, (name) => ({ name })),
    databricks_secret: named(
      secrets,
      ({ scope, key }) => `${scope}-${key}`,
      ({ scope, key }) => ({
        scope: reference("databricks_secret_scope", scope, "name"),
        key,
        string_value: "${var.secret}",
      }),
    ),
    databricks_secret_acl: named(
      acls,
      ({ scope, group }) => `${scope}-${group}`,
      ({ scope, group, permission }) => ({
        scope: reference("databricks_secret_scope", scope, "name"),
        principal: reference("databricks_group", group, "display_name"),
        permission,
      }),
    ),
    databricks_instance_pool: named(Object.entries(pools), first, ([name, fields]) => ({
      instance_pool_name: name,
      idle_instance_autotermination_minutes: 60,
      ...fields,
    })),
    databricks_cluster: named(Object.entries(clusters), first, ([name, { pool, fields }]) => ({
      cluster_name: name,
      ...withPool(fields, pool),
    })),
    databricks_job: named(Object.entries(jobs), first, ([name, job]) => jobBlock(name, job)),
  };
  return {
    terraform: {
      required_providers: { databricks: { source: "databricks/databricks", version: ">= 1.40.0" } },
    },
    provider: { databricks: {} },
    variable: { secret: { type: "string", sensitive: true } },
    resource: Object.fromEntries(Object.entries(resource).filter(([, one]) => Object.keys(one).length > 0)),
  };
}

function jobBlock(name: string, { cluster, pool, fields }: World["jobs"][string]): Block {
  const { notebook_task, libraries, timeout_seconds, max_retries, ...job } = fields;
  const where =
    cluster === undefined
      ? { new_cluster: withPool(JOB_CLUSTER, pool) }
      : { existing_cluster_id: reference("databricks_cluster", cluster, "id") };
  const task = {
    task_key: "main",
    notebook_task,
    ...where,
    library: libraries,
    timeout_seconds,
    max_retries,
  };
  return { name, ...job, task: [task] };
}

function withPool(fields: Block, pool: string | undefined): Block {
  if (pool === undefined) return fields;
  return { ...fields, instance_pool_id: reference("databricks_instance_pool", pool, "id") };
}

function reference(type: string, name: string, attribute: string): string {
  return `\${${type}.${identifier(name)}.${attribute}}`;
}

/** Letters, digits, underscores, and hyphens. */
function identifier(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_");
}

const first = ([name]: readonly [string, unknown]): string => name;

function named<T>(all: readonly T[], nameOf: (one: T) => string, block: (one: T) => Block): Blocks {
  return Object.fromEntries(all.map((one) => [identifier(nameOf(one)), block(one)]));
}

/** The same workspace for a host of Databricks: its file system has another scheme. */
export function inDatabricks(world: World): World {
  const text = JSON.stringify(world.jobs).replaceAll('"fs:/', '"dbfs:/');
  return { ...world, jobs: JSON.parse(text) as World["jobs"] };
}
