// Jobs: create, get, list, reset, delete, and what settings they take (contract B 2.2, contract B 4.2 rules 1 to 3).

import { beforeEach, describe, expect, test } from "vitest";
import {
  CLUSTER,
  compute,
  DAY,
  done,
  invalid,
  invalidState,
  JOB,
  malformed,
  NOTEBOOK,
  refused,
  SECOND,
} from "../../compute.ts";
import { ADMIN, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const create = (fields: object) => w.post("jobs/create", { ...JOB, ...fields });
const reset = (job_id: number, new_settings: object) => w.post("jobs/reset", { job_id, new_settings });
const remove = (job_id: number) => w.post("jobs/delete", { job_id });
const ok = { status: 200 };
const message = async (fields: object): Promise<string> => (await create(fields)).body.message;

describe("create and get", () => {
  test("B4.2 create, B2.2 job_id: answers the id of the job, a number", async () => {
    const { status, body } = await create({});
    expect({ status, body }).toEqual({ status: 200, body: { job_id: expect.any(Number) } });
  });

  test("B4.2 get, B2.2 created_time, creator_user_name: id, creator, settings and time of creation", async () => {
    const job_id = await c.newJob();
    expect(await c.job(job_id)).toEqual({
      job_id,
      creator_user_name: ADMIN,
      created_time: START,
      settings: expect.any(Object),
    });
  });

  test("B2.2 settings, name, libraries, email_notifications, timeout_seconds, max_concurrent_runs: get shows name, no mail, no timeout and one run at a time", async () => {
    const { settings } = await c.job(await c.newJob());
    expect(settings).toEqual({
      name: "Untitled",
      ...JOB,
      email_notifications: {},
      timeout_seconds: 0,
      max_concurrent_runs: 1,
    });
  });

  test("B2.2 settings, libraries: every setting that was given is answered", async () => {
    const settings = {
      name: "nightly",
      new_cluster: { ...CLUSTER, custom_tags: [{ key: "team", value: "etl" }], spark_conf: { a: "b" } },
      notebook_task: { notebook_path: "/a/b", base_parameters: { day: "1" } },
      libraries: [
        { jar: "fs:/a.jar" },
        { egg: "fs:/a.egg" },
        { whl: "fs:/a.whl" },
        { pypi: { package: "simplejson==3.8.0", repo: "https://example.com" } },
        { maven: { coordinates: "org:name:1.0", repo: "https://example.com", exclusions: ["a:b"] } },
        { cran: { package: "geojson" } },
      ],
      email_notifications: {
        on_start: ["a@example.com"],
        on_success: ["b@example.com"],
        on_failure: ["c@example.com"],
        no_alert_for_skipped_runs: true,
      },
      timeout_seconds: 3600,
      max_retries: 3,
      min_retry_interval_millis: 2000,
      retry_on_timeout: true,
      schedule: {
        quartz_cron_expression: "0 15 22 ? * *",
        timezone_id: "Europe/Paris",
        pause_status: "PAUSED",
      },
      max_concurrent_runs: 7,
    };
    expect((await c.job(await c.newJob(settings))).settings).toEqual(settings);
  });

  test("B2.2 pause_status: it is not paused unless it says so", async () => {
    const schedule = { quartz_cron_expression: "0 0 0 * * ?", timezone_id: "UTC" };
    expect((await c.job(await c.newJob({ schedule }))).settings.schedule).toEqual({
      ...schedule,
      pause_status: "UNPAUSED",
    });
  });

  test("B4.2 unknown fields: unknown fields are ignored, also inside", async () => {
    const { settings } = await c.job(
      await c.newJob({ colour: "blue", notebook_task: { notebook_path: "/a", colour: "blue" } }),
    );
    expect(JSON.stringify(settings)).not.toContain("blue");
  });

  test("B2.2 creator_user_name: omitted once the creator was deleted", async () => {
    const as = await w.user("bo@example.com");
    const { body } = await w.post("jobs/create", JOB, { as });
    expect((await c.job(body.job_id)).creator_user_name).toBe("bo@example.com");
    const found = (await w.get("preview/scim/v2/Users", { filter: "userName eq bo@example.com" })).body;
    await w.delete(`preview/scim/v2/Users/${found.Resources[0].id}`);
    expect(await c.job(body.job_id)).not.toHaveProperty("creator_user_name");
  });

  test("B4.2 get, missing: a job that does not exist gives INVALID_PARAMETER_VALUE and is named", async () => {
    expect(await w.get("jobs/get", { job_id: 5 })).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE", message: "Job 5 does not exist." },
    });
    expect(await w.get("jobs/get", { job_id: 2n ** 62n })).toMatchObject(invalid);
    expect(await w.get("jobs/get")).toMatchObject(invalid);
    expect(await w.get("jobs/get", { job_id: "five" })).toMatchObject(malformed);
  });

  test("B4.2 list: nothing but an empty object without jobs, else the same as get", async () => {
    expect((await w.get("jobs/list")).body).toEqual({});
    const a = await c.newJob({ name: "a" });
    const b = await c.newJob({ name: "b" });
    expect((await w.get("jobs/list")).body).toEqual({ jobs: [await c.job(a), await c.job(b)] });
  });

  test("B4.2 rule 1, B8 limit, B7 jobs: a workspace has at most 1000 jobs", async () => {
    for (let count = 0; count < 1000; count++) await c.newJob();
    expect(await create({})).toMatchObject(refused(400, "QUOTA_EXCEEDED"));
    await remove((await w.get("jobs/list")).body.jobs[0].job_id);
    expect(await create({})).toMatchObject(ok);
  });

  test("B4.2 size, B8 limit: a request of jobs has at most 10 MB", async () => {
    expect(await create({ name: "x".repeat(10 * 1024 * 1024) })).toMatchObject(
      refused(413, "REQUEST_TOO_LARGE"),
    );
  });
});

describe("which cluster", () => {
  test("B2.2 existing_cluster_id: exactly one of existing_cluster_id and new_cluster", async () => {
    const existing_cluster_id = await c.newCluster();
    expect(await message({ new_cluster: undefined })).toBe(
      "Either new_cluster or existing_cluster_id must be specified.",
    );
    expect(await create({ existing_cluster_id })).toMatchObject(invalid);
    expect(await create({ existing_cluster_id, new_cluster: undefined })).toMatchObject(ok);
  });

  test("B2.2 existing_cluster_id: the cluster must exist", async () => {
    expect(await message({ new_cluster: undefined, existing_cluster_id: "none" })).toBe(
      "Cluster none does not exist",
    );
    const expired = await c.terminatedCluster();
    await w.advance(31 * DAY);
    expect(await create({ new_cluster: undefined, existing_cluster_id: expired })).toMatchObject(
      invalidState,
    );
  });

  test("B2.2 new_cluster: an invalid cluster is refused with the message of the jobs service", async () => {
    expect(await message({ new_cluster: { ...CLUSTER, num_workers: undefined } })).toBe(
      "Cluster validation error: Missing required field: settings.cluster_spec.new_cluster.size",
    );
    expect(await message({ new_cluster: { ...CLUSTER, spark_version: "1.x" } })).toBe(
      "Cluster validation error: Invalid spark version 1.x.",
    );
    expect(await create({ new_cluster: { ...CLUSTER, node_type_id: "Abacus" } })).toMatchObject(invalid);
    expect(await create({ new_cluster: {} })).toMatchObject(invalid);
  });

  test("B2.2 new_cluster: a pool must exist, and the job gives INVALID_PARAMETER_VALUE for it", async () => {
    const instance_pool_id = await c.newPool();
    const new_cluster = { ...CLUSTER, node_type_id: undefined, instance_pool_id };
    const { settings } = await c.job(await c.newJob({ new_cluster }));
    expect(settings.new_cluster).toEqual({
      spark_version: CLUSTER.spark_version,
      num_workers: 2,
      instance_pool_id,
    });
    await w.post("instance-pools/delete", { instance_pool_id });
    expect(await create({ new_cluster })).toMatchObject({
      status: 400,
      body: {
        error_code: "INVALID_PARAMETER_VALUE",
        message: `Cluster validation error: Can't find an instance pool with id: ${instance_pool_id}`,
      },
    });
  });

  test("B2.4 custom_tags, B8 limit: a job's cluster takes 45 custom tags", async () => {
    const tags = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
    expect(await create({ new_cluster: { ...CLUSTER, custom_tags: tags(45) } })).toMatchObject(ok);
    expect(await create({ new_cluster: { ...CLUSTER, custom_tags: tags(46) } })).toMatchObject(invalid);
  });
});

describe("which task", () => {
  const tasks = {
    notebook_task: { notebook_path: "/a" },
    spark_jar_task: { main_class_name: "com.example.Main", parameters: ["a"] },
    spark_python_task: { python_file: "fs:/a.py", parameters: ["a"] },
    spark_submit_task: { parameters: ["--class", "com.example.Main", "fs:/a.jar"] },
  };
  const only = (task: object) => w.post("jobs/create", { new_cluster: CLUSTER, ...task });

  test.each(Object.entries(tasks))("B2.2 tasks: a job may have a %s", async (kind, task) => {
    const { body } = await only({ [kind]: task });
    expect((await c.job(body.job_id)).settings[kind]).toEqual(task);
  });

  test("B2.2 tasks: exactly one task", async () => {
    expect(await only({})).toMatchObject(invalid);
    const { notebook_task, spark_jar_task } = tasks;
    expect(await only({ notebook_task, spark_jar_task })).toMatchObject(invalid);
  });

  test("B2.2 NotebookTask: the path is required, absolute, and begins with a slash", async () => {
    expect(await only({ notebook_task: {} })).toMatchObject(invalid);
    expect(await only({ notebook_task: { notebook_path: "a/b" } })).toMatchObject(invalid);
    expect(await only({ notebook_task: { notebook_path: "" } })).toMatchObject(invalid);
  });

  test("B2.2 tasks: parameters are of the type that the task has", async () => {
    const base_parameters = ["a"];
    expect(await only({ notebook_task: { notebook_path: "/a", base_parameters } })).toMatchObject(malformed);
    expect(await only({ spark_jar_task: { parameters: { a: "b" } } })).toMatchObject(malformed);
    expect(await only({ spark_python_task: { parameters: ["a"] } })).toMatchObject(invalid);
    expect(await only({ spark_submit_task: { parameters: [1] } })).toMatchObject(malformed);
  });

  test("B2.2 SparkSubmitTask: only on a new cluster, without libraries and without configuration", async () => {
    const { spark_submit_task } = tasks;
    const existing_cluster_id = await c.newCluster();
    expect(await w.post("jobs/create", { existing_cluster_id, spark_submit_task })).toMatchObject(invalid);
    expect(await only({ spark_submit_task, libraries: [{ jar: "fs:/a.jar" }] })).toMatchObject(invalid);
    const new_cluster = { ...CLUSTER, spark_conf: { a: "b" } };
    expect(await w.post("jobs/create", { new_cluster, spark_submit_task })).toMatchObject(invalid);
  });

  test("B2.2 Library, kinds of libraries: each is exactly one kind, with what that kind needs", async () => {
    const withLibrary = (library: object) => create({ libraries: [library] });
    expect(await withLibrary({})).toMatchObject(invalid);
    expect(await withLibrary({ jar: "fs:/a.jar", egg: "fs:/a.egg" })).toMatchObject(invalid);
    expect(await withLibrary({ maven: {} })).toMatchObject(invalid);
    expect(await withLibrary({ pypi: { repo: "x" } })).toMatchObject(invalid);
    expect(await withLibrary({ jar: 5 })).toMatchObject(malformed);
  });
});

describe("the other settings", () => {
  test("B2.2 max_concurrent_runs, B8 limit: max_concurrent_runs from 0 to 1000", async () => {
    expect(await create({ max_concurrent_runs: -1 })).toMatchObject(invalid);
    expect(await create({ max_concurrent_runs: 1001 })).toMatchObject(invalid);
    expect(await create({ max_concurrent_runs: 0 })).toMatchObject(ok);
    expect(await create({ max_concurrent_runs: 1000 })).toMatchObject(ok);
  });

  test("B2.2 max_retries: -1 or more", async () => {
    expect(await create({ max_retries: -2 })).toMatchObject(invalid);
    expect(await create({ max_retries: -1 })).toMatchObject(ok);
  });

  test("B2.2 timeout_seconds, min_retry_interval_millis: not below 0", async () => {
    expect(await create({ timeout_seconds: -1 })).toMatchObject(invalid);
    expect(await create({ min_retry_interval_millis: -1 })).toMatchObject(invalid);
  });

  test("B2.2 types: a wrong type is refused, not turned into the right one", async () => {
    for (const fields of [
      { name: 5 },
      { timeout_seconds: "5" },
      { max_retries: 1.5 },
      { retry_on_timeout: "true" },
      { email_notifications: { on_start: "a@example.com" } },
      { schedule: "0 0 0 * * ?" },
      { libraries: {} },
    ]) {
      expect(await create(fields)).toMatchObject(malformed);
    }
  });

  test("B2.2 quartz_cron_expression, timezone_id: expression and time zone are required and checked", async () => {
    const quartz_cron_expression = "0 0 0 * * ?";
    const timezone_id = "UTC";
    expect(await create({ schedule: { quartz_cron_expression } })).toMatchObject(invalid);
    expect(await create({ schedule: { timezone_id } })).toMatchObject(invalid);
    expect(await create({ schedule: { quartz_cron_expression, timezone_id: "Mars" } })).toMatchObject(
      invalid,
    );
    expect(
      await message({ schedule: { quartz_cron_expression: "0 30 2,7,11,15 * * *", timezone_id } }),
    ).toMatch(/^Invalid quartz_cron_expression: 0 30 2,7,11,15 \* \* \*\./);
  });

  test("B5 jobs: any user may create, reset, run and delete", async () => {
    const as = await w.user("bo@example.com");
    const { body } = await w.post("jobs/create", JOB, { as });
    expect(await w.post("jobs/reset", { ...body, new_settings: JOB }, { as })).toMatchObject(done);
    expect(await w.post("jobs/run-now", body, { as })).toMatchObject(ok);
    expect(await w.post("jobs/delete", body, { as })).toMatchObject(done);
  });
});

describe("reset", () => {
  test("B4.2 rule 3: the new settings replace the old ones entirely", async () => {
    const job = await c.newJob({
      name: "old",
      timeout_seconds: 60,
      max_retries: 2,
      libraries: [{ jar: "fs:/a" }],
    });
    expect(await reset(job, { ...JOB, name: "new" })).toMatchObject(done);
    expect(await c.job(job)).toEqual({
      job_id: job,
      creator_user_name: ADMIN,
      created_time: START,
      settings: {
        ...JOB,
        name: "new",
        email_notifications: {},
        timeout_seconds: 0,
        max_concurrent_runs: 1,
      },
    });
  });

  test("B4.2 reset: job_id and new_settings are required, and settings are checked as on create", async () => {
    const job = await c.newJob({ name: "old" });
    expect(await w.post("jobs/reset", { job_id: job })).toMatchObject(invalid);
    expect(await w.post("jobs/reset", { new_settings: JOB })).toMatchObject(invalid);
    expect(await reset(job, { ...JOB, max_concurrent_runs: 1001 })).toMatchObject(invalid);
    expect(await reset(job, NOTEBOOK)).toMatchObject(invalid);
    expect((await c.job(job)).settings.name).toBe("old");
  });

  test("B4.2 reset: a job that does not exist gives INVALID_PARAMETER_VALUE", async () => {
    expect(await reset(5, JOB)).toMatchObject(invalid);
  });

  test("B4.2 rule 3: cluster and task of active runs stay what they were", async () => {
    const job = await c.newJob();
    const run = await c.runNow(job);
    await reset(job, {
      new_cluster: { ...CLUSTER, num_workers: 9 },
      spark_jar_task: { main_class_name: "M" },
    });
    const { task, cluster_spec } = await c.run(run);
    expect({ task, cluster_spec }).toEqual({ task: NOTEBOOK, cluster_spec: { new_cluster: CLUSTER } });
    await w.advance(5 * SECOND);
    expect((await c.run(await c.runNow(job))).task).toEqual({ spark_jar_task: { main_class_name: "M" } });
  });

  test("B4.2 rule 3: a changed timeout applies to active runs", async () => {
    const job = await c.newJob();
    const first = await c.runNow(job);
    await w.advance(600);
    await reset(job, { ...JOB, timeout_seconds: 1 });
    await w.advance(SECOND);
    expect(await c.runState(first)).toBe("TERMINATED TIMED_OUT");

    await reset(job, { ...JOB, timeout_seconds: 1 });
    const second = await c.runNow(job);
    await reset(job, JOB);
    await w.advance(5 * SECOND);
    expect(await c.runState(second)).toBe("TERMINATED SUCCESS");
  });

  test("B4.2 rule 3: changed notifications and retries apply to active runs", async () => {
    const job = await c.newJob();
    const run = await c.runNow(job);
    const email_notifications = { on_failure: ["late@example.com"] };
    await reset(job, { ...JOB, email_notifications, max_retries: 1 });
    await w.advance(600);
    await c.finish(run, "FAILED");
    await w.advance(5 * SECOND);
    expect((await c.mails()).map((mail) => mail.to)).toEqual([["late@example.com"]]);
    expect((await c.runs({ job_id: job })).map((made) => made.trigger)).toEqual(["RETRY", "ONE_TIME"]);
  });
});

describe("delete", () => {
  test("B4.2 rule 2, delete: the job no longer exists for get, list, reset and run-now", async () => {
    const job = await c.newJob();
    expect(await remove(job)).toMatchObject(done);
    expect(await w.get("jobs/get", { job_id: job })).toMatchObject(invalid);
    expect((await w.get("jobs/list")).body).toEqual({});
    expect(await reset(job, JOB)).toMatchObject(invalid);
    expect(await w.post("jobs/run-now", { job_id: job })).toMatchObject(invalid);
  });

  test("B4.2 rule 2: a job already removed is a no-op", async () => {
    const job = await c.newJob({ email_notifications: { on_start: ["a@example.com"] } });
    await remove(job);
    expect(await remove(job)).toMatchObject(done);
    expect(await c.mails()).toHaveLength(1);
  });

  test("B4.2 delete, missing: an id that no job ever had gives INVALID_PARAMETER_VALUE", async () => {
    expect(await remove(5)).toMatchObject(invalid);
    expect(await w.post("jobs/delete", {})).toMatchObject(invalid);
  });

  test("B4.2 rule 2, B6 mails: mails each address of the notifications once", async () => {
    const job = await c.newJob({
      name: "nightly",
      email_notifications: { on_start: ["a@example.com"], on_success: ["a@example.com", "b@example.com"] },
    });
    await remove(job);
    expect(await c.mails()).toMatchObject([
      {
        to: ["a@example.com", "b@example.com"],
        event: "job_deleted",
        details: { job_id: job, name: "nightly" },
      },
    ]);
  });

  test("B4.2 rule 2: without addresses, no e-mail is sent", async () => {
    await remove(await c.newJob());
    expect(await c.mails()).toEqual([]);
  });

  test("B4.2 rule 2: the run history is invisible afterwards", async () => {
    const job = await c.newJob();
    const run = await c.runNow(job);
    await w.advance(5 * SECOND);
    await remove(job);
    expect(await w.get("jobs/runs/get", { run_id: run })).toMatchObject(invalid);
    expect(await c.runs()).toEqual([]);
    expect(await c.runs({ job_id: job })).toEqual([]);
  });

  test("B4.2 rule 2: active runs are terminated, and their cluster with them", async () => {
    const job = await c.newJob();
    const run = await c.runNow(job);
    await w.advance(600);
    const { cluster_id } = (await c.run(run)).cluster_instance;
    await remove(job);
    expect(await w.get("jobs/runs/get", { run_id: run })).toMatchObject(invalid);
    await w.advance(SECOND);
    expect(await c.state(cluster_id)).toBe("TERMINATED");
  });

  test("B4.2 rule 2: a deleted job's schedule fires no more", async () => {
    const job = await c.newJob({ schedule: { quartz_cron_expression: "0 * * * * ?", timezone_id: "UTC" } });
    await remove(job);
    await w.advance(DAY);
    expect(await c.clusters()).toEqual([]);
  });
});
