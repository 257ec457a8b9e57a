// Part B of the contract about clusters: fields, states, calls.

import { section } from "./section.ts";

const CLUSTER = section(
  "B2.4",
  "Cluster",
  {
    num_workers: { "this or autoscale": /not both/, "when read, the desired count": /desired/ },
    cluster_name: { "need not be unique": /unique/, "empty by default": /default/ },
    spark_version: { required: /spark_version.* required/, "one that spark-versions lists": /unknown/ },
    spark_conf: "optional object of configuration",
    node_type_id: { required: /node_type_id .*required/, "one that list-node-types lists": /unknown/ },
    driver_node_type_id: "node_type_id by default",
    custom_tags: {
      "at most 43 on create": /43/,
      "at most 45 in the description of a job's cluster": /45/,
      "not supported on legacy node types": /legacy/,
    },
    cluster_log_conf: "one destination; logs are delivered every 5 minutes",
    init_scripts: "any number, run in order",
    spark_env_vars: "names and string values",
    autotermination_minutes: {
      "0, or 10 to 10000": /between 10 and 10000/,
      "minutes of inactivity before termination": /idle cluster ends/,
      "unset or 0: never": /never/,
    },
    enable_elastic_disk: "autoscaling local storage",
    instance_pool_id: "optional pool",
    ssh_public_keys: "at most 10",
    AutoScale: {
      "min_workers is the lower bound, max_workers strictly greater": /strictly greater/,
      "between the bounds the cluster scales": /bound/,
    },
    cluster_id: "kept over restarts and resizes",
    creator_user_name: "who created the cluster",
    driver: "the node of the driver while it runs",
    executors: "the nodes of the workers",
    spark_context_id: { INT64: /2\^53/, "changes when the driver restarts": /restart/ },
    jdbc_port: "of the driver",
    state_message: "about the latest transition",
    start_time: "when the creation was received",
    terminated_time: "when it was terminated",
    last_state_loss_time: "when the driver's state was lost last",
    last_activity_time: "available after RUNNING",
    cluster_memory_mb: "of driver and executors together",
    cluster_cores: "of driver and executors together",
    default_tags: "Vendor, Creator, ClusterName, ClusterId and two internal ones",
    cluster_log_status: "last_attempted, and last_exception on failure",
    termination_reason: "only in TERMINATING and TERMINATED",
    types: "a value of another type is refused",
  },
  {
    open: {
      nodes: [
        "fields of SparkNode, NodeType and SparkVersion",
        "private_ip, node_id and others; memory_mb, num_cores and others; key and name",
      ],
      TerminationReason: ["its fields", "code, type, parameters"],
      InitScriptInfo: ["its fields", "exactly one of fs and file, each with a destination"],
      ClusterTag: [
        "shape of a tag",
        "{key, value} in a list, as the tables say; requests may write a map too",
      ],
      "tags on edit": ["limit of tags on edit", "43, as on create"],
      "values of spark_conf": ["numbers and truth values in spark_conf", "accepted, answered as text"],
      "node type of a pool": [
        "node_type_id together with instance_pool_id",
        "may be left out; another type than the pool's is refused",
      ],
      "internal tags": [
        "the two internal default tags",
        "source and API version; of a job's cluster RunName and JobId",
      ],
      most: ["most workers of a cluster", "10,000"],
    },
    told: {
      "log destination": [
        "logs are written below `<destination>/<cluster-id>`",
        "no driver of the emulator writes logs",
      ],
    },
  },
);

const STATES = section(
  "B3.2",
  "States of a cluster",
  {
    create: {
      "PENDING at once, with its id; usable once RUNNING": /PENDING at once/,
      "terminated with a message when too few nodes are acquired": /with a message/,
    },
    edit: {
      "RUNNING: takes the new attributes and restarts": /a RUNNING cluster takes/,
      "TERMINATED: stays so; the changes apply at the next start": /a TERMINATED cluster stays/,
      "any other state: INVALID_STATE, nothing changes": /INVALID_STATE/,
    },
    start: {
      "TERMINATED: keeps id and attributes": /keeps id and attributes/,
      "starts at the last size": /last size/,
      "or at the minimum when autoscaling": /minimum of workers/,
      "any other state: no effect": /no effect/,
    },
    restart: { "RUNNING: restarts": /RESTARTING, then RUNNING/, "any other state: no effect": /no effect/ },
    resize: { "RUNNING: the target size changes": /new size/, "fails in any other state": /fails/ },
    delete: {
      "TERMINATING, then TERMINATED": /TERMINATING, then TERMINATED/,
      "TERMINATING or TERMINATED: no effect": /no effect/,
    },
    "30 days": "TERMINATED for 30 days: permanently deleted",
    "permanent-delete": {
      "running: terminated, then gone": /is terminated, then gone/,
      "TERMINATED: gone at once; no action is possible, it is not listed": /removed at once/,
    },
  },
  {
    open: {
      "other states": ["the states not named", "RESTARTING and RESIZING while that lasts"],
      "after start": ["state after start", "PENDING, then RUNNING"],
      share: ["how many nodes are too few", "less than 80% of them"],
      "pinned clusters": ["permanent-delete of a pinned cluster", "INVALID_STATE until it is unpinned"],
      "left out": ["a field that an edit leaves out", "goes back to its default"],
    },
  },
);

const CALLS = section(
  "B4.3",
  "Clusters",
  {
    create: {
      "answers cluster_id": /answers the id/,
      "spark_version and node_type_id are required": /required/,
    },
    edit: "cluster_id, spark_version and node_type_id are required",
    start: "cluster_id",
    restart: "cluster_id",
    resize: "cluster_id; num_workers or autoscale",
    delete: "cluster_id",
    "permanent-delete": "cluster_id",
    get: "cluster_id is required: ClusterInfo",
    pin: "cluster_id; administrators only",
    unpin: "cluster_id; administrators only",
    list: "clusters: list of ClusterInfo",
    "list-node-types": "node_types",
    "spark-versions": "versions",
    events: {
      "cluster_id is required": /cluster_id is required/,
      "start_time empty means from the beginning, end_time up to now": /between start_time and end_time/,
      "end_time is required when offset is given and order is descending": /end_time is required/,
      "order is DESC by default": /descending unless/,
      "ordered by timestamp": /ordered by time/,
      "event_types empty means all": /empty list means all/,
      "offset is 0 by default": /offset/,
      "limit is 50 by default, at most 500": /50 to a page/,
      "next_page is an events request for what follows, omitted at the end": /gives every event once/,
      "total_count counts what matches": /total_count/,
    },
    size: "a request has at most 10 MB",
    "rule 1": "get works up to 30 days after termination",
    "rule 2": {
      "a pin keeps a terminated cluster beyond 30 days and lists it": /beyond 30 days/,
      "pinning twice and unpinning what is not pinned have no effect": /no effect/,
      "unpinned clusters drop from the list in the end": /drops from the list/,
    },
    "rule 3": {
      "list has all pinned clusters": /all pinned/,
      "all active clusters": /all active/,
      "up to 70 interactive clusters terminated last": /the 70 most/,
      "up to 30 automated clusters terminated last": /the 30 most/,
      "of the past 30 days": /past 30 days/,
    },
    "rule 4": "edit and start do not apply to clusters of the jobs service",
    "rule 5": "autoscaling clusters start with min_workers",
  },
  {
    open: {
      answers: ["answers of the write calls", "200 with an empty object; a list that is empty is left out"],
      missing: ["a cluster that does not exist", "400 INVALID_PARAMETER_VALUE that names it"],
      expired: ["a cluster dropped after 30 days", "400 INVALID_STATE that says so"],
      "job clusters": ["code for clusters of the jobs service", "INVALID_STATE"],
      pins: ["how many clusters can be pinned", "100; then QUOTA_EXCEEDED"],
      "unknown fields": ["unknown fields of a request", "ignored"],
    },
  },
);

const ACCESS = section(
  "B5",
  "Authentication of part B",
  {
    calls: "as in contract A 5",
    pin: "administrators only",
    unpin: "administrators only",
  },
  {
    open: {
      pools: [
        "who may create pools",
        "administrators, and who has allow-instance-pool-create; all may do the rest",
      ],
      clusters: [
        "who may create clusters",
        "administrators, and who has allow-cluster-create, also by a group; all may do the rest",
      ],
      jobs: ["who may work with jobs", "everyone"],
    },
  },
);

export const clusters = [CLUSTER, STATES, CALLS, ACCESS];
