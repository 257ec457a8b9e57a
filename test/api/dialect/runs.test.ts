// Job runs and cluster lists of a host with versions: which version is used, and how the pages of 2.1 are read.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { apiError, thrown } from "../answers.ts";
import { hostWith, type Routes } from "./host.ts";

const TASK = { task_key: "load", notebook_task: { notebook_path: "/a" }, existing_cluster_id: "c-1" };
const run = (run_id: number, more: JsonObject = {}): JsonObject => ({
  run_id,
  job_id: 7,
  state: { life_cycle_state: "RUNNING" },
  ...more,
});
const runs = (from: number, count: number): JsonObject[] =>
  Array.from({ length: count }, (_, at) => run(from - at));
const ids = (answer: JsonObject): unknown[] =>
  ((answer.runs ?? []) as JsonObject[]).map(({ run_id }) => run_id);
const LISTED = { "GET 2.2/jobs/list": { has_more: false } };

describe("runs/list", () => {
  test("uses version 2.2 with pages of 24 runs and follows them to the limit", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/runs/list": [
        { runs: runs(60, 24), has_more: true, next_page_token: "a" },
        { runs: runs(36, 24), has_more: true, next_page_token: "b" },
        { runs: runs(12, 12), has_more: false },
      ],
    });
    const answer = await client.reader.read("jobs/runs/list", { active_only: true, limit: 999, offset: 0 });
    expect(answer.has_more).toBe(false);
    expect(ids(answer)).toHaveLength(60);
    expect(asked.map(({ query }) => query)).toEqual([
      { active_only: "true", limit: "24", expand_tasks: "true" },
      { active_only: "true", limit: "24", expand_tasks: "true", page_token: "a" },
      { active_only: "true", limit: "24", expand_tasks: "true", page_token: "b" },
    ]);
  });

  test("asks for no more runs than the limit", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/runs/list": { runs: [run(1)], has_more: true, next_page_token: "a" },
    });
    expect(await client.reader.read("jobs/runs/list", { job_id: 7, limit: 1 })).toMatchObject({
      has_more: true,
    });
    expect(asked.map(({ query }) => query)).toEqual([{ job_id: "7", limit: "1", expand_tasks: "true" }]);
  });

  test("continues a list at its last page token, and reads it again from the start for another offset", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/runs/list": [
        { runs: runs(60, 24), has_more: true, next_page_token: "a" },
        { runs: runs(36, 24), has_more: true, next_page_token: "b" },
        { runs: runs(60, 24), has_more: true, next_page_token: "c" },
        { runs: runs(36, 24), has_more: false },
      ],
    });
    const first = await client.reader.read("jobs/runs/list", { limit: 24, offset: 0 });
    const second = await client.reader.read("jobs/runs/list", { limit: 24, offset: 24 });
    const third = await client.reader.read("jobs/runs/list", { limit: 24, offset: 20 });
    expect([ids(first)[0], ids(second)[0], ids(third)[0]]).toEqual([60, 36, 40]);
    expect(asked.map(({ query }) => query.page_token)).toEqual([undefined, "a", undefined, "c"]);
  });

  test("reads a list with another filter from the start, at the offset where another list ended", async () => {
    const { client, asked } = hostWith({
      "GET 2.2/jobs/runs/list": [
        { runs: runs(60, 24), has_more: true, next_page_token: "a" },
        { runs: runs(90, 24), has_more: true, next_page_token: "b" },
        { runs: runs(66, 24), has_more: false },
      ],
    });
    await client.reader.read("jobs/runs/list", { job_id: 7, limit: 24, offset: 0 });
    const other = await client.reader.read("jobs/runs/list", { job_id: 8, limit: 24, offset: 24 });
    expect(ids(other)[0]).toBe(66);
    expect(asked.map(({ query }) => [query.job_id, query.page_token])).toEqual([
      ["7", undefined],
      ["8", undefined],
      ["8", "b"],
    ]);
  });

  test("refuses a page token that repeats, also across requests", async () => {
    const { client } = hostWith({
      "GET 2.2/jobs/runs/list": { runs: runs(60, 24), has_more: true, next_page_token: "a" },
    });
    await client.reader.read("jobs/runs/list", { limit: 24, offset: 0 });
    await expect(client.reader.read("jobs/runs/list", { limit: 24, offset: 24 })).rejects.toThrow(
      /the same page token twice/,
    );
  });

  test("refuses a page that is not the last and has no token for the next one", async () => {
    const { client } = hostWith({ "GET 2.2/jobs/runs/list": { runs: runs(3, 3) } });
    await expect(client.reader.read("jobs/runs/list", { limit: 999 })).rejects.toThrow(/not the last/);
  });

  test("uses version 2.0 with its own limit if the host has no newer one", async () => {
    const { client, asked } = hostWith({ "GET 2.0/jobs/runs/list": { runs: runs(3, 3), has_more: false } });
    await client.reader.read("jobs/runs/list", { limit: 999, offset: 0 });
    expect(asked.map(({ route, query }) => [route, query.limit])).toEqual([
      ["GET 2.2/jobs/runs/list", "24"],
      ["GET 2.1/jobs/runs/list", "24"],
      ["GET 2.0/jobs/runs/list", "999"],
    ]);
  });
});

describe("a run of version 2.1", () => {
  const got = async (answer: JsonObject): Promise<JsonObject> => {
    const { client } = hostWith({ "GET 2.2/jobs/runs/get": answer });
    return client.reader.read("jobs/runs/get", { run_id: 5 });
  };

  test("shows its only task as the contract does", async () => {
    const instance = { cluster_id: "c-1" };
    const answer = run(5, { end_time: 9 });
    expect(await got({ ...answer, tasks: [{ ...TASK, cluster_instance: instance }] })).toEqual({
      ...answer,
      task: { notebook_task: { notebook_path: "/a" } },
      cluster_spec: { existing_cluster_id: "c-1" },
      cluster_instance: instance,
    });
  });

  test("keeps the task and cluster that the service shows", async () => {
    const answer = run(5, { task: { notebook_task: {} }, cluster_spec: {} });
    expect(await got({ ...answer, tasks: [TASK] })).toEqual(answer);
  });

  test("keeps the list of its tasks and names their clusters if it has several", async () => {
    const other = { task_key: "b", cluster_instance: { cluster_id: "c-2" }, dbt_task: {} };
    const answer = run(5, { tasks: [TASK, other, { ...TASK, task_key: "c" }] });
    expect(await got(answer)).toEqual({ ...answer, cluster_ids: ["c-1", "c-2"] });
  });

  test("has the contract's word for its result", async () => {
    const { state } = await got(run(5, { state: { result_state: "TIMEDOUT" }, tasks: [TASK] }));
    expect(state).toEqual({ result_state: "TIMED_OUT" });
  });
});

test("the version that a run finds serves jobs, and the other way round", async () => {
  const { client, asked } = hostWith({ ...LISTED, "GET 2.2/jobs/runs/get": run(5) });
  await client.reader.read("jobs/runs/get", { run_id: 5 });
  await client.reader.read("jobs/list");
  expect(asked.map(({ route }) => route)).toEqual(["GET 2.2/jobs/runs/get", "GET 2.2/jobs/list"]);
});

test.each<[string, Routes, readonly string[]]>([
  [
    "2.2",
    { ...LISTED, "POST 2.2/jobs/run-now": { run_id: 5 } },
    ["GET 2.2/jobs/list", "POST 2.2/jobs/run-now"],
  ],
  [
    "2.0",
    { "POST 2.0/jobs/run-now": { run_id: 5 } },
    ["GET 2.2/jobs/list", "GET 2.1/jobs/list", "POST 2.0/jobs/run-now"],
  ],
])("a start of a job uses version %s once reads have found it", async (_version, routes, expected) => {
  const { client, asked } = hostWith(routes);
  await client.writer.write("jobs/run-now", { job_id: 7 });
  expect(asked.map((one) => one.route)).toEqual(expected);
});

test("a submitted run has one task in version 2.1", async () => {
  const { client, asked } = hostWith({ ...LISTED, "POST 2.2/jobs/runs/submit": { run_id: 5 } });
  const { task_key: _, ...task } = TASK;
  await client.writer.write("jobs/runs/submit", { run_name: "a", ...task, idempotency_token: "t" });
  expect(asked.at(-1)?.body).toEqual({
    run_name: "a",
    idempotency_token: "t",
    tasks: [{ task_key: "main", ...task }],
  });
});

describe("clusters/list", () => {
  const cluster = (cluster_id: string): JsonObject => ({ cluster_id });

  test.each([
    ["an empty token", { next_page_token: "" }],
    ["no token", {}],
  ])("follows the pages of version 2.1 up to a page with %s", async (_end, end) => {
    const { client, asked } = hostWith({
      "GET 2.1/clusters/list": [
        { clusters: [cluster("a")], next_page_token: "t" },
        { clusters: [cluster("b")], ...end },
      ],
    });
    expect(await client.reader.read("clusters/list")).toEqual({ clusters: [cluster("a"), cluster("b")] });
    expect(asked.map(({ query }) => query)).toEqual([
      { page_size: "100" },
      { page_size: "100", page_token: "t" },
    ]);
  });

  test("refuses a page token that repeats", async () => {
    const { client } = hostWith({ "GET 2.1/clusters/list": { next_page_token: "t" } });
    await expect(client.reader.read("clusters/list")).rejects.toThrow(/the same page token twice/);
  });

  test("uses the one answer of version 2.0 if the host has no 2.1, whatever version jobs have", async () => {
    const { client, asked } = hostWith({ ...LISTED, "GET 2.0/clusters/list": { clusters: [cluster("a")] } });
    await client.reader.read("jobs/list");
    await client.reader.read("clusters/list");
    expect(await client.reader.read("clusters/list")).toEqual({ clusters: [cluster("a")] });
    expect(asked.map(({ route }) => route)).toEqual([
      "GET 2.2/jobs/list",
      "GET 2.1/clusters/list",
      "GET 2.0/clusters/list",
      "GET 2.0/clusters/list",
    ]);
  });

  test("does not take a refusal for a missing version", async () => {
    const { client, asked } = hostWith({ "GET 2.1/clusters/list": apiError(403, "PERMISSION_DENIED") });
    await thrown(client.reader.read("clusters/list"));
    await thrown(client.reader.read("clusters/list"));
    expect(asked.map(({ route }) => route)).toEqual(["GET 2.1/clusters/list", "GET 2.1/clusters/list"]);
  });
});
