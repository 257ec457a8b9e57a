// The Terraform state that the vendor's provider would have of an emulated workspace: attributes as it writes them.

import type { TestWorld } from "../../emulator/harness.ts";

type Attributes = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers of a service
type Answer = any;

export interface WrittenInstance {
  readonly type: string;
  readonly name: string;
  readonly attributes: Attributes;
}

/** Blocks of one, which a provider writes as lists. */
const BLOCKS = new Set([
  "autoscale",
  "aws_attributes",
  "azure_attributes",
  "cluster_log_conf",
  "dbfs",
  "disk_spec",
  "disk_type",
  "email_notifications",
  "file",
  "gcp_attributes",
  "maven",
  "new_cluster",
  "notebook_task",
  "pypi",
  "s3",
  "schedule",
  "spark_jar_task",
  "spark_python_task",
  "spark_submit_task",
  "volumes",
  "webhook_notifications",
  "workspace",
]);

const isMap = (value: unknown): value is Attributes =>
  value !== null && typeof value === "object" && !Array.isArray(value);

function blocks(value: Answer): Answer {
  if (Array.isArray(value)) return value.map(blocks);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      BLOCKS.has(name) && isMap(one) ? [blocks(one)] : blocks(one),
    ]),
  );
}

/** Unset attributes of a cluster, as the provider writes them. */
const NO_CLUSTER = {
  apply_policy_default_values: false,
  autoscale: [],
  aws_attributes: [],
  cluster_log_conf: [],
  cluster_mount_info: [],
  custom_tags: null,
  docker_image: [],
  driver_instance_pool_id: "",
  enable_local_disk_encryption: false,
  gcp_attributes: [],
  idempotency_token: "",
  init_scripts: [],
  instance_pool_id: "",
  num_workers: 0,
  policy_id: "",
  runtime_engine: "",
  single_user_name: "",
  spark_conf: {},
  spark_env_vars: {},
  ssh_public_keys: [],
  workload_type: [],
};
const NO_POLICY = {
  libraries: [],
  max_clusters_per_user: 0,
  policy_family_definition_overrides: null,
  policy_family_id: null,
};
const NO_JOB = {
  always_running: false,
  continuous: [],
  description: "",
  existing_cluster_id: "",
  git_source: [],
  health: [],
  job_cluster: [],
  notification_settings: [],
  parameter: [],
  pipeline_task: [],
  python_wheel_task: [],
  queue: [],
  run_as: [],
  schedule: [],
  spark_jar_task: [],
  tags: null,
  timeouts: null,
  trigger: [],
};
const NO_PRINCIPAL = { allow_cluster_create: false, databricks_sql_access: false, workspace_access: false };

export async function terraformInstancesOf(world: TestWorld): Promise<readonly WrittenInstance[]> {
  const found: WrittenInstance[] = [];
  const add = (type: string, attributes: Attributes): void => {
    found.push({ type: `databricks_${type}`, name: `r${found.length}`, attributes });
  };
  const get = async (path: string, query = {}): Promise<Answer> => (await world.get(path, query)).body;
  const flags = (one: Answer): Attributes => ({
    ...NO_PRINCIPAL,
    ...Object.fromEntries(
      (one.entitlements ?? []).map(({ value }: Answer) => [value.replaceAll("-", "_"), true]),
    ),
  });

  for (const user of (await get("preview/scim/v2/Users")).Resources ?? [])
    add("user", {
      id: user.id,
      user_name: user.userName,
      display_name: user.displayName ?? "",
      active: user.active ?? true,
      external_id: "",
      force: false,
      home: `/Users/${user.userName}`,
      repos: `/Repos/${user.userName}`,
      acl_principal_id: `users/${user.userName}`,
      ...flags(user),
    });
  for (const group of (await get("preview/scim/v2/Groups")).Resources ?? []) {
    if (group.displayName === "admins" || group.displayName === "users") continue;
    add("group", {
      id: group.id,
      display_name: group.displayName,
      external_id: "",
      url: `https://x/${group.id}`,
      ...flags(group),
    });
    for (const { value } of group.members ?? [])
      add("group_member", { id: `${group.id}|${value}`, group_id: group.id, member_id: value });
  }
  for (const scope of (await get("secrets/scopes/list")).scopes ?? []) {
    add("secret_scope", {
      id: scope.name,
      name: scope.name,
      backend_type: scope.backend_type,
      initial_manage_principal: null,
      keyvault_metadata: scope.keyvault_metadata === undefined ? [] : [scope.keyvault_metadata],
    });
    for (const acl of (await get("secrets/acls/list", { scope: scope.name })).items ?? [])
      add("secret_acl", {
        id: `${scope.name}|||${acl.principal}`,
        scope: scope.name,
        principal: acl.principal,
        permission: acl.permission,
      });
    for (const secret of (await get("secrets/list", { scope: scope.name })).secrets ?? [])
      add("secret", {
        id: `${scope.name}|||${secret.key}`,
        scope: scope.name,
        key: secret.key,
        string_value: "canary-of-terraform",
        last_updated_timestamp: 1,
        config_reference: `{{secrets/${scope.name}/${secret.key}}}`,
      });
  }
  for (const pool of (await get("instance-pools/list")).instance_pools ?? []) {
    const { default_tags: _, stats: __, status: ___, state: ____, ...settings } = pool;
    add("instance_pool", {
      ...blocks({ max_capacity: 0, disk_spec: [], preloaded_docker_image: [], ...settings }),
      id: pool.instance_pool_id,
    });
  }
  for (const cluster of (await get("clusters/list")).clusters ?? []) {
    const written = clusterAttributes(cluster);
    add("cluster", {
      ...written,
      id: cluster.cluster_id,
      cluster_id: cluster.cluster_id,
      cluster_name: cluster.cluster_name,
      autotermination_minutes: cluster.autotermination_minutes ?? 0,
      is_pinned: cluster.pinned_by_user_name !== undefined,
      state: cluster.state,
      default_tags: cluster.default_tags,
      library: [],
      url: "https://x",
    });
  }
  for (const { job_id: id } of (await get("/api/2.1/jobs/list")).jobs ?? []) {
    const { settings } = await get("/api/2.1/jobs/get", { job_id: id });
    const { tasks = [], email_notifications: mails, ...rest } = settings;
    const [task = {}] = tasks;
    add("job", {
      ...NO_JOB,
      ...blocks(rest),
      email_notifications: mails === undefined ? [] : [mails],
      id: String(id),
      url: "https://x",
      task: [
        {
          task_key: task.task_key,
          depends_on: [],
          ...blocks(without(task, "libraries", "new_cluster")),
          library: blocks(task.libraries ?? []),
          new_cluster: task.new_cluster === undefined ? [] : [clusterAttributes(task.new_cluster)],
        },
      ],
    });
  }
  const walk = async (path: string): Promise<void> => {
    for (const one of (await get("workspace/list", { path })).objects ?? []) {
      if (one.object_type === "DIRECTORY") {
        if (one.path !== "/Shared" && one.path !== "/Users")
          add("directory", {
            id: one.path,
            path: one.path,
            object_id: one.object_id,
            workspace_path: `/Workspace${one.path}`,
            delete_recursive: false,
          });
        await walk(one.path);
      } else if (one.object_type === "FILE")
        add("workspace_file", {
          id: one.path,
          path: one.path,
          content_base64: (await get("workspace/export", { path: one.path, format: "AUTO" })).content,
          source: null,
          md5: "different",
          object_id: one.object_id,
          workspace_path: `/Workspace${one.path}`,
        });
      else if (one.object_type === "NOTEBOOK")
        add("notebook", {
          id: one.path,
          path: one.path,
          language: one.language,
          format: "SOURCE",
          content_base64: (await get("workspace/export", { path: one.path, format: "SOURCE" })).content,
          source: null,
          md5: "different",
          object_id: one.object_id,
          workspace_path: `/Workspace${one.path}`,
          object_type: "NOTEBOOK",
        });
    }
  };
  await walk("/");
  const files = async (path: string): Promise<void> => {
    for (const one of (await get("dbfs/list", { path })).files ?? [])
      if (one.is_dir) await files(one.path);
      else
        add("dbfs_file", {
          id: one.path,
          path: one.path,
          dbfs_path: `dbfs:${one.path}`,
          file_size: one.file_size,
          content_base64: await wholeFile(world, one.path, Number(one.file_size)),
          source: null,
        });
  };
  await files("/");
  await addDialectInstances(get, add);
  return found;
}

/** Of kinds that only the Databricks dialect has, and access lists, which the contract's answers lack. */
async function addDialectInstances(
  get: (path: string, query?: object) => Promise<Answer>,
  add: (type: string, attributes: Attributes) => void,
): Promise<void> {
  const list = async (path: string, key: string): Promise<readonly Answer[]> => (await get(path))[key] ?? [];
  for (const one of await list("preview/scim/v2/ServicePrincipals", "Resources"))
    add("service_principal", {
      id: one.id,
      application_id: one.applicationId,
      display_name: one.displayName,
      active: one.active ?? true,
      external_id: "",
      ...NO_PRINCIPAL,
      ...Object.fromEntries(
        (one.entitlements ?? []).map(({ value }: Answer) => [value.replaceAll("-", "_"), true]),
      ),
    });
  for (const { created_at_timestamp: _, creator_user_name: __, is_default: ___, ...policy } of await list(
    "policies/clusters/list",
    "policies",
  ))
    add("cluster_policy", { id: policy.policy_id, ...NO_POLICY, ...policy });
  for (const { tags, channel, odbc_params: _, health: __, ...one } of await list(
    "sql/warehouses",
    "warehouses",
  ))
    add("sql_endpoint", {
      ...one,
      channel: channel === undefined ? [] : [channel],
      tags: [{ custom_tags: tags?.custom_tags ?? [] }],
    });
  for (const { principal, permissions } of await list(
    "preview/permissionassignments",
    "permission_assignments",
  ))
    if (permissions.includes("ADMIN") && principal.user_name !== "admin@example.com")
      add("permission_assignment", { ...principal, id: String(principal.principal_id), permissions });
  for (const { credential_id: id, ...one } of await list("git-credentials", "credentials"))
    add("git_credential", { id: String(id), personal_access_token: "canary-of-git", ...one });
  const repos = [...(await list("repos", "repos"))];
  for (const { provider, sparse_checkout: sparse, ...one } of [
    ...repos,
    ...((await get("repos", { path_prefix: "/Shared" })).repos ?? []),
  ])
    add("repo", {
      ...one,
      id: String(one.id),
      git_provider: provider,
      workspace_path: `/Workspace${one.path}`,
      commit_hash: one.head_commit_id,
      head_commit_id: undefined,
      sparse_checkout: sparse === undefined ? [] : [sparse],
    });
  for (const {
    script_id: id,
    created_at: _,
    created_by: __,
    updated_at: ___,
    updated_by: ____,
    ...one
  } of await list("global-init-scripts", "scripts"))
    add("global_init_script", {
      ...one,
      id,
      content_base64: (await get(`global-init-scripts/${id}`)).script,
    });
  for (const one of await list("ip-access-lists", "ip_access_lists"))
    add("ip_access_list", { ...one, id: one.list_id });
  for (const { id } of await list("notification-destinations", "results")) {
    const { config, ...one } = await get(`notification-destinations/${id}`);
    add("notification_destination", {
      ...one,
      config: [Object.fromEntries(Object.entries(config).map(([part, inside]) => [part, [inside]]))],
    });
  }
  const keys = "enableWebTerminal,enableDcs,maxTokenLifetimeDays,enableIpAccessLists";
  const settings = Object.entries(await get("workspace-conf", { keys })).filter(
    ([, value]) => typeof value === "string" && value !== "false",
  );
  if (settings.length > 0) add("workspace_conf", { id: "_", custom_config: Object.fromEntries(settings) });
}

/** The access lists of objects that others than the administrator have a level of. */
export async function accessListsOf(
  world: TestWorld,
  objects: readonly { readonly type: string; readonly id: string }[],
): Promise<readonly WrittenInstance[]> {
  const lists = await Promise.all(
    objects.map(async ({ type, id }) => {
      const { body } = await world.get(`permissions/${type}/${id}`);
      const access_control = (body.access_control_list ?? []).flatMap((entry: Answer) =>
        entry.all_permissions
          .filter(({ inherited }: Answer) => inherited === false)
          .map(({ permission_level }: Answer) => ({
            user_name: entry.user_name ?? "",
            group_name: entry.group_name ?? "",
            service_principal_name: entry.service_principal_name ?? "",
            permission_level,
          }))
          .filter(({ user_name: name }: Answer) => name !== "admin@example.com"),
      );
      return { id: `/${type}/${id}`, object_type: body.object_type, access_control };
    }),
  );
  return lists
    .filter(({ access_control: entries }) => entries.length > 0)
    .map((attributes, at) => ({ type: "databricks_permissions", name: `access${at}`, attributes }));
}

function clusterAttributes(cluster: Answer): Attributes {
  const computed = [
    "cluster_cores",
    "cluster_memory_mb",
    "cluster_source",
    "creator_user_name",
    "default_tags",
    "disk_spec",
    "driver",
    "executors",
    "jdbc_port",
    "last_activity_time",
    "last_restarted_time",
    "last_state_loss_time",
    "pinned_by_user_name",
    "spark_context_id",
    "spec",
    "start_time",
    "state",
    "state_message",
    "terminated_time",
    "termination_reason",
  ];
  return { ...NO_CLUSTER, ...blocks(without(cluster, ...computed)) };
}

function without(object: Attributes, ...names: readonly string[]): Attributes {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

async function wholeFile(world: TestWorld, path: string, size: number): Promise<string> {
  const pieces: Buffer[] = [];
  for (let offset = 0; offset < size; offset += 1 << 20) {
    const { body } = await world.get("dbfs/read", { path, offset, length: 1 << 20 });
    pieces.push(Buffer.from(body.data, "base64"));
  }
  return Buffer.concat(pieces).toString("base64");
}

/** `terraform.tfstate`: each third resource in a module, and each fifth one of `for_each`. */
export function stateFile(instances: readonly WrittenInstance[]): string {
  const resources = instances.map(({ type, name, attributes }, at) => ({
    ...(at % 3 === 0 ? { module: `module.team["t${at}"]` } : {}),
    mode: "managed",
    type,
    name,
    provider: 'provider["registry.terraform.io/databricks/databricks"]',
    instances: [
      {
        ...(at % 5 === 0 ? { index_key: `k${at}` } : {}),
        schema_version: 0,
        attributes,
        sensitive_attributes: [],
      },
    ],
  }));
  return JSON.stringify({ version: 4, terraform_version: "1.5.7", serial: 3, lineage: "l", resources });
}

/** The output of `terraform show -json`: of a state, or with `plan` of a plan. */
export function shownState(instances: readonly WrittenInstance[], plan = false): string {
  const resource = ({ type, name, attributes }: WrittenInstance, module: string) => ({
    address: `${module}${type}.${name}`,
    mode: "managed",
    type,
    name,
    values: attributes,
    sensitive_values: {},
  });
  const half = Math.ceil(instances.length / 2);
  const values = {
    root_module: {
      resources: instances.slice(0, half).map((one) => resource(one, "")),
      child_modules: [
        {
          address: "module.a",
          resources: instances.slice(half).map((one) => resource(one, "module.a.")),
        },
      ],
    },
  };
  const head = { format_version: "1.0", terraform_version: "1.5.7" };
  return JSON.stringify(
    plan ? { ...head, planned_values: {}, prior_state: { ...head, values } } : { ...head, values },
  );
}
