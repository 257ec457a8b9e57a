// The ways that a simulated workspace goes: from one spec to another, so that every write operation of every kind is sent.

import { cloud } from "./dialect.ts";
import { TEAM_MODULE } from "./specs.ts";

export interface Scenario {
  readonly name: string;
  /** The spec that is applied first without faults; absent means an empty workspace. */
  readonly before?: string;
  readonly after: string;
}

/**
 * Secrets of every spec here: long, and unlike in every encoding that a leak could take (a row of `~` tells base64 from
 * base64url wherever it begins).
 */
export const CANARIES = {
  DB_PASSWORD: 'c4nary/db+pässword?"7f3a~~~~~\\91',
  OTHER_PASSWORD: "c4nary/öther+pass word?\t20d8~~~~~",
} as const;

export const FILE_CANARY = "c4nary-cert\nüber+/5b1e~~~~~&=";

export const FILES: Readonly<Record<string, string>> = {
  "secrets/cert.pem": FILE_CANARY,
  "nightly.py": "print('nightly')\n\n# COMMAND ----------\n\nprint('done')\n",
  "nightly2.py": "print('nightly, better')\n",
  "query.sql": "select 1\n",
  "team/workspace.yaml": TEAM_MODULE,
  "install.sh": "echo one\n",
  "install2.sh": "echo two\n",
  "big.bin": "0123456789abcdef".repeat(66_000),
  "big2.bin": "fedcba9876543210".repeat(66_000),
};

const POLICY = "policy: { on_immutable_change: replace, max_deletes: 100% }\n";
const CLUSTER = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2";

const FIRST = `${POLICY}
users:
  ada@example.com: { entitlements: [allow-cluster-create], displayName: Ada }
  bo@example.com: { groups: [visitors] }
  cy@example.com: {}
groups:
  data-eng: { members: { users: [ada@example.com], groups: [platform] } }
  platform: { members: { users: [cy@example.com] } }
  visitors: {}
scopes:
  etl:
    acls: { data-eng: READ, platform: MANAGE }
    secrets:
      db-password: { env: DB_PASSWORD }
      cert: { file: secrets/cert.pem, encoding: bytes }
  vault: { secrets: { pin: { env: OTHER_PASSWORD } } }
pools:
  warm: { node_type_id: Standard_DS3_v2, max_capacity: 50 }
  cold: { node_type_id: Standard_DS3_v2 }
clusters:
  adhoc: { ${CLUSTER}, num_workers: 2, pinned: true }
  pooled: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.cold.instance_pool_id}", num_workers: 1 }
  runner: { ${CLUSTER}, num_workers: 1, run_state: RUNNING }
  idle: { ${CLUSTER}, num_workers: 1, run_state: TERMINATED }
jobs:
  nightly:
    existing_cluster_id: "\${clusters.adhoc.cluster_id}"
    notebook_task: { notebook_path: /Shared/etl/nightly }
    schedule: { quartz_cron_expression: "0 30 2 1 1 ?", timezone_id: Europe/Paris }
    email_notifications: { on_failure: [ops@example.com] }
  packed:
    new_cluster: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.cold.instance_pool_id}", num_workers: 1 }
    spark_jar_task: { main_class_name: org.example.Main }
directories: { /Shared/etl: {} }
notebooks:
  /Shared/etl/nightly: { source: nightly.py }
  /Shared/etl/query: { source: query.sql }
files: { /init/install.sh: { source: install.sh } }
`;

/** Each pair is a string of the first spec and its replacement. */
function changed(spec: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the spec has no "${from}"`);
    return text.replace(from, to);
  }, spec);
}

const UPDATES = [
  ["[allow-cluster-create], displayName: Ada", "[], displayName: Countess"],
  ["bo@example.com: { groups: [visitors] }", "bo@example.com: { groups: [] }"],
  ["users: [ada@example.com], groups: [platform]", "users: [cy@example.com], groups: []"],
  ["data-eng: READ, platform: MANAGE", "data-eng: WRITE"],
  ["db-password: { env: DB_PASSWORD }", "db-password: { env: OTHER_PASSWORD }"],
  ["max_capacity: 50", "max_capacity: 40, min_idle_instances: 1"],
  ["num_workers: 2, pinned: true", "num_workers: 3"],
  ["num_workers: 1 }\n  runner", "num_workers: 1, pinned: true, autotermination_minutes: 600 }\n  runner"],
  ["num_workers: 1, run_state: RUNNING", "num_workers: 1, run_state: TERMINATED"],
  ["num_workers: 1, run_state: TERMINATED }\njobs", "num_workers: 1, run_state: RUNNING }\njobs"],
  ["0 30 2 1 1 ?", "0 45 2 1 1 ?"],
  ["org.example.Main", "org.example.Other"],
  ["source: nightly.py", "source: nightly2.py"],
  ["source: install.sh", "source: install2.sh"],
] as const;

const REPLACEMENTS = [
  ["bo@example.com: { groups: [visitors] }", "bo@example.com: { groups: [guests] }"],
  ["visitors: {}", "guests: { displayName: guests }"],
  ["cold: { node_type_id: Standard_DS3_v2 }", "cold: { node_type_id: Standard_DS4_v2 }"],
  ["vault: { secrets", "vault: { initial_manage_principal: users, secrets"],
  ["users: [ada@example.com], groups: [platform]", "users: [ada@example.com], groups: [platform-2]"],
  ["platform: { members", "platform: { displayName: platform-2, members"],
  ["platform: MANAGE", "platform-2: MANAGE"],
] as const;

const MIXTURE = [
  ["  cy@example.com: {}", "  di@example.com: {}"],
  ["users: [cy@example.com]", "users: [di@example.com]"],
  ["      cert: { file: secrets/cert.pem, encoding: bytes }\n", "      more: { env: OTHER_PASSWORD }\n"],
  [
    "cold: { node_type_id: Standard_DS3_v2 }",
    "cold: { node_type_id: Standard_DS4_v2 }\n  spare: { node_type_id: Standard_DS3_v2 }",
  ],
  ["  idle: {", "  fresh: {"],
  ["num_workers: 2, pinned: true", "num_workers: 4, pinned: true"],
  ["  nightly:\n", "  weekly:\n"],
  ["/Shared/etl/query: { source: query.sql }", "/Shared/etl/study: { source: query.sql }"],
  ["/init/install.sh", "/init/setup.sh"],
] as const;

export const NOTHING = `${POLICY}users: {}\n`;
const LARGE = `${POLICY}files: { /data/big.bin: { source: big.bin } }\n`;

const POOL = "node_type_id: Standard_DS3_v2";

/** Names that pass on: from a renamed pool, along chains, from a pool that is deleted, to new pools, and with a replacement. */
const NAMED = `${POLICY}
pools:
  left: { ${POOL}, max_capacity: 5 }
  right: { ${POOL} }
  row-1: { ${POOL} }
  row-2: { ${POOL} }
  row-3: { ${POOL} }
  chain-1: { ${POOL} }
  chain-2: { ${POOL} }
  given: { ${POOL} }
  old: { ${POOL}, max_capacity: 5 }
  other: { ${POOL} }
clusters:
  inside: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.chain-2.instance_pool_id}", num_workers: 1 }
`;

const RENAMED = [
  ["  left: { ", "  left: { instance_pool_name: right, min_idle_instances: 1, "],
  ["  right: { ", "  right: { instance_pool_name: between, "],
  ["  row-1: { ", "  row-1: { instance_pool_name: row-2, "],
  ["  row-2: { ", "  row-2: { instance_pool_name: row-3, "],
  ["  row-3: { ", "  row-3: { instance_pool_name: row-4, "],
  ["  chain-1: { ", "  chain-1: { instance_pool_name: chain-2, "],
  [`  chain-2: { ${POOL} }\n`, ""],
  ["pools.chain-2.instance", "pools.given.instance"],
  ["  given: { ", "  given: { instance_pool_name: taken, "],
  [
    "  old: { node_type_id: Standard_DS3_v2",
    "  old: { instance_pool_name: other, node_type_id: Standard_DS4_v2",
  ],
  ["  other: { ", "  other: { instance_pool_name: spare, "],
  [
    "clusters:\n",
    `  fresh: { instance_pool_name: given, ${POOL} }\n  late: { instance_pool_name: old, ${POOL} }\nclusters:\n`,
  ],
] as const;

/** The kinds that only the Databricks dialect has, access lists, and libraries. */
const DIALECT = `${POLICY}
users: { ada@example.com: {} }
groups: { data: {}, ops: {} }
service_principals: { deployer: { entitlements: [allow-cluster-create] } }
workspace_assignments: { ada@example.com: { permissions: [ADMIN] } }
workspace_conf: { enableWebTerminal: { value: true } }
authorizations: { tokens: { access: { data: CAN_USE } } }
ip_access_lists: { scanners: { list_type: BLOCK, ip_addresses: [192.0.2.0/24] } }
notification_destinations: { on-call: { destination_type: EMAIL, addresses: [ada@example.com] } }
git_credentials: { gitHub: { git_username: ada } }
global_init_scripts:
  proxy: { script: "echo proxy", enabled: true }
  certificates: { script: "echo certificates" }
global_init_script_order: { default: { scripts: [proxy, certificates] } }
cluster_policies: { small: { definition: { num_workers: { type: fixed, value: 1 } }, access: { data: CAN_USE } } }
warehouses: { queries: { cluster_size: Small, run_state: STOPPED, access: { data: CAN_USE } } }
clusters:
  etl: { ${CLUSTER}, num_workers: 1, policy_id: "\${cluster_policies.small.policy_id}", libraries: [{ pypi: { package: six } }], access: { data: CAN_RESTART } }
jobs:
  report:
    owner: ada@example.com
    access: { data: CAN_VIEW }
    webhook_notifications: { on_failure: [{ id: "\${notification_destinations.on-call.id}" }] }
    tasks:
      load: { notebook_task: { notebook_path: /a }, existing_cluster_id: "\${clusters.etl.cluster_id}" }
      show: { depends_on: [{ task_key: load }], sql_task: { warehouse_id: "\${warehouses.queries.id}", file: { path: /a.sql } } }
workspace_files: { /Shared/lib/install.sh: { source: install.sh, access: { ops: CAN_RUN } } }
repos: { /Repos/data/etl: { url: "https://github.com/example/etl.git", provider: gitHub, access: { ops: CAN_RUN } } }
`;

const OF_DIALECT = [
  ["entitlements: [allow-cluster-create]", "active: false"],
  ["permissions: [ADMIN]", "permissions: [USER]"],
  ["enableWebTerminal: { value: true }", "enableDcs: { value: true }"],
  ["tokens: { access: { data: CAN_USE }", "tokens: { access: { ops: CAN_MANAGE }"],
  ["192.0.2.0/24", "192.0.3.0/24"],
  ["addresses: [ada@example.com]", "addresses: [bo@example.com]"],
  ["git_username: ada", "git_username: bo"],
  ['"echo proxy"', '"echo new"'],
  ["[proxy, certificates]", "[certificates, proxy]"],
  ["type: fixed, value: 1", "type: range, maxValue: 2"],
  ["access: { data: CAN_USE } } }\nwarehouses", "access: {} } }\nwarehouses"],
  ["cluster_size: Small, run_state: STOPPED", "cluster_size: Medium, run_state: RUNNING"],
  ["{ pypi: { package: six } }", '{ jar: "fs:/a.jar" }'],
  ["access: { data: CAN_RESTART }", "access: { ops: CAN_MANAGE }"],
  ["owner: ada@example.com\n    access: { data: CAN_VIEW }", "access: { ops: CAN_MANAGE_RUN }"],
  ["source: install.sh, access: { ops: CAN_RUN }", "source: install2.sh, access: { data: CAN_EDIT }"],
  ["      show: {", "      shown: {"],
  ["provider: gitHub, access: { ops: CAN_RUN }", "provider: gitHub, branch: release, access: {}"],
] as const;

const dialectScenarios: readonly Scenario[] = [
  { name: "dialect", before: DIALECT, after: changed(DIALECT, OF_DIALECT) },
  { name: "dialect-create", after: DIALECT },
];

export const scenarios: readonly Scenario[] = [
  { name: "create", after: FIRST },
  { name: "update", before: FIRST, after: changed(FIRST, UPDATES) },
  { name: "replace", before: FIRST, after: changed(FIRST, REPLACEMENTS) },
  { name: "delete", before: FIRST, after: NOTHING },
  { name: "names", before: NAMED, after: changed(NAMED, RENAMED) },
  { name: "mixed", before: FIRST, after: changed(FIRST, MIXTURE) },
  { name: "upload", after: LARGE },
  { name: "upload-again", before: LARGE, after: LARGE.replace("big.bin }", "big2.bin }") },
  ...(cloud === undefined ? [] : dialectScenarios),
];
