// The differences between a scenario of the contract and the same scenario in the Databricks dialect, with the reasons.

interface Difference {
  readonly cases: readonly string[];
  readonly because: string;
  /** A string of the scenario, and its replacement in the dialect. Each occurrence is replaced. */
  readonly texts: readonly (readonly [string, string])[];
}

/** As a plan in JSON prints them. */
const PRINTED_ATTRIBUTES = `      "azure_attributes": {
        "availability": "ON_DEMAND_AZURE",
        "spot_bid_max_price": -1
      }`;

const REFUSED_TYPE = `  ! error API_REFUSED: clusters/events was refused (400 INVALID_PARAMETER_VALUE)
  !   cause: Invalid value for field 'event_types.0': it must be one of CREATING, STARTING, RESTARTING, TERMINATING, EDITED, RUNNING, RESIZING, UPSIZE_COMPLETED, NODES_LOST, DRIVER_HEALTHY, DRIVER_UNAVAILABLE, DRIVER_NOT_RESPONDING, SPARK_EXCEPTION, DBFS_DOWN, METASTORE_DOWN, INIT_SCRIPTS_STARTING, INIT_SCRIPTS_FINISHED, DID_NOT_EXPAND_DISK, EXPANDED_DISK, FAILED_TO_EXPAND_DISK, AUTOSCALING_STATS_REPORT, NODE_BLACKLISTED, PINNED, UNPINNED
= exit 1
`;

const unread = (pools: string): string =>
  `    Effective access: no right that was read changes.\n      not compared: ${pools} that this plan does not read\n    .\n`;
const unreadInMarkdown = (pools: string): string =>
  `    ### Effective access: no right that was read changes\n    .\n    - not compared: ${pools} that this plan does not read\n    .\n`;
const ONE_POOL = "the access list of 1 instance pool";
const TWO_POOLS = "the access lists of 2 instance pools";

export const DIFFERENCES: readonly Difference[] = [
  {
    cases: ["export"],
    because: "the service gives a pool the attributes of its cloud, and an export writes them",
    texts: [
      [
        "        custom_tags: { team: data-eng }",
        "        azure_attributes: { availability: ON_DEMAND_AZURE, spot_bid_max_price: -1 }\n        custom_tags: { team: data-eng }",
      ],
      ["      at copy/workspace.yaml:50:3\n        49 |", "      at copy/workspace.yaml:51:3\n        50 |"],
      ["> 50 |   report-dev:", "> 51 |   report-dev:"],
      ["        51 |     new_cluster:", "        52 |     new_cluster:"],
      ["      at copy/workspace.yaml:62:3\n        61 |", "      at copy/workspace.yaml:63:3\n        62 |"],
      ["> 62 |   report-dev-2:", "> 63 |   report-dev-2:"],
      ["        63 |     name: report-dev", "        64 |     name: report-dev"],
    ],
  },
  {
    cases: ["exit-codes", "habits"],
    because: "the service gives a pool the attributes of its cloud, and a plan in JSON has the whole object",
    texts: [['"enable_elastic_disk": true\n', `"enable_elastic_disk": true,\n${PRINTED_ATTRIBUTES}\n`]],
  },
  {
    cases: ["exit-codes"],
    because: "a pool that replaces another one keeps the attributes that the spec does not set",
    texts: [['"min_idle_instances": 0\n', `"min_idle_instances": 0,\n${PRINTED_ATTRIBUTES}\n`]],
  },
  {
    cases: ["who-can"],
    because: "there are service principals",
    texts: [
      ["Read 12 objects of 4 kinds.", "Read 12 objects of 5 kinds."],
      ["Read 14 objects of 4 kinds.", "Read 14 objects of 5 kinds."],
    ],
  },
  {
    cases: ["others-pool"],
    because: "clusters are listed through version 2.1",
    texts: [["/api/2.0/clusters/list", "/api/2.1/clusters/list"]],
  },
  {
    cases: ["replaced-elsewhere"],
    because: "the tags of a pool are updated in place",
    texts: [
      [
        "          custom_tags.team  data → (none)  # forces replacement",
        "          custom_tags.team  data → (none)",
      ],
      ["node_type_id, custom_tags cannot", "node_type_id cannot"],
      ['; custom_tags: nothing → {"team":"bi"}', ""],
    ],
  },
  {
    cases: ["quickstart"],
    because: "an edit without tags removes the tags of a pool",
    texts: [['"max_capacity": 5}', '"max_capacity": 5, "custom_tags": {"team": "data-eng"}}']],
  },
  {
    cases: ["import"],
    because: "the pool decides the node type of a cluster, and both together are refused",
    texts: [['}}", "node_type_id": "Standard_DS3_v2", "num_workers": 2}', '}}", "num_workers": 2}']],
  },
  {
    cases: ["api"],
    because: "`workspace api` shows the answers of the service, which have more fields",
    texts: [
      [
        '"urn:ietf:params:scim:schemas:core:2.0:User"\n',
        '"urn:ietf:params:scim:schemas:core:2.0:User",\n      "urn:ietf:params:scim:schemas:extension:workspace:2.0:User"\n',
      ],
      ['"max_concurrent_runs": 1\n', '"max_concurrent_runs": 1,\n      "format": "SINGLE_TASK"\n'],
      ['"created_time": TIME\n', '"created_time": TIME,\n      "run_as_user_name": "admin@example.com"\n'],
      ['"cHJpbnQoImZyb20gYSBmaWxlIikK"\n', '"cHJpbnQoImZyb20gYSBmaWxlIikK",\n      "file_type": "py"\n'],
    ],
  },
  {
    cases: ["damaged-state"],
    because: "the record of a pool has more fields",
    texts: [["(1203 bytes)", "(1281 bytes)"]],
  },
  {
    cases: ["drift-severity"],
    because: "service principals are members of groups, too",
    texts: [["not compared: groups: not read", "not compared: groups and service_principals: not read"]],
  },
  {
    cases: ["host", "unreadable"],
    because: "error codes are texts",
    texts: [["the token is not valid (403)", "the token is not valid (403 PERMISSION_DENIED)"]],
  },
  {
    cases: ["host"],
    because: "there are more ways to sign in",
    texts: [
      [
        "  !   hint: run `workspace login`, or set WORKSPACE_TOKEN\n",
        "  !   cause: azure-cli: `az` is not on the PATH\n  !   hint: run `workspace login`, or set WORKSPACE_TOKEN\n",
      ],
    ],
  },
  {
    cases: ["clusters"],
    because: "the service no longer counts the runs of a job: number_in_job is the ID of the run",
    texts: [[", run 1 of it.", "."]],
  },
  {
    cases: ["clusters"],
    because: "the service ignores types of events that it does not know",
    texts: [[REFUSED_TYPE, "    No events.\n"]],
  },
  {
    cases: ["run"],
    because: "the service no longer counts the runs of a job: number_in_job is the ID of the run",
    texts: [
      [", run 2 of it.", "."],
      [", run 3 of it", ""],
      ['"number_in_job": 1,', '"number_in_job": 9400002,'],
      ['"number_in_job": 2,', '"number_in_job": 9400003,'],
      ['"number_in_job": 3\n', '"number_in_job": 9400004\n'],
    ],
  },
  {
    cases: ["run"],
    because: "runs are read through version 2.1",
    texts: [["signal SIGINT when jobs/runs/get", "signal SIGINT when /api/2.2/jobs/runs/get"]],
  },
  {
    cases: ["choose"],
    because: "pools have access lists, and a plan says which of them it did not read",
    texts: [
      [
        "$ workspace plan --show destroys,security\n",
        `$ workspace plan --show destroys,security\n${unread(TWO_POOLS)}`,
      ],
      [
        "$ workspace plan --show kind=pools --show creates,updates --hide pools.a\n",
        `$ workspace plan --show kind=pools --show creates,updates --hide pools.a\n${unread(TWO_POOLS)}`,
      ],
      [
        "$ workspace plan --hide updates,unmanaged,drift --out saved.plan\n",
        `$ workspace plan --hide updates,unmanaged,drift --out saved.plan\n${unread(TWO_POOLS)}`,
      ],
      [
        "    To keep renamed resources, add this to the spec:\n",
        `${unreadInMarkdown(TWO_POOLS)}    To keep renamed resources, add this to the spec:\n`,
      ],
    ],
  },
  {
    cases: ["acknowledged-reverted"],
    because: "pools have access lists, and a plan that changes a group says which of them it did not read",
    texts: [
      [
        "      ~ update   groups.platform  (changed outside)\n",
        `${unread(ONE_POOL)}      ~ update   groups.platform  (changed outside)\n`,
      ],
      ["    ### Access: 1 resource\n", `${unreadInMarkdown(ONE_POOL)}    ### Access: 1 resource\n`],
    ],
  },
  {
    cases: ["quickstart"],
    because: "pools, clusters, and jobs have access lists, and a plan says which of them it did not read",
    texts: [
      [
        "      - ada@example.com: entitlement allow-cluster-create\n    .\n      - DELETE   jobs.report-dev",
        `      - ada@example.com: entitlement allow-cluster-create
      not compared: the access list of 1 instance pool that this plan does not read
      not compared: the access list of 1 cluster that this plan does not read
      not compared: the access lists of 2 jobs that this plan does not read
    .
      - DELETE   jobs.report-dev`,
      ],
    ],
  },
  {
    cases: ["run"],
    because: "`--output json` shows the answers of the service, which have more fields",
    texts: [
      [
        '"run_type": "JOB_RUN"\n',
        '"run_type": "JOB_RUN",\n      "attempt_number": 0,\n      "end_time": TIME,\n      "run_duration": N,\n      "format": "MULTI_TASK",\n      "status": {\n        "state": "TERMINATED",\n        "termination_details": {\n          "code": "SUCCESS",\n          "type": "SUCCESS",\n          "message": ""\n        }\n      }\n',
      ],
      ["workspace.invalid/#job", "workspace.invalid/?o=1234567890123456#job"],
    ],
  },
];

/** Returns the scenario of the dialect. Throws if the scenario does not contain a difference. */
export function withDifferences(name: string, text: string): string {
  let result = text;
  for (const { cases, texts } of DIFFERENCES) {
    if (!cases.includes(name)) continue;
    for (const [contract, databricks] of texts) {
      if (!result.includes(contract)) throw new Error(`${name} no longer has the text ${contract}`);
      result = result.replaceAll(contract, databricks);
    }
  }
  return result;
}
