// Samples of what only the dialect of Databricks has; the laws run over these there.

import type { Sample } from "./samples.ts";

const PEOPLE = `
users: { ada@example.com: {} }
groups: { data: {}, ops: {} }
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
    access: { data: CAN_USE }
  personal: { policy_family_id: personal-vm, policy_family_definition_overrides: { autotermination_minutes: { type: fixed, value: 30 } } }
`,
    changed: `
groups: { data: {} }
cluster_policies:
  small:
    definition: { num_workers: { type: range, maxValue: 8 } }
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
];
