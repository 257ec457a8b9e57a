// Jobs and runs in the dialect: both forms of settings, version 2.1, partial updates, and the vendor's run states.

import { beforeEach, describe, expect, test } from "vitest";
import { type Body, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const NOTEBOOK = { notebook_task: { notebook_path: "/a" } };
const TASK = { task_key: "main", ...NOTEBOOK, new_cluster: CLUSTER };
const MODERN = {
  tags: { team: "data" },
  queue: { enabled: true },
  run_as: { user_name: "ada@example.com" },
  webhook_notifications: { on_failure: [{ id: "w1" }] },
  notification_settings: { no_alert_for_canceled_runs: true },
  git_source: { git_url: "https://x/y", git_provider: "gitHub", git_branch: "main" },
  continuous: { pause_status: "PAUSED" },
  trigger: { file_arrival: { url: "abfss://x" } },
  parameters: [{ name: "p", default: "1" }],
  health: { rules: [] },
  description: "what it does",
  edit_mode: "EDITABLE",
};

const create = async (settings: object, version = "2.0"): Promise<Body> =>
  (await w.post(`/api/${version}/jobs/create`, settings)).body;
const settingsOf = async (id: Body, version = "2.0"): Promise<Body> =>
  (await w.get(`/api/${version}/jobs/get`, id)).body.settings;
const invalid = (message: string) => ({
  status: 400,
  body: { error_code: "INVALID_PARAMETER_VALUE", message },
});

describe("a job of one task", () => {
  const SETTINGS = { name: "one", new_cluster: CLUSTER, ...NOTEBOOK };

  test("made in 2.0 is SINGLE_TASK there, and has tasks in 2.1", async () => {
    const id = await create(SETTINGS);
    expect(await settingsOf(id)).toMatchObject({ ...SETTINGS, format: "SINGLE_TASK" });
    const modern = await settingsOf(id, "2.1");
    expect(modern).toMatchObject({
      name: "one",
      format: "MULTI_TASK",
      tasks: [{ task_key: "one", new_cluster: CLUSTER, ...NOTEBOOK }],
    });
    expect(modern.notebook_task).toBeUndefined();
  });

  test("runs as its creator, or as the principal of run_as", async () => {
    const named = async (settings: object) =>
      (await w.get("/api/2.1/jobs/get", await create(settings, "2.1"))).body.run_as_user_name;
    const settings = { name: "one", tasks: [TASK] };
    expect(await named(settings)).toBe("admin@example.com");
    expect(await named({ ...settings, run_as: { service_principal_name: "app-1" } })).toBe("app-1");
  });

  test("made in 2.1 keeps its task key, and has tasks in both versions", async () => {
    const id = await create(
      { name: "one", tasks: [{ ...TASK, run_if: "ALL_SUCCESS", email_notifications: {} }] },
      "2.1",
    );
    for (const version of ["2.0", "2.1"]) {
      const settings = await settingsOf(id, version);
      expect(settings).toMatchObject({
        format: "MULTI_TASK",
        tasks: [{ ...TASK, run_if: "ALL_SUCCESS", email_notifications: {} }],
      });
      expect([settings.notebook_task, settings.new_cluster]).toEqual([undefined, undefined]);
    }
  });

  test("keeps modern fields, which a reset without them removes", async () => {
    const id = await create({
      ...SETTINGS,
      ...MODERN,
      notebook_task: { notebook_path: "/a", source: "WORKSPACE" },
    });
    expect(await settingsOf(id)).toMatchObject({
      ...MODERN,
      notebook_task: { notebook_path: "/a", source: "WORKSPACE" },
    });
    await w.post("jobs/reset", { ...id, new_settings: { ...SETTINGS, tags: { a: "b" } } });
    const after = await settingsOf(id);
    expect(after.tags).toEqual({ a: "b" });
    expect(Object.keys(MODERN).filter((name) => name !== "tags" && name in after)).toEqual([]);
  });

  test("keeps modern fields of its cluster, also in the cluster of a run", async () => {
    const new_cluster = {
      ...CLUSTER,
      policy_id: "P",
      azure_attributes: { availability: "SPOT_AZURE" },
      custom_tags: { a: "b" },
    };
    const id = await create({ ...SETTINGS, new_cluster });
    expect((await settingsOf(id)).new_cluster).toEqual(new_cluster);
    await w.post("jobs/run-now", id);
    const [made] = (await w.get("clusters/list")).body.clusters;
    expect(made).toMatchObject({ cluster_source: "JOB", policy_id: "P", custom_tags: { a: "b" } });
  });

  test("keeps the pause of its schedule and the vendor's mails", async () => {
    const schedule = { quartz_cron_expression: "0 0 2 * * ?", timezone_id: "UTC", pause_status: "PAUSED" };
    const email_notifications = {
      no_alert_for_skipped_runs: false,
      on_duration_warning_threshold_exceeded: ["a@example.com"],
    };
    const id = await create({ ...SETTINGS, schedule, email_notifications });
    expect(await settingsOf(id)).toMatchObject({ schedule, email_notifications });
  });
});

describe("a job of several tasks", () => {
  const TASKS = [
    TASK,
    { task_key: "then", depends_on: [{ task_key: "main" }], pipeline_task: { pipeline_id: "p" } },
  ];

  test("is shown whole by get, and without its tasks by a list of 2.0", async () => {
    const id = await create({ name: "many", tasks: TASKS }, "2.1");
    expect((await settingsOf(id)).tasks).toEqual(TASKS);
    const [listed] = (await w.get("jobs/list")).body.jobs;
    expect(listed.settings).toMatchObject({ name: "many", format: "MULTI_TASK" });
    expect([listed.settings.tasks, listed.settings.notebook_task]).toEqual([undefined, undefined]);
    expect((await w.get("jobs/list", { expand_tasks: true })).body.jobs[0].settings.tasks).toEqual(TASKS);
  });

  test("is flattened by a reset of version 2.0", async () => {
    const id = await create({ name: "many", tasks: TASKS }, "2.1");
    await w.post("jobs/reset", { ...id, new_settings: { name: "many", new_cluster: CLUSTER, ...NOTEBOOK } });
    expect(await settingsOf(id)).toMatchObject({ format: "SINGLE_TASK", ...NOTEBOOK });
  });

  test("shares clusters by key, of which each must be defined", async () => {
    const shared = { job_cluster_key: "c", new_cluster: CLUSTER };
    const tasks = [{ task_key: "a", ...NOTEBOOK, job_cluster_key: "c" }];
    const id = await create({ tasks, job_clusters: [shared] }, "2.1");
    expect(await settingsOf(id, "2.1")).toMatchObject({ tasks, job_clusters: [shared] });
    expect(await w.post("/api/2.1/jobs/create", { tasks })).toMatchObject(
      invalid("Job cluster 'c' of task 'a' is not defined."),
    );
  });

  test.each([
    [[TASK, TASK], "Duplicate task_key 'main' in tasks."],
    [[{ ...TASK, depends_on: [{ task_key: "x" }] }], "Task 'main' depends on 'x', which is not defined."],
  ])("is refused when its keys do not fit", async (tasks, message) => {
    expect(await w.post("/api/2.1/jobs/create", { tasks })).toMatchObject(invalid(message));
  });

  test.each<[string, Body]>([
    ["a notebook", { notebook_task: { notebook_path: "etl/load", source: "GIT" } }],
    ["a notebook without a source", { notebook_task: { notebook_path: "etl/load" } }],
    ["a Python file", { spark_python_task: { python_file: "etl/load.py", source: "GIT" } }],
  ])("is stored as sent when its only task is %s of a Git repository", async (_, kind) => {
    const git_source = { git_url: "https://git.example.com/etl", git_provider: "gitHub", git_branch: "main" };
    const tasks = [{ task_key: "a", new_cluster: CLUSTER, ...kind }];
    const id = await create({ name: "git", git_source, tasks }, "2.1");
    expect(await settingsOf(id, "2.1")).toMatchObject({ git_source, tasks });
    const withoutRepository = await w.post("/api/2.1/jobs/create", { tasks });
    expect(withoutRepository.status).toBe(JSON.stringify(kind).includes("GIT") ? 200 : 400);
  });

  test("runs without a cluster here, and shows a state for each task", async () => {
    const id = await create({ name: "many", tasks: TASKS }, "2.1");
    const { run_id } = (await w.post("/api/2.1/jobs/run-now", id)).body;
    await w.advance(60_000);
    const run = (await w.get("/api/2.1/jobs/runs/get", { run_id })).body;
    expect(run.state).toMatchObject({ life_cycle_state: "TERMINATED", result_state: "SUCCESS" });
    expect(run.task).toBeUndefined();
    expect(run.tasks.map((one: Body) => [one.task_key, one.state.result_state])).toEqual([
      ["main", "SUCCESS"],
      ["then", "SUCCESS"],
    ]);
    expect(new Set(run.tasks.map((one: Body) => one.run_id)).size).toBe(2);
  });
});

describe("version 2.2", () => {
  test("queues the runs of a new job unless its settings say otherwise", async () => {
    const queueOf = async (settings: object, version: string): Promise<Body> =>
      (await settingsOf(await create({ tasks: [TASK], ...settings }, version), "2.2")).queue;
    expect(await queueOf({}, "2.2")).toEqual({ enabled: true });
    expect(await queueOf({ queue: { enabled: false } }, "2.2")).toEqual({ enabled: false });
    expect(await queueOf({}, "2.1")).toBeUndefined();
  });

  test("makes, lists, runs, and deletes jobs as version 2.1 does", async () => {
    const id = await create({ name: "j", tasks: [TASK] }, "2.2");
    expect((await settingsOf(id, "2.2")).tasks).toEqual([TASK]);
    expect((await w.get("/api/2.2/jobs/list", { expand_tasks: true })).body).toEqual(
      (await w.get("/api/2.1/jobs/list", { expand_tasks: true })).body,
    );
    const { run_id } = (await w.post("/api/2.2/jobs/run-now", id)).body;
    await w.advance(60_000);
    expect((await w.get("/api/2.2/jobs/runs/get", { run_id })).body.tasks).toHaveLength(1);
    expect((await w.post("/api/2.2/jobs/delete", id)).status).toBe(200);
    expect((await w.get("/api/2.2/jobs/list")).body).toEqual({ has_more: false });
  });
});

describe.each(["2.0", "2.1", "2.2"])("jobs/update of version %s", (version) => {
  const update = (id: Body, body: object) => w.post(`/api/${version}/jobs/update`, { ...id, ...body });

  test("replaces the top-level fields that it names, and leaves the others", async () => {
    const id = await create({
      name: "j",
      new_cluster: CLUSTER,
      ...NOTEBOOK,
      ...MODERN,
      max_concurrent_runs: 3,
    });
    expect(await update(id, { new_settings: { name: "k", tags: { x: "y" } } })).toMatchObject({
      status: 200,
      body: {},
    });
    expect(await settingsOf(id, version)).toMatchObject({
      ...MODERN,
      name: "k",
      tags: { x: "y" },
      max_concurrent_runs: 3,
    });
  });

  test("removes fields, and entries of lists by their key", async () => {
    const tasks = [TASK, { ...TASK, task_key: "second" }];
    const id = await create({ name: "j", tasks, ...MODERN }, "2.1");
    await update(id, { fields_to_remove: ["queue", "tasks/main"] });
    const after = await settingsOf(id, "2.1");
    expect(after.queue).toBeUndefined();
    expect(after.tasks.map((one: Body) => one.task_key)).toEqual(["second"]);
  });

  test("merges tasks by their keys", async () => {
    const id = await create({ tasks: [TASK] }, "2.1");
    await update(id, { new_settings: { tasks: [{ ...TASK, task_key: "second" }] } });
    expect((await settingsOf(id, "2.1")).tasks.map((one: Body) => one.task_key)).toEqual(["main", "second"]);
  });

  test("of a job that is missing names it", async () => {
    expect(await update({ job_id: 1 }, { new_settings: { name: "x" } })).toMatchObject(
      invalid("Job 1 does not exist."),
    );
  });
});

describe("jobs/list of version 2.1", () => {
  const list = async (query: Record<string, string | number>): Promise<Body> =>
    (await w.get("/api/2.1/jobs/list", query)).body;

  test("pages by tokens until has_more is false", async () => {
    for (const name of ["a", "b", "c"]) await create({ name, new_cluster: CLUSTER, ...NOTEBOOK });
    const first = await list({ limit: 2 });
    expect([first.jobs.length, first.has_more, first.prev_page_token]).toEqual([2, true, undefined]);
    const second = await list({ limit: 2, page_token: first.next_page_token });
    expect([second.jobs.length, second.has_more, second.next_page_token]).toEqual([1, false, undefined]);
    expect((await list({ limit: 2, page_token: second.prev_page_token })).jobs).toEqual(first.jobs);
    expect((await w.get("jobs/list")).body.jobs).toHaveLength(3);
  });

  test("shows tasks only when asked to, and finds a name in any case", async () => {
    await create({ name: "Nightly", tasks: [TASK] }, "2.1");
    await create({ name: "other", tasks: [TASK] }, "2.1");
    expect((await list({ name: "nightly" })).jobs[0].settings.tasks).toBeUndefined();
    const { jobs } = await list({ name: "NIGHTLY", expand_tasks: "true" });
    expect(jobs.map((job: Body) => job.settings.tasks)).toEqual([[TASK]]);
  });

  test("an empty list says that there is no more, and a page has at most 100 jobs", async () => {
    expect(await list({})).toEqual({ has_more: false });
    expect((await w.get("/api/2.1/jobs/list", { limit: 101 })).status).toBe(400);
  });
});

describe("runs", () => {
  const started = async (settings: object = {}): Promise<Body> => {
    const id = await create({ name: "j", new_cluster: CLUSTER, ...NOTEBOOK, ...settings });
    return { ...id, ...(await w.post("jobs/run-now", { job_id: String(id.job_id) })).body };
  };
  const run = async (run_id: number, version = "2.0"): Promise<Body> =>
    (await w.get(`/api/${version}/jobs/runs/get`, { run_id })).body;

  test("take ids as text, and have their id as their number", async () => {
    const { run_id, number_in_job } = await started();
    expect(number_in_job).toBe(run_id);
    expect((await w.post("jobs/runs/cancel", { run_id: String(run_id) })).status).toBe(200);
    await w.advance(60_000);
    expect((await run(run_id)).state).toMatchObject({
      life_cycle_state: "TERMINATED",
      result_state: "CANCELED",
    });
    expect((await w.post("jobs/runs/delete", { run_id: String(run_id) })).status).toBe(200);
  });

  test("that take too long end TIMEDOUT", async () => {
    const { run_id } = await started();
    await w.control("POST", "runs", { run_id, result_state: "TIMEDOUT" });
    await w.advance(60_000);
    expect((await run(run_id)).state.result_state).toBe("TIMEDOUT");
  });

  test("that are skipped say so by their life cycle alone", async () => {
    const { run_id } = await started({ max_concurrent_runs: 0 });
    const { state } = await run(run_id);
    expect([state.life_cycle_state, state.result_state]).toEqual(["SKIPPED", undefined]);
  });

  test("show attempt, end and duration, and the address of their page", async () => {
    const { run_id, job_id } = await started();
    expect((await run(run_id)).end_time).toBe(0);
    await w.advance(60_000);
    const ended = await run(run_id);
    expect(ended).toMatchObject({ attempt_number: 0, run_duration: ended.end_time - ended.start_time });
    expect(ended.run_page_url).toMatch(new RegExp(`/\\?o=\\d+#job/${job_id}/run/1$`));
  });

  test("have tasks in 2.1, and the fields of the only task at the top too", async () => {
    const { run_id } = await started();
    const modern = await run(run_id, "2.1");
    expect(modern.tasks).toMatchObject([{ task_key: "j", run_id, ...NOTEBOOK }]);
    expect(modern.task).toEqual(NOTEBOOK);
    expect((await run(run_id)).tasks).toBeUndefined();
    const output = (await w.get("/api/2.1/jobs/runs/get-output", { run_id })).body;
    expect(output.metadata.tasks[0].task_key).toBe("j");
  });

  test("start once for each idempotency token", async () => {
    const { job_id } = await started();
    const now = { job_id, idempotency_token: "t" };
    const first = (await w.post("jobs/run-now", now)).body;
    expect((await w.post("jobs/run-now", now)).body).toEqual(first);
    const submit = { tasks: [TASK], idempotency_token: "t" };
    const submitted = (await w.post("/api/2.1/jobs/runs/submit", submit)).body;
    expect(submitted.run_id).not.toBe(first.run_id);
    expect((await w.post("/api/2.1/jobs/runs/submit", submit)).body).toEqual(submitted);
    expect((await run(submitted.run_id, "2.1")).tasks[0]).toMatchObject(TASK);
  });

  test("are listed in pages of 2.1, by type and time", async () => {
    const { job_id, run_id } = await started({ max_concurrent_runs: 5 });
    await w.advance(1000);
    const later = (await w.post("jobs/run-now", { job_id })).body.run_id;
    const list = async (query: object): Promise<Body> =>
      (await w.get("/api/2.1/jobs/runs/list", { ...query })).body;
    const first = await list({ limit: 1 });
    expect([first.runs[0].run_id, first.has_more]).toEqual([later, true]);
    const second = await list({ limit: 1, page_token: first.next_page_token });
    expect([second.runs[0].run_id, second.has_more]).toEqual([run_id, false]);
    const { start_time } = second.runs[0];
    expect((await list({ start_time_to: start_time })).runs).toHaveLength(1);
    expect(await list({ run_type: "SUBMIT_RUN" })).toEqual({ has_more: false });
    expect((await w.get("/api/2.1/jobs/runs/list", { limit: 26 })).status).toBe(400);
  });
});
