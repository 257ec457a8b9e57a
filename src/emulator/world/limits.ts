// All limits and durations of the service, in one place: a section per area.

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Size of requests, checked before an operation runs (contract A 4.4, contract B 4.2, contract B 4.3: 10 MB). */
export const REQUESTS = {
  /** Unless openapi.yaml says otherwise for an operation. */
  body_bytes: 10 * 1024 * 1024,
  /** No operation takes more. */
  any_body_bytes: 64 * 1024 * 1024,
  control_body_bytes: 10 * 1024 * 1024,
  /** A world, its contents as base64 text. */
  snapshot_body_bytes: 512 * 1024 * 1024,
  /** Contents that a snapshot can hold. */
  snapshot_bytes: 256 * 1024 * 1024,
} as const;

/** How long what was deleted is kept (contract A 3, contract A 8). */
export const RETENTION = {
  inactive_user_ms: 30 * DAY,
} as const;

/** Secrets (contract A 8). */
export const SECRETS = {
  scopes: 100,
  secrets_per_scope: 1000,
  name_length: 128,
  value_bytes: 128 * 1024,
} as const;

/** Workspace objects (contract A 4.4, contract A 8). */
export const WORKSPACE = {
  content_bytes: 10 * 1024 * 1024,
  /** A small archive can expand to a large one: the maximum of its content. */
  archive_bytes: 128 * 1024 * 1024,
  archive_entries: 20_000,
} as const;

/** The file system (contract A 4.5, contract A 8). */
export const FILES = {
  block_bytes: 1024 * 1024,
  read_bytes: 1024 * 1024,
  read_default_bytes: 512 * 1024,
  handle_idle_ms: 10 * MINUTE,
} as const;

/** Instance pools (contract B 2.1, contract B 8; defaults: facts 4.8). */
export const POOLS = {
  name_length: 99,
  custom_tags: 6,
  default_idle_minutes: 60,
  /** How long the provider takes to bring up an instance. */
  provision_ms: 300,
} as const;

/** Tags of pools and clusters (facts 4.7). */
export const TAGS = { key_length: 512, value_length: 256 } as const;

/** Clusters (contract B 4.3, contract B 8). The durations are short, so that a demonstration on a real clock is quick. */
export const CLUSTERS = {
  pending_ms: 400,
  restart_ms: 400,
  resize_ms: 200,
  terminate_ms: 200,
  /** An autoscaling cluster without work goes back to its lower bound after this. */
  shrink_ms: 10 * MINUTE,
  autoscaling_report_ms: 60 * MINUTE,
  log_delivery_ms: 5 * MINUTE,
  retention_ms: 30 * DAY,
  retention_days: 30,
  autotermination_minutes: { min: 10, max: 10_000 },
  /** Not in the contract: a bound that no account has more nodes than. */
  workers: 10_000,
  custom_tags: 43,
  custom_tags_in_job: 45,
  listed_interactive: 70,
  listed_automated: 30,
  pins: 100,
  events_page: 50,
  /** A cluster runs when it has got this share of its nodes, else it is terminated (facts 4.2). */
  least_nodes: 0.8,
} as const;

/** Jobs and runs (contract B 4.2, contract B 8). */
export const JOBS = {
  jobs: 1000,
  starts_per_hour: 1000,
  hour_ms: 60 * MINUTE,
  active_runs: 150,
  default_concurrent_runs: 1,
  parameter_bytes: 10_000,
  run_name_bytes: 4096,
  list_limit: 20,
  list_maximum: 999,
  result_bytes: 1024 * 1024,
  output_bytes: 5 * 1024 * 1024,
  retention_ms: 60 * DAY,
  /** The working time of a run that no request ends, and the time of its cleanup. */
  run_ms: 1000,
  cleanup_ms: 100,
  least_between_attempts_ms: 1000,
} as const;
