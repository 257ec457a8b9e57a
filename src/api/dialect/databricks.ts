// The table of the Databricks dialect, for all clouds. The field tables of the kinds define what specs may contain of it.

import {
  type DialectTable,
  stayingObject,
  type WrittenFields,
  writtenFields,
  writtenKeyedList,
  writtenList,
  writtenObject,
} from "./table.ts";

const BACKENDS = { DATABRICKS: "PLATFORM", AZURE_KEYVAULT: "CLOUD_KEYVAULT" };
const RESULTS = { TIMEDOUT: "TIMED_OUT" };
const EVENTS = { INIT_SCRIPTS_STARTED: "INIT_SCRIPTS_STARTING" };
const TERMINATIONS = { DBFS_COMPONENT_UNHEALTHY: "FS_COMPONENT_UNHEALTHY" };

const named = (...names: readonly string[]) => writtenObject(writtenFields(...names));

const destination = named("destination");

const bucket = writtenObject({
  ...writtenFields("destination", "region", "endpoint"),
  ...writtenFields("enable_encryption", "encryption_type", "kms_key", "canned_acl"),
});

const webhooks = writtenList(writtenFields("id"));

const cluster: WrittenFields = {
  ...writtenFields("cluster_id", "cluster_name", "spark_version", "node_type_id", "driver_node_type_id"),
  ...writtenFields("num_workers", "instance_pool_id", "driver_instance_pool_id", "policy_id"),
  ...writtenFields("apply_policy_default_values"),
  ...writtenFields("autotermination_minutes", "enable_elastic_disk", "spark_conf", "spark_env_vars"),
  ...writtenFields("custom_tags", "ssh_public_keys", "data_security_mode", "single_user_name"),
  ...writtenFields("runtime_engine", "kind", "is_single_node", "use_ml_runtime"),
  docker_image: named("url"),
  workload_type: writtenObject({ clients: named("jobs", "notebooks") }),
  driver_node_type_flexibility: named("alternate_node_type_ids"),
  worker_node_type_flexibility: named("alternate_node_type_ids"),
  autoscale: named("min_workers", "max_workers"),
  cluster_log_conf: writtenObject({ dbfs: destination, s3: bucket, volumes: destination }),
  init_scripts: writtenList({
    dbfs: destination,
    file: destination,
    workspace: destination,
    volumes: destination,
    abfss: destination,
    s3: destination,
    gcs: destination,
  }),
  azure_attributes: named("availability", "first_on_demand", "spot_bid_max_price"),
  aws_attributes: writtenObject({
    ...writtenFields("availability", "first_on_demand", "zone_id"),
    ...writtenFields("instance_profile_arn", "spot_bid_price_percent"),
  }),
  gcp_attributes: named("availability", "use_preemptible_executors", "local_ssd_count", "zone_id"),
};

const events = ["on_start", "on_success", "on_failure"] as const;
const warnings = ["on_duration_warning_threshold_exceeded", "on_streaming_backlog_exceeded"] as const;

const notices: WrittenFields = {
  email_notifications: stayingObject(writtenFields(...events, ...warnings, "no_alert_for_skipped_runs")),
  webhook_notifications: stayingObject(
    Object.fromEntries([...events, ...warnings].map((event) => [event, webhooks])),
  ),
  notification_settings: stayingObject(
    writtenFields("no_alert_for_skipped_runs", "no_alert_for_canceled_runs", "alert_on_last_attempt"),
  ),
  health: named("rules"),
};

/** What a task of any form has. */
const compute: WrittenFields = {
  ...writtenFields("existing_cluster_id", "timeout_seconds"),
  ...writtenFields("max_retries", "min_retry_interval_millis", "retry_on_timeout"),
  new_cluster: writtenObject(cluster),
  notebook_task: named("notebook_path", "base_parameters", "warehouse_id"),
  spark_jar_task: named("main_class_name", "jar_uri", "parameters"),
  spark_python_task: named("python_file", "parameters"),
  spark_submit_task: named("parameters"),
  libraries: writtenList({
    ...writtenFields("jar", "egg", "whl", "requirements"),
    pypi: named("package", "repo"),
    maven: named("coordinates", "repo", "exclusions"),
    cran: named("package", "repo"),
  }),
};

const subscription = named("custom_subject", "paused", "subscribers");

const task: WrittenFields = {
  ...compute,
  ...notices,
  ...writtenFields("task_key", "description", "depends_on", "run_if", "disabled", "job_cluster_key"),
  ...writtenFields("environment_key", "disable_auto_optimization"),
  python_wheel_task: named("package_name", "entry_point", "parameters", "named_parameters"),
  pipeline_task: named("pipeline_id", "full_refresh", "refresh_selection", "full_refresh_selection"),
  dbt_task: named("commands", "project_directory", "profiles_directory", "schema", "catalog", "warehouse_id"),
  sql_task: writtenObject({
    ...writtenFields("warehouse_id", "parameters"),
    query: named("query_id"),
    file: named("path"),
    alert: named("alert_id", "pause_subscriptions", "subscriptions"),
    dashboard: named("dashboard_id", "custom_subject", "pause_subscriptions", "subscriptions"),
  }),
  run_job_task: named("job_id", "job_parameters"),
  condition_task: named("op", "left", "right"),
  dashboard_task: writtenObject({ ...writtenFields("dashboard_id", "warehouse_id"), subscription }),
};

const job: WrittenFields = {
  ...compute,
  ...notices,
  ...writtenFields("name", "description", "max_concurrent_runs", "tags", "parameters"),
  ...writtenFields("performance_target", "budget_policy_id"),
  schedule: named("quartz_cron_expression", "timezone_id", "pause_status"),
  trigger: writtenObject({
    ...writtenFields("pause_status"),
    file_arrival: named("url", "min_time_between_triggers_seconds", "wait_after_last_change_seconds"),
    table_update: named(
      ...["table_names", "condition"],
      ...["min_time_between_triggers_seconds", "wait_after_last_change_seconds"],
    ),
    periodic: named("interval", "unit"),
  }),
  continuous: named("pause_status", "task_retry_mode"),
  git_source: named("git_url", "git_provider", "git_branch", "git_tag", "git_commit", "sparse_checkout"),
  environments: writtenKeyedList("environment_key", {
    spec: named("environment_version", "client", "base_environment", "dependencies", "java_dependencies"),
  }),
  job_clusters: writtenKeyedList("job_cluster_key", { new_cluster: writtenObject(cluster) }),
  tasks: writtenKeyedList("task_key", {
    ...task,
    for_each_task: writtenObject({ ...writtenFields("inputs", "concurrency"), task: writtenObject(task) }),
  }),
};

const pool = {
  ...writtenFields("instance_pool_id", "instance_pool_name", "node_type_id"),
  ...writtenFields("min_idle_instances", "max_capacity", "idle_instance_autotermination_minutes"),
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
  tokenOperations: ["jobs/run-now", "jobs/runs/submit"],
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
