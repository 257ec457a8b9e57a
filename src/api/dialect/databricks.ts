// The table of the Databricks dialect, for all clouds. The field tables of the kinds define what specs may contain of it.

import { type DialectTable, stayingObject, type WrittenFields, writtenList, writtenObject } from "./table.ts";

const BACKENDS = { DATABRICKS: "PLATFORM", AZURE_KEYVAULT: "CLOUD_KEYVAULT" };
const RESULTS = { TIMEDOUT: "TIMED_OUT" };
const EVENTS = { INIT_SCRIPTS_STARTED: "INIT_SCRIPTS_STARTING" };
const TERMINATIONS = { DBFS_COMPONENT_UNHEALTHY: "FS_COMPONENT_UNHEALTHY" };

const destination = writtenObject({ destination: "written" });

const bucket = writtenObject({
  destination: "written",
  region: "written",
  endpoint: "written",
  enable_encryption: "written",
  encryption_type: "written",
  kms_key: "written",
  canned_acl: "written",
});

const webhooks = writtenList({ id: "written" });

const cluster: WrittenFields = {
  cluster_id: "written",
  cluster_name: "written",
  spark_version: "written",
  node_type_id: "written",
  driver_node_type_id: "written",
  num_workers: "written",
  autoscale: writtenObject({ min_workers: "written", max_workers: "written" }),
  instance_pool_id: "written",
  autotermination_minutes: "written",
  enable_elastic_disk: "written",
  spark_conf: "written",
  spark_env_vars: "written",
  custom_tags: "written",
  cluster_log_conf: writtenObject({
    dbfs: destination,
    s3: bucket,
    volumes: destination,
  }),
  init_scripts: writtenList({
    dbfs: destination,
    file: destination,
    workspace: destination,
    volumes: destination,
    abfss: destination,
    s3: destination,
    gcs: destination,
  }),
  ssh_public_keys: "written",
  azure_attributes: writtenObject({
    availability: "written",
    first_on_demand: "written",
    spot_bid_max_price: "written",
  }),
  aws_attributes: writtenObject({
    availability: "written",
    first_on_demand: "written",
    zone_id: "written",
    instance_profile_arn: "written",
    spot_bid_price_percent: "written",
  }),
  gcp_attributes: writtenObject({
    availability: "written",
    use_preemptible_executors: "written",
    local_ssd_count: "written",
    zone_id: "written",
  }),
  policy_id: "written",
  data_security_mode: "written",
  single_user_name: "written",
  runtime_engine: "written",
  driver_instance_pool_id: "written",
};

const job: WrittenFields = {
  name: "written",
  description: "written",
  existing_cluster_id: "written",
  new_cluster: writtenObject(cluster),
  notebook_task: writtenObject({ notebook_path: "written", base_parameters: "written" }),
  spark_jar_task: writtenObject({ main_class_name: "written", jar_uri: "written", parameters: "written" }),
  spark_python_task: writtenObject({ python_file: "written", parameters: "written" }),
  spark_submit_task: writtenObject({ parameters: "written" }),
  libraries: writtenList({
    jar: "written",
    egg: "written",
    whl: "written",
    pypi: writtenObject({ package: "written", repo: "written" }),
    maven: writtenObject({ coordinates: "written", repo: "written", exclusions: "written" }),
    cran: writtenObject({ package: "written", repo: "written" }),
  }),
  schedule: writtenObject({
    quartz_cron_expression: "written",
    timezone_id: "written",
    pause_status: "written",
  }),
  email_notifications: stayingObject({
    on_start: "written",
    on_success: "written",
    on_failure: "written",
    no_alert_for_skipped_runs: "written",
  }),
  webhook_notifications: stayingObject({
    on_start: webhooks,
    on_success: webhooks,
    on_failure: webhooks,
  }),
  timeout_seconds: "written",
  max_retries: "written",
  min_retry_interval_millis: "written",
  retry_on_timeout: "written",
  max_concurrent_runs: "written",
};

const pool: WrittenFields = {
  instance_pool_id: "written",
  instance_pool_name: "written",
  node_type_id: "written",
  min_idle_instances: "written",
  max_capacity: "written",
  idle_instance_autotermination_minutes: "written",
};

const runState = [{ path: ["state", "result_state"], words: RESULTS }];

export const DATABRICKS_TABLE: DialectTable = {
  name: "databricks",
  paths: { "/api/2.0/fs/": "/api/2.0/dbfs/" },
  requests: {
    "secrets/scopes/create": [{ path: ["scope_backend_type"], words: BACKENDS }],
    "clusters/events": [{ path: ["event_types", "*"], words: EVENTS }],
  },
  answers: {
    "secrets/scopes/list": [{ path: ["scopes", "*", "backend_type"], words: BACKENDS }],
    "jobs/runs/list": [{ path: ["runs", "*", "state", "result_state"], words: RESULTS }],
    "jobs/runs/get": runState,
    "jobs/runs/get-output": [{ path: ["metadata", "state", "result_state"], words: RESULTS }],
    "clusters/events": [
      { path: ["events", "*", "type"], words: EVENTS },
      { path: ["events", "*", "details", "reason", "code"], words: TERMINATIONS },
    ],
    "clusters/get": [{ path: ["termination_reason", "code"], words: TERMINATIONS }],
    "clusters/list": [{ path: ["clusters", "*", "termination_reason", "code"], words: TERMINATIONS }],
  },
  nullIsAbsent: true,
  once: ["jobs/run-now", "jobs/runs/submit"],
  accounts: true,
  replaced: { cluster, pool, job },
  readOnly: {
    pool: ["default_tags", "state", "stats", "status"],
    cluster: [
      "spec",
      "clone_from",
      "idempotency_token",
      "cluster_cores",
      "cluster_log_status",
      "cluster_memory_mb",
      "cluster_source",
      "creator_user_name",
      "default_tags",
      "disk_spec",
      "driver",
      "driver_instance_source",
      "effective_spark_version",
      "executors",
      "init_scripts_safe_mode",
      "instance_source",
      "jdbc_port",
      "last_activity_time",
      "last_restarted_time",
      "last_state_loss_time",
      "pinned_by_user_name",
      "spark_context_id",
      "start_time",
      "state",
      "state_message",
      "terminated_time",
      "termination_reason",
    ],
  },
};
