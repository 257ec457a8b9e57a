// Part B of the contract about jobs and runs, and what holds for all of part B.

import { section } from "./section.ts";

const JOB = section(
  "B2.2",
  "Job",
  {
    job_id: "INT64, assigned on create",
    creator_user_name: "omitted once the creator was deleted",
    created_time: "epoch milliseconds",
    settings: "the settings that were given, with defaults",
    existing_cluster_id: {
      "this or new_cluster": /exactly one/,
      "used for all runs": /several runs share it/,
    },
    new_cluster: "a cluster is created for each run",
    tasks: {
      "notebook_task, spark_jar_task, spark_python_task, spark_submit_task": /may have a/,
      "notebook_task not together with spark_jar_task": /exactly one task/,
      "parameters as each task has them": /parameters/,
    },
    name: "Untitled by default",
    libraries: "optional; none by default",
    email_notifications: "no e-mail by default",
    timeout_seconds: { "for each run": /longer/, "none by default": /none/ },
    max_retries: {
      "of a run that ends FAILED": /FAILED/,
      "or INTERNAL_ERROR": /INTERNAL_ERROR/,
      "-1 retries indefinitely": /-1 retries/,
      "0 never; never by default": /never by default/,
    },
    min_retry_interval_millis: { "time before a retry": /between/, "none by default": /at once/ },
    retry_on_timeout: "false by default",
    schedule: {
      "runs at its times": /fires at its times/,
      "without one only when triggered": /only when triggered/,
    },
    max_concurrent_runs: {
      "1 by default": /one by default/,
      "at most 1000": /1000/,
      "0 skips all new runs": /0 skips/,
      "lowering it kills no active run; new ones are skipped until fewer are active": /lowering/,
    },
    quartz_cron_expression: "required; second, minute, hour, day of month, month, day of week, optional year",
    timezone_id: { required: /required/, "the zone in which the schedule is resolved": /resolved in it/ },
    on_start: "mailed when a run begins",
    on_success: "mailed when a run ends TERMINATED with success",
    on_failure: {
      INTERNAL_ERROR: /INTERNAL_ERROR/,
      FAILED: /ends with FAILED/,
      TIMED_OUT: /ends with TIMED_OUT/,
      SKIPPED: /SKIPPED/,
    },
    no_alert_for_skipped_runs: "skipped runs send no on_failure mail",
    NotebookTask: { "notebook_path is required, absolute, begins with a slash": /begins with a slash/ },
    base_parameters: "merged with those of run-now, which win",
    Library: "{jar}, {maven: {coordinates}} and such",
    types: "a value of another type is refused",
  },
  {
    open: {
      pause_status: [
        "whether a schedule is paused",
        "UNPAUSED unless it says PAUSED; a paused one does not fire",
      ],
      SparkSubmitTask: [
        "what else a spark_submit_task takes",
        "only a new_cluster, no libraries, no spark_conf",
      ],
      "daylight saving": [
        "times that the clock skips or has twice",
        "a skipped time fires right after the gap, a time that comes twice fires once",
      ],
      "kinds of libraries": ["kinds of libraries", "jar, egg, whl, pypi, maven, cran; exactly one in each"],
      "retries of others": ["retry of canceled and skipped runs", "none"],
      notifications: ["mails of canceled runs and of retries", "none; each attempt tells of itself"],
    },
  },
);

const RUN = section(
  "B2.3",
  "Run",
  {
    job_id: "job of the run",
    run_id: "unique across all jobs",
    number_in_job: "counts the runs of a job from 1",
    original_attempt_run_id: "the first attempt of a retry, else run_id",
    state: "life_cycle_state, result_state once finished, state_message",
    schedule: "present when the scheduler triggered the run",
    task: "one of the four tasks",
    cluster_spec: "snapshot at creation, with libraries",
    cluster_instance: "cluster_id and spark_context_id, each omitted until available",
    overriding_parameters: "parameters used for the run",
    start_time: "epoch milliseconds",
    setup_duration: "milliseconds to set up the cluster",
    execution_duration: "milliseconds of work",
    cleanup_duration: "milliseconds to clean up; the three add up to the whole",
    trigger: "PERIODIC, ONE_TIME",
    creator_user_name: "omitted once the creator was deleted",
    run_name: "name of the run",
    run_page_url: "page of the run",
    run_type: "JOB_RUN",
    result_state: { "SUCCESS, FAILED, TIMED_OUT": /by control/, SKIPPED: /SKIPPED/ },
    NotebookOutput: {
      "result, absent without an exit call": /no exit call/,
      "first 1 MB, and truncated says so": /1 MB/,
    },
    ViewItem: "content (HTML), name, type",
    ViewsToExport: "CODE (default), DASHBOARDS, ALL",
  },
  {
    open: {
      life_cycle_state: ["its values", "PENDING, RUNNING, TERMINATING, TERMINATED, SKIPPED, INTERNAL_ERROR"],
      "other values": ["result of a canceled run, trigger of a retry", "CANCELED, RETRY"],
      RunParameters: [
        "its fields",
        "jar_params, notebook_params, python_params, spark_submit_params; the last two ASCII only",
      ],
      control: [
        "how work ends",
        "with success after a second of the clock, or as the control request runs says",
      ],
    },
  },
);

const STATES = section(
  "B3.3",
  "States of a run",
  {
    states: { "result_state is there when the run has finished": /with the result/ },
    cancel: {
      asynchronous: /asynchronously/,
      "in a terminal state it does nothing": /terminal state/,
    },
    delete: { "only when it is not active": /not active/ },
  },
  {
    open: {
      transitions: [
        "transitions of life_cycle_state",
        "PENDING, RUNNING, TERMINATING, TERMINATED; SKIPPED at once; INTERNAL_ERROR from any active state",
      ],
      "with its cluster": [
        "what befalls a run with its cluster",
        "INTERNAL_ERROR where the cluster restarts, ends or cannot start; a resize leaves it alone",
      ],
    },
  },
);

const CALLS = section(
  "B4.2",
  "Jobs",
  {
    create: "JobSettings: job_id",
    list: "jobs",
    delete: "job_id is required",
    get: "job_id is required: job_id, creator_user_name, settings, created_time",
    reset: "job_id and new_settings are required",
    "run-now": {
      "answers run_id and number_in_job": /answers the id/,
      job_id: /no id/,
      "parameters are lists, notebook_params a map": /a list where a map/,
    },
    "runs/submit": {
      "run_name is Untitled by default": /Untitled/,
      "existing_cluster_id or new_cluster, one task": /exactly one/,
      libraries: /libraries/,
      timeout_seconds: /timeout_seconds/,
    },
    "runs/list": "runs, most recently started first; has_more",
    "runs/get": "run_id is required: Run",
    "runs/export": { "run_id is required": /does not exist/, "views_to_export is CODE by default": /CODE/ },
    "runs/cancel": "run_id is required",
    "runs/get-output": {
      "run_id is required": /does not exist/,
      "metadata and notebook_output": /metadata/,
      "or error: the reason for the missing output": /error gives the reason/,
    },
    "runs/delete": "run_id",
    size: "a request has at most 10 MB",
    "rule 1": "a workspace has at most 1000 jobs",
    "rule 2": {
      "delete mails the addresses of email_notifications": /mails each/,
      "a job already removed is a no-op": /no-op/,
      "details are invisible afterwards": /no longer exists for/,
      "run history too": /run history/,
      "active runs are terminated asynchronously": /active runs/,
    },
    "rule 3": {
      "new_settings replace the old ones entirely": /entirely/,
      "cluster and task of active runs stay": /stay what they were/,
      "the timeout applies to active runs too": /timeout/,
      "notifications and retries too": /notifications and retries/,
    },
    "rule 4": {
      "jar_params and notebook_params cannot both be given": /cannot both/,
      "each parameter field is at most 10,000 bytes as JSON": /10,000 bytes/,
      "notebook_params default to the job's base parameters": /base parameters/,
      "python_params and spark_submit_params replace the job's": /replace/,
      "at most 1000 starts an hour": /1000 starts/,
      "at most 150 active runs": /150 active/,
    },
    "rule 5": "submit creates a one-time run without a job; poll runs/get",
    "rule 6": {
      "active_only and completed_only cannot both be true": /not both/,
      "without job_id runs of all jobs": /all jobs/,
      "with job_id those of the job": /only those of a job/,
      "limit is 20 by default, above 0 and below 1000; 0 means the maximum": /20 by default/,
      "offset counts from the most recent run": /offset is relative/,
    },
    "rule 7": "only notebook runs can be exported",
    "rule 8": {
      "output has at most 5 MB": /5 MB/,
      "a notebook without an exit call has an empty result": /no exit call/,
    },
    "rule 9": "deleting an active run gives an error",
    "rule 10": "runs are removed after 60 days",
  },
  {
    open: {
      answers: ["answers of the write calls", "200 with an empty object; a list that is empty is left out"],
      missing: [
        "a job or run that does not exist",
        "400 INVALID_PARAMETER_VALUE that names it; deleting an id that no job ever had too",
      ],
      "unknown fields": ["unknown fields of settings", "ignored"],
      starts: ["what counts as a start", "scheduled and submitted runs too; skipped runs and retries do not"],
      "limits and schedules": ["a schedule that meets a limit of the workspace", "its run is SKIPPED"],
      export: ["content of an exported run", "the current notebook"],
    },
    told: {
      "rule 11": [
        "on errors from 500 clients retry for 10 minutes, 30 seconds apart",
        "what a client does: test/api",
      ],
      "user interface": ["a one-time run is not in the user interface", "there is none; runs/list has it"],
    },
  },
);

const ERRORS = section(
  "B7",
  "Errors of part B",
  {
    form: "an error carries error_code and message",
    INVALID_STATE: "clusters/edit of a cluster that is neither RUNNING nor TERMINATED",
    "without a named code": {
      "runs/delete on an active run": /runs\/delete/,
      "runs/export of a run without a notebook": /runs\/export/,
      "clusters/resize of a cluster that is not RUNNING": /clusters\/resize/,
      "creation that cannot obtain enough nodes: terminates with a message": /of its nodes/,
    },
  },
  {
    open: {
      codes: [
        "the codes of these",
        "INVALID_STATE for runs/delete and clusters/resize, INVALID_PARAMETER_VALUE for runs/export",
      ],
      "run-now": ["code above 1000 starts or 150 active runs", "429 REQUEST_LIMIT_EXCEEDED"],
      jobs: ["code for the 1001st job", "QUOTA_EXCEEDED"],
      others: [
        "other codes",
        "MALFORMED_REQUEST for a wrong type, INVALID_PARAMETER_VALUE for a wrong value, PERMISSION_DENIED",
      ],
    },
  },
);

const LIMITS = section(
  "B8",
  "Limits of part B",
  {
    limit: {
      "1000 jobs": /1000 jobs/,
      "1000 starts an hour, run-now included": /1000 starts/,
      "150 active runs": /150 active/,
      "max_concurrent_runs: at most 1000, 1 by default": /max_concurrent_runs/,
      "requests of jobs: 10 MB": /request of jobs/,
      "requests of clusters: 10 MB": /request of clusters/,
      "parameters: 10,000 bytes of each kind": /10,000 bytes/,
      "runs/list: above 0, below 1000, 20 by default": /runs\/list/,
      "runs are kept 60 days": /60 days/,
      "output: first 5 MB": /5 MB/,
      "a notebook's result: first 1 MB": /1 MB/,
      "6 tags on a pool": /6 custom tags/,
      "43 tags on a cluster": /43 custom tags/,
      "45 tags on a job's cluster": /45 custom tags/,
      "10 ssh keys": /10 ssh keys/,
      "pool name: fewer than 100 characters": /fewer than 100/,
      "pool autotermination: 0 to 10000 minutes": /between 0 and 10000/,
      "cluster autotermination: 10 to 10000 minutes, 0 disables": /between 10 and 10000/,
      "disk size: 1 to 1023 GiB": /1023 GiB/,
      "log delivery: every 5 minutes": /every five minutes/,
      "terminated clusters are kept 30 days": /30 days after/,
      "cluster list: 70 terminated interactive": /the 70 most/,
      "cluster list: 30 terminated automated": /the 30 most/,
      "events: 50 to a page, at most 500": /50 to a page/,
    },
  },
  {
    open: {
      "jobs created": ["whether jobs/create counts among the 1000 an hour", "no: what starts a run does"],
      maxima: ["most pools and clusters, rates", "no limit"],
    },
    told: { retries: ["10 minutes, 30 seconds apart, on errors from 500", "what a client does: test/api"] },
  },
);

const VERSIONS = section(
  "B9",
  "Versions of part B",
  {
    "spark-versions": "runtime versions that can be had are listed",
    "list-node-types": "node types that can be had are listed",
  },
  { told: { notice: ["a year of notice before an instance type goes", "nothing to serve"] } },
);

export const jobs = [JOB, RUN, STATES, CALLS, ERRORS, LIMITS, VERSIONS];
