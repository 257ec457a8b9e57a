// Samples of what only the dialect of Databricks has; the laws run over these there.

import type { Sample } from "./samples.ts";

const PEOPLE = `
users: { ada@example.com: {} }
groups: { data: {}, ops: {} }
`;

const TOKENS = `
variables:
  first: { type: string, sensitive: true, default: token-1 }
  second: { type: string, sensitive: true, default: token-2 }
`;

const CLUSTER = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";

export const databricksSamples: readonly Sample[] = [
  {
    kind: "jobs",
    title: "access of jobs",
    spec: `${PEOPLE}
jobs:
  nightly:
    new_cluster: { ${CLUSTER} }
    notebook_task: { notebook_path: /Shared/nightly }
    access: { data: CAN_MANAGE_RUN, ops: CAN_VIEW }
  owned:
    new_cluster: { ${CLUSTER} }
    notebook_task: { notebook_path: /Shared/owned }
    owner: ada@example.com
    access: { ops: CAN_MANAGE }
`,
    changed: `${PEOPLE}
jobs:
  nightly:
    new_cluster: { ${CLUSTER} }
    notebook_task: { notebook_path: /Shared/nightly }
    access: { data: CAN_VIEW, ada@example.com: CAN_MANAGE }
  owned:
    new_cluster: { ${CLUSTER} }
    notebook_task: { notebook_path: /Shared/owned }
    access: {}
`,
    outsideChange: {
      operation: "permissions/update",
      body: (find) => ({
        object_type: "jobs",
        object_id: find("jobs", "nightly"),
        access_control_list: [{ group_name: "users", permission_level: "CAN_VIEW" }],
      }),
    },
  },
  {
    kind: "directories",
    title: "access in the tree",
    spec: `${PEOPLE}
directories: { /Shared/etl: { access: { data: CAN_RUN } } }
notebooks: { /Shared/etl/query: { source: query.sql, access: { ops: CAN_EDIT } } }
`,
    changed: `${PEOPLE}
directories: { /Shared/etl: { access: { data: CAN_EDIT, ops: CAN_READ } } }
notebooks: { /Shared/etl/query: { source: query.sql, access: {} } }
`,
    files: { "query.sql": "select 1\n" },
  },
  {
    kind: "workspace_files",
    spec: `${PEOPLE}
directories: { /Shared/lib: {} }
workspace_files:
  /Shared/lib/rules.json: { source: rules.json, access: { data: CAN_READ, ada@example.com: CAN_EDIT } }
  /Shared/lib/job.py: { source: job.py }
  /Shared/new/empty.txt: { source: empty.txt }
`,
    changed: `${PEOPLE}
directories: { /Shared/lib: {} }
workspace_files:
  /Shared/lib/rules.json: { source: other.json, access: { ops: CAN_MANAGE } }
  /Shared/lib/job.py: { source: rules.json }
  /Shared/new/empty.txt: { source: job.py }
`,
    files: {
      "rules.json": '{ "a": 1 }\n',
      "other.json": '{ "a": 2 }\n',
      "job.py": "# Databricks notebook source\nprint(1)\n",
      "empty.txt": "",
    },
    outsideChange: {
      operation: "workspace/import",
      body: () => ({
        path: "/Shared/lib/rules.json",
        format: "RAW",
        content: Buffer.from("changed").toString("base64"),
        overwrite: true,
      }),
    },
  },
  {
    kind: "clusters",
    title: "access of compute",
    spec: `${PEOPLE}
pools: { warm: { node_type_id: Standard_DS3_v2, access: { data: CAN_ATTACH_TO } } }
clusters: { shared: { ${CLUSTER}, access: { data: CAN_RESTART, ada@example.com: CAN_ATTACH_TO } } }
`,
    changed: `${PEOPLE}
pools: { warm: { node_type_id: Standard_DS3_v2, access: { ops: CAN_ATTACH_TO } } }
clusters: { shared: { ${CLUSTER}, access: { data: CAN_MANAGE } } }
`,
  },
  {
    kind: "clusters",
    title: "libraries of clusters",
    spec: `
clusters:
  etl: { ${CLUSTER}, libraries: [{ pypi: { package: six } }, { jar: "dbfs:/a.jar" }] }
  bare: { ${CLUSTER} }
`,
    changed: `
clusters:
  etl: { ${CLUSTER}, libraries: [{ pypi: { package: "six==1.16" } }, { jar: "dbfs:/a.jar" }] }
  bare: { ${CLUSTER}, libraries: [{ maven: { coordinates: "g:a:1", exclusions: ["x:y"] } }] }
`,
    outsideChange: {
      operation: "libraries/install",
      body: (find) => ({
        cluster_id: find("clusters", "etl"),
        libraries: [{ cran: { package: "ggplot2" } }],
      }),
    },
  },
  {
    kind: "authorizations",
    spec: `${PEOPLE}
authorizations:
  tokens: { access: { data: CAN_USE, ada@example.com: CAN_MANAGE } }
  passwords: { access: { ops: CAN_USE } }
`,
    changed: `${PEOPLE}
authorizations:
  tokens: { access: { data: CAN_MANAGE } }
  passwords: { access: {} }
`,
    outsideChange: {
      operation: "permissions/update",
      body: () => ({
        object_type: "authorization",
        object_id: "tokens",
        access_control_list: [{ group_name: "users", permission_level: "CAN_USE" }],
      }),
    },
  },
  {
    kind: "service_principals",
    spec: `
service_principals:
  deployer: { entitlements: [allow-cluster-create] }
  reader: { applicationId: 11111111-2222-3333-4444-555555555555, active: false }
pools: { warm: { node_type_id: Standard_DS3_v2, access: { "sp:deployer": CAN_MANAGE } } }
`,
    changed: `
service_principals:
  deployer: { entitlements: [workspace-access] }
  reader: { displayName: readers, applicationId: 11111111-2222-3333-4444-555555555555 }
pools: { warm: { node_type_id: Standard_DS3_v2, access: { "sp:deployer": CAN_MANAGE } } }
`,
    outsideChange: {
      operation: "scim/service-principals/patch",
      body: (find) => ({
        id: find("service_principals", "reader"),
        schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        Operations: [{ op: "replace", path: "active", value: true }],
      }),
    },
  },
  {
    kind: "workspace_assignments",
    spec: `
users: { ada@example.com: {}, bo@example.com: {} }
workspace_assignments:
  Ada@example.com: { permissions: [ADMIN] }
  bo@example.com: { permissions: [USER] }
`,
    changed: `
users: { ada@example.com: {}, bo@example.com: {} }
workspace_assignments:
  Ada@example.com: { permissions: [USER] }
  bo@example.com: { permissions: [ADMIN] }
`,
    outsideChange: {
      operation: "permissionassignments/set",
      body: (find) => ({ id: find("workspace_assignments", "bo@example.com"), permissions: ["ADMIN"] }),
    },
  },
  {
    kind: "cluster_policies",
    spec: `
groups: { data: {} }
cluster_policies:
  small:
    description: Small clusters.
    definition:
      num_workers: { type: range, maxValue: 4, defaultValue: 1 }
      custom_tags.team: { type: fixed, value: data }
    max_clusters_per_user: 3
    libraries: [{ pypi: { package: six } }, { jar: "dbfs:/a.jar" }]
    access: { data: CAN_USE }
  personal: { policy_family_id: personal-vm, policy_family_definition_overrides: { autotermination_minutes: { type: fixed, value: 30 } } }
`,
    changed: `
groups: { data: {} }
cluster_policies:
  small:
    definition: { num_workers: { type: range, maxValue: 8 } }
    libraries: [{ maven: { coordinates: "g:a:1", exclusions: ["x:y"] } }]
    access: {}
  personal: { policy_family_id: personal-vm }
`,
    outsideChange: {
      operation: "policies/clusters/edit",
      body: (find) => ({
        policy_id: find("cluster_policies", "small"),
        name: "small",
        definition: '{"num_workers":{"type":"range","maxValue":99}}',
      }),
    },
  },
  {
    kind: "warehouses",
    spec: `
users: { ada@example.com: {} }
groups: { data: {} }
warehouses:
  queries:
    cluster_size: Small
    max_num_clusters: 2
    auto_stop_mins: 10
    custom_tags: { team: data }
    enable_serverless_compute: false
    run_state: STOPPED
    owner: ada@example.com
    access: { data: CAN_USE }
  plain: { cluster_size: 2X-Small }
`,
    changed: `
users: { ada@example.com: {} }
groups: { data: {} }
warehouses:
  queries:
    cluster_size: Medium
    auto_stop_mins: 0
    enable_serverless_compute: true
    run_state: RUNNING
    access: { data: CAN_MONITOR }
  plain: { cluster_size: 2X-Small, enable_photon: false }
`,
    outsideChange: {
      operation: "sql/warehouses/edit",
      body: (find) => ({ id: find("warehouses", "plain"), name: "plain", cluster_size: "Large" }),
    },
  },
  {
    kind: "git_credentials",
    spec: `${TOKENS}
git_credentials:
  gitHub: { git_username: ada, personal_access_token: "\${var.first}" }
  gitLab: {}
`,
    changed: `${TOKENS}
git_credentials:
  gitHub: { git_username: bo, personal_access_token: "\${var.second}" }
  gitLab: { git_username: ada }
`,
    outsideChange: {
      operation: "git-credentials/update",
      body: (find) => ({
        id: find("git_credentials", "gitHub"),
        git_provider: "gitHub",
        git_username: "eve",
      }),
    },
  },
  {
    kind: "repos",
    spec: `
groups: { data: {} }
directories: { /Shared/team: {} }
repos:
  /Repos/data/etl: { url: https://github.com/example/etl.git, provider: gitHub, access: { data: CAN_RUN } }
  /Shared/team/docs: { url: https://github.com/example/docs, provider: gitHub, branch: stable }
`,
    changed: `
groups: { data: {} }
directories: { /Shared/team: {} }
repos:
  /Repos/data/etl: { url: https://github.com/example/etl.git, provider: gitHub, branch: release, access: { data: CAN_EDIT } }
  /Shared/team/docs: { url: https://github.com/example/docs, provider: GITHUB, branch: main }
`,
    outsideChange: {
      operation: "repos/update",
      body: (find) => ({ id: find("repos", "/Shared/team/docs"), branch: "elsewhere" }),
    },
  },
  {
    kind: "global_init_scripts",
    spec: `
global_init_scripts:
  proxy: { script: "echo proxy", enabled: true }
  certificates: { script: "echo certificates" }
`,
    changed: `
global_init_scripts:
  proxy: { script: "echo new proxy", enabled: true }
  certificates: { script: "echo certificates", enabled: true }
`,
    outsideChange: {
      operation: "global-init-scripts/update",
      body: (find) => ({
        id: find("global_init_scripts", "proxy"),
        name: "proxy",
        script: Buffer.from("echo outside").toString("base64"),
        position: 1,
      }),
    },
  },
  {
    kind: "global_init_script_order",
    spec: `
global_init_scripts:
  proxy: { script: "echo proxy", enabled: true }
  certificates: { script: "echo certificates" }
  monitoring: { script: "echo monitoring" }
global_init_script_order: { default: { scripts: [proxy, monitoring, certificates] } }
`,
    changed: `
global_init_scripts:
  certificates: { script: "echo certificates" }
  monitoring: { script: "echo monitoring" }
  logs: { script: "echo logs" }
global_init_script_order: { default: { scripts: [logs, certificates, monitoring] } }
`,
    outsideChange: {
      operation: "global-init-scripts/update",
      body: (find) => ({
        id: find("global_init_scripts", "proxy"),
        name: "proxy",
        script: Buffer.from("echo proxy").toString("base64"),
        position: 2,
      }),
    },
  },
  {
    kind: "instance_profiles",
    cloud: "aws",
    spec: `
instance_profiles:
  "arn:aws:iam::123456789012:instance-profile/jobs": { skip_validation: true }
  admin: { instance_profile_arn: "arn:aws:iam::123456789012:instance-profile/admin", iam_role_arn: "arn:aws:iam::123456789012:role/one" }
`,
    changed: `
instance_profiles:
  "arn:aws:iam::123456789012:instance-profile/jobs": { iam_role_arn: "arn:aws:iam::123456789012:role/jobs" }
  admin: { instance_profile_arn: "arn:aws:iam::123456789012:instance-profile/admin" }
`,
    outsideChange: {
      operation: "instance-profiles/edit",
      body: () => ({
        instance_profile_arn: "arn:aws:iam::123456789012:instance-profile/admin",
        iam_role_arn: "arn:aws:iam::123456789012:role/two",
      }),
    },
  },
  {
    kind: "ip_access_lists",
    spec: `
ip_access_lists:
  office: { list_type: ALLOW, ip_addresses: [203.0.113.0/24, 198.51.100.7, 127.0.0.1] }
  scanners: { list_type: BLOCK, ip_addresses: [192.0.2.0/24], enabled: false }
`,
    changed: `
ip_access_lists:
  office: { list_type: ALLOW, ip_addresses: [127.0.0.1, 203.0.113.0/25] }
  scanners: { list_type: BLOCK, ip_addresses: [192.0.2.0/24, 192.0.3.1] }
`,
    outsideChange: {
      operation: "ip-access-lists/update",
      body: (find) => ({ id: find("ip_access_lists", "scanners"), ip_addresses: ["192.0.9.9"] }),
    },
  },
  {
    kind: "notification_destinations",
    spec: `${TOKENS}
notification_destinations:
  on-call: { destination_type: EMAIL, addresses: [ada@example.com, bo@example.com] }
  chat: { destination_type: SLACK, url: "\${var.first}" }
  hook: { destination_type: WEBHOOK, url: "\${var.second}", username: robot, password: "\${var.first}" }
`,
    changed: `${TOKENS}
notification_destinations:
  on-call: { destination_type: EMAIL, addresses: [bo@example.com] }
  chat: { destination_type: SLACK, url: "\${var.second}" }
  hook: { destination_type: WEBHOOK, url: "\${var.second}", username: robots, password: "\${var.first}" }
`,
    outsideChange: {
      operation: "notification-destinations/update",
      body: (find) => ({
        id: find("notification_destinations", "on-call"),
        display_name: "on-call",
        config: { email: { addresses: ["eve@example.com"] } },
      }),
    },
  },
  {
    kind: "workspace_conf",
    spec: `
workspace_conf:
  enableWebTerminal: { value: "true" }
  enableDcs: { value: false }
  maxTokenLifetimeDays: { value: 90 }
`,
    changed: `
workspace_conf:
  enableWebTerminal: { value: false }
  enableDcs: { value: true }
  maxTokenLifetimeDays: { value: "30" }
`,
    outsideChange: {
      operation: "workspace-conf/update",
      body: () => ({ maxTokenLifetimeDays: "365" }),
    },
  },
];
