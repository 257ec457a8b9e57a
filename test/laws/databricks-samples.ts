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
];
