// Jobs of a host with versions: which one is used, how pages end, both forms of a job, and what a reset keeps.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { apiError, thrown } from "../answers.ts";
import { hostWith } from "./host.ts";

const CLUSTER = { spark_version: "15.4.x-scala2.12", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const TASK = {
  task_key: "load",
  notebook_task: { notebook_path: "/Shared/load", source: "WORKSPACE" },
  new_cluster: { ...CLUSTER, x_image: { url: "registry.example.com/a" } },
  max_retries: 2,
  timeout_seconds: 0,
  email_notifications: {},
  run_if: "ALL_SUCCESS",
};
const job = (settings: JsonObject, job_id = 7): JsonObject => ({
  job_id,
  creator_user_name: "ada@example.com",
  settings: { name: "etl", format: "MULTI_TASK", max_concurrent_runs: 1, ...settings },
});
const firstAsked = (asked: readonly { readonly route: string }[]) => asked.map(({ route }) => route);

describe("version", () => {
  test("2.2 is used where the host has it, also for writes", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/list": { has_more: false },
      "POST 2.2/jobs/create": { job_id: 1 },
    });
    await client.reader.read("jobs/list");
    await client.writer.write("jobs/create", { name: "a", notebook_task: { notebook_path: "/a" } });
    expect(firstAsked(asked)).toEqual(["GET 2.2/jobs/list", "POST 2.2/jobs/create"]);
    expect(asked[1]?.body).toEqual({
      name: "a",
      tasks: [{ task_key: "main", notebook_task: { notebook_path: "/a" } }],
    });
  });

  test("2.0 is used where the host has no newer version, which is found once", async () => {
    const { client, asked } = hostWith({ "GET 2.0/jobs/list": {}, "GET 2.0/jobs/get": job({}) });
    await Promise.all([client.reader.read("jobs/list"), client.reader.read("jobs/get", { job_id: 7 })]);
    await client.reader.read("jobs/list");
    expect(firstAsked(asked)).toEqual([
      "GET 2.2/jobs/list",
      "GET 2.1/jobs/list",
      "GET 2.0/jobs/list",
      "GET 2.0/jobs/get",
      "GET 2.0/jobs/list",
    ]);
  });

  test("2.1 is used where the host has no 2.2", async () => {
    const { client, asked } = hostWith({
      "GET 2.1/jobs/list": { has_more: false },
      "POST 2.1/jobs/create": { job_id: 1 },
    });
    await client.writer.write("jobs/create", { name: "a", notebook_task: { notebook_path: "/a" } });
    expect(firstAsked(asked)).toEqual(["GET 2.2/jobs/list", "GET 2.1/jobs/list", "POST 2.1/jobs/create"]);
  });

  test("the answer for a missing job proves that the host has the version", async () => {
    const missing = apiError(400, "INVALID_PARAMETER_VALUE", "Job 7 does not exist.");
    const { client, asked } = hostWith({
      "GET 2.2/jobs/get": missing,
      "GET 2.2/jobs/list": { has_more: false },
    });
    expect(await thrown(client.reader.read("jobs/get", { job_id: 7 }))).toBeInstanceOf(Refused);
    await client.reader.read("jobs/list");
    expect(firstAsked(asked)).toEqual(["GET 2.2/jobs/get", "GET 2.2/jobs/list"]);
  });
});

describe("pages", () => {
  test("are followed to the explicit end, also past an empty page", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/list": [
        { jobs: [job({ tasks: [TASK] }, 1)], has_more: true, next_page_token: "a" },
        { has_more: true, next_page_token: "b" },
        { jobs: [job({ tasks: [TASK] }, 2)], has_more: false, next_page_token: "" },
      ],
    });
    const { jobs } = await client.reader.read("jobs/list");
    expect((jobs as JsonObject[]).map((one) => one.job_id)).toEqual([1, 2]);
    expect(asked.map(({ query }) => query)).toEqual([
      { limit: "100", expand_tasks: "true" },
      { limit: "100", expand_tasks: "true", page_token: "a" },
      { limit: "100", expand_tasks: "true", page_token: "b" },
    ]);
  });

  test("a token that comes twice is an error", async () => {
    const { client } = hostWith({ "GET 2.2/jobs/list": { has_more: true, next_page_token: "a" } });
    await expect(client.reader.read("jobs/list")).rejects.toThrow(/the same page token twice/);
  });

  test("a page that names neither the end nor the next page is an error", async () => {
    const { client } = hostWith({ "GET 2.2/jobs/list": { jobs: [job({ tasks: [TASK] })] } });
    await expect(client.reader.read("jobs/list")).rejects.toThrow(/not the last and has no token/);
  });
});

describe("a job of one task", () => {
  test("is read in the contract's form; mails and times of the task do not replace the job's", async () => {
    const { client } = hostWith({
      "GET 2.2/jobs/get": job({
        tasks: [TASK],
        email_notifications: { on_failure: ["a@example.com"] },
        timeout_seconds: 60,
      }),
    });
    expect(await client.reader.read("jobs/get", { job_id: 7 })).toEqual({
      job_id: 7,
      creator_user_name: "ada@example.com",
      settings: {
        name: "etl",
        max_concurrent_runs: 1,
        email_notifications: { on_failure: ["a@example.com"] },
        timeout_seconds: 60,
        task_key: "load",
        notebook_task: TASK.notebook_task,
        new_cluster: TASK.new_cluster,
        max_retries: 2,
      },
    });
  });

  test("is reset with its task key and every field that the program does not know", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/list": { has_more: false },
      "GET 2.2/jobs/get": job({ tasks: [{ ...TASK, "x-new": 1 }], "x-queue": { enabled: true } }),
      "POST 2.2/jobs/reset": {},
    });
    const settings = {
      name: "etl",
      notebook_task: { notebook_path: "/Shared/load" },
      new_cluster: { ...CLUSTER, num_workers: 4 },
    };
    await client.writer.write("jobs/reset", { job_id: 7, new_settings: settings });
    expect(asked.at(-1)?.body).toEqual({
      job_id: 7,
      new_settings: {
        name: "etl",
        "x-queue": { enabled: true },
        tasks: [
          {
            task_key: "load",
            notebook_task: TASK.notebook_task,
            new_cluster: { ...TASK.new_cluster, num_workers: 4 },
            "x-new": 1,
          },
        ],
      },
    });
  });

  test.each<[string, string, JsonObject, RegExp]>([
    ["2.2", "no task", { tasks: [] }, /it has no task/],
    [
      "2.2",
      "a bundle that deploys it",
      { deployment: { kind: "BUNDLE" }, tasks: [TASK] },
      /a bundle deploys it/,
    ],
    ["2.0", "a list of tasks", {}, /it has a list of tasks/],
  ])("is not reset through %s when it has %s since the plan", async (version, _what, settings, reason) => {
    const { client, asked } = hostWith({
      [`GET ${version}/jobs/list`]: { has_more: false },
      [`GET ${version}/jobs/get`]: job(settings),
      [`POST ${version}/jobs/reset`]: {},
    });
    const write = client.writer.write("jobs/reset", { job_id: 7, new_settings: { name: "etl" } });
    await expect(write).rejects.toThrow(reason);
    expect(firstAsked(asked)).not.toContain(`POST ${version}/jobs/reset`);
  });

  test.each<[string, JsonObject]>([
    ["several tasks", { tasks: [TASK, { ...TASK, task_key: "other" }] }],
    ["a task of another kind", { tasks: [{ task_key: "a", dbt_task: { commands: ["dbt run"] } }] }],
    ["a task with settings of its own", { tasks: [{ ...TASK, timeout_seconds: 60 }] }],
    [
      "a shared cluster",
      {
        tasks: [{ task_key: "a", notebook_task: { notebook_path: "/a" }, job_cluster_key: "c" }],
        job_clusters: [{ job_cluster_key: "c", new_cluster: CLUSTER }],
      },
    ],
    ["code from Git", { tasks: [{ ...TASK, notebook_task: { notebook_path: "a", source: "GIT" } }] }],
    ["serverless compute", { tasks: [{ task_key: "a", notebook_task: { notebook_path: "/a" } }] }],
  ])("with %s keeps its lists", async (_what, settings) => {
    const { client } = hostWith({ "GET 2.2/jobs/get": job(settings) });
    const read = (await client.reader.read("jobs/get", { job_id: 7 })).settings;
    expect(read).toEqual({ name: "etl", max_concurrent_runs: 1, ...settings });
  });

  test("a reset with tasks keeps the unknown fields of each task, by its key", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/list": { has_more: false },
      "GET 2.2/jobs/get": job({
        tasks: [
          { ...TASK, "x-a": 1 },
          { task_key: "b", sql_task: {}, "x-b": 2 },
        ],
      }),
      "POST 2.2/jobs/reset": {},
    });
    const tasks: JsonObject[] = [
      { task_key: "b", sql_task: { warehouse_id: "w", query: { query_id: "q" } } },
      { task_key: "new", notebook_task: { notebook_path: "/n" } },
      { task_key: "load", notebook_task: { notebook_path: "/Shared/load" } },
    ];
    await client.writer.write("jobs/reset", { job_id: 7, new_settings: { name: "etl", tasks } });
    expect(asked.at(-1)?.body?.new_settings).toHaveProperty("tasks", [
      { ...tasks[0], "x-b": 2 },
      tasks[1],
      {
        task_key: "load",
        notebook_task: { notebook_path: "/Shared/load", source: "WORKSPACE" },
        "x-a": 1,
      },
    ]);
  });

  test("of more tasks than a page has is read whole, from the list, too", async () => {
    const page = (key: string, rest: JsonObject): JsonObject => ({
      ...job({ tasks: [{ ...TASK, task_key: key }], parameters: [{ name: key, default: "" }] }),
      ...rest,
    });
    const { client, asked } = hostWith({
      "GET 2.2/jobs/list": { jobs: [page("a", { has_more: true, next_page_token: "2" })], has_more: false },
      "GET 2.2/jobs/get": [
        page("a", { has_more: true, next_page_token: "2" }),
        page("b", { has_more: true, next_page_token: "3" }),
        page("c", { has_more: false }),
      ],
    });
    const { jobs } = await client.reader.read("jobs/list");
    const [{ settings, has_more } = {}] = jobs as JsonObject[];
    const { tasks, parameters } = settings as JsonObject;
    expect((tasks as JsonObject[]).map((task) => task.task_key)).toEqual(["a", "b", "c"]);
    expect((parameters as JsonObject[]).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(has_more).toBeUndefined();
    expect(asked.slice(1).map(({ query }) => query.page_token)).toEqual([undefined, "2", "3"]);
  });
});

describe("a job that the contract cannot express shows its name and the reason", () => {
  test.each<[string, JsonObject, string]>([
    ["no task", {}, "it has no task"],
    ["a bundle that deploys it", { deployment: { kind: "BUNDLE" }, tasks: [TASK] }, "a bundle deploys it"],
    ["another kind", { tasks: [{ task_key: "a", power_bi_task: {} }] }, "it has a power_bi_task"],
  ])("%s", async (_what, settings, reason) => {
    const { client } = hostWith({ "GET 2.2/jobs/list": { jobs: [job(settings)], has_more: false } });
    const { jobs } = await client.reader.read("jobs/list");
    expect(jobs).toEqual([
      { job_id: 7, creator_user_name: "ada@example.com", settings: { name: "etl" }, unmanageable: reason },
    ]);
  });

  test("keep what their tasks use: clusters, pools, warehouses, policies, instance profiles, and jobs", async () => {
    const settings: JsonObject = {
      deployment: { kind: "BUNDLE" },
      job_clusters: [{ job_cluster_key: "k", new_cluster: { instance_pool_id: "p1" } }],
      tasks: [
        { task_key: "a", existing_cluster_id: "c1" },
        { task_key: "b", new_cluster: { instance_pool_id: "p1", driver_instance_pool_id: "p2" } },
        { task_key: "c", for_each_task: { task: { task_key: "d", existing_cluster_id: "c2" } } },
        { task_key: "e", notebook_task: { notebook_path: "/a", warehouse_id: "w1" } },
        { task_key: "f", new_cluster: { policy_id: "o1", aws_attributes: { instance_profile_arn: "arn" } } },
        { task_key: "g", run_job_task: { job_id: 12 } },
      ],
    };
    const { client } = hostWith({ "GET 2.2/jobs/list": { jobs: [job(settings)], has_more: false } });
    const { jobs } = await client.reader.read("jobs/list");
    expect(jobs).toMatchObject([{ used_ids: ["p1", "c1", "p2", "c2", "w1", "o1", "arn", "12"] }]);
  });

  test("version 2.0, whose list does not show tasks: the job itself has the clusters and pools", async () => {
    const tasks = [{ task_key: "a", new_cluster: { instance_pool_id: "p1" } }];
    const single = { format: "SINGLE_TASK", notebook_task: { notebook_path: "/a" } };
    const { client, asked } = hostWith({
      "GET 2.0/jobs/list": { jobs: [job({}), job(single, 8)] },
      "GET 2.0/jobs/get": job({ tasks }),
    });
    const { jobs } = await client.reader.read("jobs/list");
    expect(jobs).toMatchObject([
      { settings: { name: "etl" }, unmanageable: "it has a list of tasks", used_ids: ["p1"] },
      { job_id: 8, settings: { notebook_task: { notebook_path: "/a" } } },
    ]);
    expect(firstAsked(asked).filter((route) => route.endsWith("/get"))).toHaveLength(1);
  });

  test("version 2.0, where the job is deleted after the list was made", async () => {
    const missing = apiError(400, "INVALID_PARAMETER_VALUE", "Job 7 does not exist.");
    const { client } = hostWith({ "GET 2.0/jobs/list": { jobs: [job({})] }, "GET 2.0/jobs/get": missing });
    const { jobs } = await client.reader.read("jobs/list");
    expect(jobs).toMatchObject([{ settings: { name: "etl" }, unmanageable: "it has a list of tasks" }]);
  });

  test("version 2.0 with a notebook in Git", async () => {
    const settings = { format: "SINGLE_TASK", notebook_task: { notebook_path: "a" }, new_cluster: CLUSTER };
    const { client } = hostWith({ "GET 2.0/jobs/list": { jobs: [job(settings)] } });
    const { jobs } = await client.reader.read("jobs/list");
    expect(jobs).toMatchObject([{ unmanageable: "its task comes from a Git repository" }]);
  });
});
