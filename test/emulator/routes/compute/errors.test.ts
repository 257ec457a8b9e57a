// Refusals of pools, clusters, and jobs: status, code, and message.

import { beforeAll, expect, test } from "vitest";
import { compute, JOB } from "../../compute.ts";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
beforeAll(async () => {
  w = await startWorld();
});

const CALLS = {
  POST: [
    ...["create", "edit", "delete"].map((name) => `instance-pools/${name}`),
    ...[
      "create",
      "edit",
      "start",
      "restart",
      "resize",
      "delete",
      "permanent-delete",
      "pin",
      "unpin",
      "events",
    ].map((name) => `clusters/${name}`),
    ...["create", "delete", "reset", "run-now", "runs/submit", "runs/cancel", "runs/delete"].map(
      (name) => `jobs/${name}`,
    ),
  ],
  GET: [
    "instance-pools/get",
    "clusters/get",
    ...["get", "runs/get", "runs/export", "runs/get-output"].map((name) => `jobs/${name}`),
  ],
};

const calls = Object.entries(CALLS).flatMap(([method, names]) =>
  names.map((name): [string, string] => [method, name]),
);

test.each(calls)("B7 form: %s %s without its fields answers error_code and message", async (method, name) => {
  const answer = method === "GET" ? await w.get(name) : await w.post(name, {});
  expect(answer).toMatchObject({
    status: 400,
    body: { error_code: "INVALID_PARAMETER_VALUE", message: expect.stringMatching(/./) },
  });
  expect(Object.keys(answer.body).sort()).toEqual(["error_code", "message"]);
});

/** None of these is what its field takes, in any of the calls. */
const WRONG = {
  ...{ instance_pool_id: 7, instance_pool_name: 7, cluster_id: 7, job_id: "x", run_id: "x" },
  ...{ spark_version: 7, node_type_id: 7, name: 7, run_name: 7, new_settings: 7 },
};

test.each(calls)(
  "B7 form, others: %s %s with fields of the wrong type is malformed",
  async (method, name) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const body = JSON.stringify(WRONG);
    expect(await w.request({ method, path: `/api/2.0/${name}`, headers, body })).toMatchObject({
      status: 400,
      body: { error_code: "MALFORMED_REQUEST", message: expect.stringMatching(/^Could not parse/) },
    });
  },
);

test("B7 form: a refused request leaves the world unchanged", async () => {
  const c = compute(w);
  await c.newJob();
  const before = w.store.dump();
  expect((await w.post("jobs/create", { ...JOB, max_concurrent_runs: 1001 })).status).toBe(400);
  expect((await w.post("clusters/edit", { cluster_id: "none" })).status).toBe(400);
  expect(w.store.dump()).toEqual(before);
});
