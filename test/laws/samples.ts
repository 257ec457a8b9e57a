// For every kind: a spec that uses many of its fields, the same with changes, and a change outside the spec.
// The laws run over these; a kind without a sample fails a test.

/** A request that changes a live object without us: method, path and body, with names looked up by the law that sends it. */
export interface OutsideChange {
  readonly operation: string;
  /** Finds the request's body from what is live; ids are looked up through the API. */
  readonly body: (find: (kind: string, name: string) => string) => Readonly<Record<string, unknown>>;
}

export interface Sample {
  readonly kind: string;
  /** Of a sample that is not about its whole kind. */
  readonly title?: string;
  readonly spec: string;
  /** The same resources with other values. Nothing in it replaces anything. */
  readonly changed: string;
  readonly outsideChange?: OutsideChange;
  /** The only cloud that has the kind. */
  readonly cloud?: "aws";
  /** Local files that the spec names. */
  readonly files?: Readonly<Record<string, string>>;
  /** Contents of files that are secrets. */
  readonly secretFiles?: readonly string[];
}

const POOL = `
pools:
  warm: { node_type_id: Standard_DS3_v2, min_idle_instances: 1, max_capacity: 9 }
`;

const CLUSTER = `
clusters:
  shared: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
`;

export const samples: readonly Sample[] = [
  {
    kind: "users",
    spec: `
users:
  Ada@example.com: { entitlements: [allow-cluster-create], displayName: Ada }
  bo@example.com: {}
`,
    changed: `
users:
  Ada@example.com: { displayName: Countess }
  bo@example.com: { entitlements: [allow-cluster-create] }
`,
    outsideChange: {
      operation: "scim/users/patch",
      body: (find) => ({
        id: find("users", "bo@example.com"),
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [{ op: "add", path: "entitlements", value: [{ value: "allow-instance-pool-create" }] }],
      }),
    },
  },
  {
    kind: "groups",
    spec: `
users: { ada@example.com: {}, bo@example.com: {}, cy@example.com: {} }
groups:
  data: { displayName: data, members: { users: [ada@example.com, bo@example.com], groups: [platform] } }
  platform: { members: { users: [cy@example.com] } }
`,
    changed: `
users: { ada@example.com: {}, bo@example.com: {}, cy@example.com: {} }
groups:
  data: { displayName: data, members: { users: [cy@example.com, bo@example.com], groups: [] } }
  platform: { members: { users: [] } }
`,
    outsideChange: {
      operation: "groups/add-member",
      body: () => ({ parent_name: "data", user_name: "cy@example.com" }),
    },
  },
  {
    kind: "scopes",
    spec: `
scopes:
  etl: {}
  open: { initial_manage_principal: users }
`,
    changed: `
scopes:
  etl: {}
  open: { initial_manage_principal: users }
  more: {}
`,
  },
  {
    kind: "acls",
    spec: `
groups: { data: {}, ops: {} }
scopes:
  etl: { acls: { data: READ, ops: MANAGE } }
`,
    changed: `
groups: { data: {}, ops: {} }
scopes:
  etl: { acls: { data: WRITE } }
`,
    outsideChange: {
      operation: "secrets/acls/put",
      body: () => ({ scope: "etl", principal: "data", permission: "MANAGE" }),
    },
  },
  {
    kind: "secrets",
    spec: `
scopes:
  etl:
    secrets:
      db-password: { env: DB_PASSWORD }
      cert: { file: secrets/cert.pem, encoding: bytes }
`,
    changed: `
scopes:
  etl:
    secrets:
      db-password: { env: OTHER_PASSWORD }
`,
    files: { "secrets/cert.pem": "canary-cert-5b1e" },
    secretFiles: ["canary-cert-5b1e"],
    outsideChange: {
      operation: "secrets/put",
      body: () => ({ scope: "etl", key: "db-password", string_value: "theirs" }),
    },
  },
  {
    kind: "pools",
    spec: `
pools:
  warm:
    node_type_id: Standard_DS3_v2
    min_idle_instances: 2
    max_capacity: 50
    idle_instance_autotermination_minutes: 15
    enable_elastic_disk: true
    custom_tags: { team: data, cost: "42" }
    preloaded_spark_versions: [6.4.x-scala2.11]
  plain: { node_type_id: Standard_DS3_v2 }
`,
    changed: `
pools:
  warm:
    node_type_id: Standard_DS3_v2
    min_idle_instances: 0
    max_capacity: 20
    enable_elastic_disk: true
    custom_tags: { team: data, cost: "42" }
    preloaded_spark_versions: [6.4.x-scala2.11]
  plain: { node_type_id: Standard_DS3_v2, max_capacity: 3 }
`,
    outsideChange: {
      operation: "instance-pools/edit",
      body: (find) => ({
        instance_pool_id: find("pools", "warm"),
        instance_pool_name: "warm",
        node_type_id: "Standard_DS3_v2",
        min_idle_instances: 5,
        max_capacity: 50,
        idle_instance_autotermination_minutes: 15,
      }),
    },
  },
  {
    kind: "clusters",
    spec: `${POOL}
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    autoscale: { min_workers: 1, max_workers: 8 }
    autotermination_minutes: 60
    spark_conf: { spark.speculation: "true" }
    spark_env_vars: { PYSPARK_PYTHON: /usr/bin/python3 }
    custom_tags: { team: data }
    pinned: true
  pooled:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: "\${pools.warm.instance_pool_id}"
    num_workers: 2
`,
    changed: `${POOL}
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    autoscale: { min_workers: 2, max_workers: 6 }
    custom_tags: { team: platform }
  pooled:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: "\${pools.warm.instance_pool_id}"
    num_workers: 4
`,
    outsideChange: {
      operation: "clusters/unpin",
      body: (find) => ({ cluster_id: find("clusters", "adhoc") }),
    },
  },
  {
    kind: "jobs",
    spec: `${POOL}${CLUSTER}
jobs:
  nightly:
    existing_cluster_id: "\${clusters.shared.cluster_id}"
    notebook_task: { notebook_path: /Shared/nightly, base_parameters: { day: today } }
    libraries: [{ jar: "fs:/jars/a.jar" }, { maven: { coordinates: "g:a:1" } }]
    schedule: { quartz_cron_expression: "0 30 2 * * ?", timezone_id: Europe/Paris }
    email_notifications: { on_failure: [ops@example.com], no_alert_for_skipped_runs: true }
    timeout_seconds: 3600
    max_retries: 2
    min_retry_interval_millis: 1000
    retry_on_timeout: true
  packed:
    new_cluster:
      spark_version: 6.4.x-scala2.11
      instance_pool_id: "\${pools.warm.instance_pool_id}"
      num_workers: 2
    spark_jar_task: { main_class_name: org.example.Main, parameters: [a, b] }
`,
    changed: `${POOL}${CLUSTER}
jobs:
  nightly:
    existing_cluster_id: "\${clusters.shared.cluster_id}"
    notebook_task: { notebook_path: /Shared/nightly }
    libraries: [{ maven: { coordinates: "g:a:1" } }]
    max_concurrent_runs: 3
  packed:
    new_cluster:
      spark_version: 6.4.x-scala2.11
      node_type_id: Standard_DS3_v2
      num_workers: 2
    spark_python_task: { python_file: "fs:/main.py" }
`,
    outsideChange: {
      operation: "jobs/reset",
      body: (find) => ({
        job_id: Number(find("jobs", "packed")),
        new_settings: {
          name: "packed",
          existing_cluster_id: find("clusters", "shared"),
          spark_jar_task: { main_class_name: "org.example.Main" },
          max_concurrent_runs: 9,
        },
      }),
    },
  },
  {
    kind: "directories",
    spec: "directories: { /Shared/etl: {}, /Shared/etl/deeper: {} }\n",
    changed: "directories: { /Shared/etl: {}, /Shared/other: {} }\n",
  },
  {
    kind: "notebooks",
    spec: `
directories: { /Shared/etl: {} }
notebooks:
  /Shared/etl/nightly: { source: nightly.py }
  /Shared/etl/query: { source: query.sql }
  /Shared/etl/study: { source: study.ipynb }
`,
    changed: `
directories: { /Shared/etl: {} }
notebooks:
  /Shared/etl/nightly: { source: nightly2.py }
  /Shared/etl/query: { source: query.sql }
`,
    files: {
      "nightly.py": "print('nightly')\n\n# COMMAND ----------\n\nprint('done')\n",
      "nightly2.py": "print('nightly, better')\n",
      "query.sql": "select 1\n",
      "study.ipynb": JSON.stringify({
        cells: [
          { cell_type: "markdown", metadata: {}, source: ["# Study\n"] },
          { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: ["x = 1\n", "x\n"] },
        ],
        metadata: { language_info: { name: "python" } },
        nbformat: 4,
        nbformat_minor: 2,
      }),
    },
    outsideChange: {
      operation: "workspace/import",
      body: () => ({
        path: "/Shared/etl/nightly",
        format: "SOURCE",
        language: "PYTHON",
        overwrite: true,
        content: Buffer.from("print('theirs')\n").toString("base64"),
      }),
    },
  },
  {
    kind: "files",
    spec: `
files:
  /init/install.sh: { source: install.sh }
  /data/big.bin: { source: big.bin }
`,
    changed: `
files:
  /init/install.sh: { source: install2.sh }
`,
    files: {
      "install.sh": "echo one\n",
      "install2.sh": "echo two\n",
      "big.bin": "0123456789abcdef".repeat(80_000),
    },
    outsideChange: {
      operation: "fs/put",
      body: () => ({
        path: "/init/install.sh",
        overwrite: true,
        contents: Buffer.from("echo 111\n").toString("base64"),
      }),
    },
  },
];
