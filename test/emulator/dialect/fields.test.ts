// What the dialect has otherwise in every area: paths, maps, URIs, names of the vendor, and what its parser forgives.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const POOL = { instance_pool_name: "p", node_type_id: "Standard_DS3_v2" };
const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };

describe("paths", () => {
  test("the file calls are below /dbfs, and /fs is another API", async () => {
    expect((await w.get("dbfs/list", { path: "/" })).status).toBe(200);
    expect(await w.get("fs/list", { path: "/" })).toMatchObject({
      status: 404,
      body: { error_code: "ENDPOINT_NOT_FOUND", message: "No API found for 'GET /fs/list'" },
    });
  });

  test("version 2.1 serves jobs and clusters alone, and 2.2 does not exist", async () => {
    expect((await w.get("/api/2.1/jobs/list")).status).toBe(200);
    expect((await w.get("/api/2.1/clusters/list")).status).toBe(200);
    expect(await w.get("/api/2.1/secrets/scopes/list")).toMatchObject({
      status: 404,
      body: { message: "No API found for 'GET /secrets/scopes/list'" },
    });
    expect(await w.get("/api/2.3/jobs/list")).toMatchObject({
      status: 404,
      body: { error: "Bad Target: /api/2.3/jobs/list" },
    });
  });
});

describe("tags", () => {
  test("custom and default tags are answered as JSON objects under the vendor's names", async () => {
    const { body } = await w.post("instance-pools/create", { ...POOL, custom_tags: { team: "data" } });
    const pool = (await w.get("instance-pools/get", body)).body;
    expect(pool.custom_tags).toEqual({ team: "data" });
    expect(pool.default_tags).toEqual({
      Vendor: "Databricks",
      DatabricksInstancePoolCreatorId: expect.stringMatching(/^\d+$/),
      DatabricksInstancePoolId: body.instance_pool_id,
    });
  });

  test("a cluster's default tags are the four that captures show", async () => {
    const { body } = await w.post("clusters/create", {
      ...CLUSTER,
      cluster_name: "c",
      custom_tags: { k: "v" },
    });
    const cluster = (await w.get("clusters/get", body)).body;
    expect(cluster.custom_tags).toEqual({ k: "v" });
    expect(Object.keys(cluster.default_tags).sort()).toEqual([
      "ClusterId",
      "ClusterName",
      "Creator",
      "Vendor",
    ]);
    const [created] = (await w.post("clusters/events", { ...body, order: "ASC", limit: 1 })).body.events;
    expect(created.details.attributes.custom_tags).toEqual({ k: "v" });
  });

  test("a list of tags is refused", async () => {
    const answer = await w.post("instance-pools/create", {
      ...POOL,
      custom_tags: [{ key: "a", value: "b" }],
    });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "MALFORMED_REQUEST" } });
  });

  test("null tags, as providers send them, mean an empty map", async () => {
    const { body } = await w.post("instance-pools/create", { ...POOL, custom_tags: null });
    expect((await w.get("instance-pools/get", body)).body.custom_tags).toBeUndefined();
  });
});

describe("numbers and strings", () => {
  test("a number written as text is taken, and answered as a number", async () => {
    const { body } = await w.post("instance-pools/create", {
      ...POOL,
      min_idle_instances: "2",
      disk_spec: { disk_count: "1" },
    });
    const pool = (await w.get("instance-pools/get", body)).body;
    expect([pool.min_idle_instances, pool.disk_spec.disk_count]).toEqual([2, 1]);
  });

  test("other text in a number's place is refused", async () => {
    const answer = await w.post("instance-pools/create", { ...POOL, min_idle_instances: "two" });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "MALFORMED_REQUEST" } });
  });

  test("unknown fields are ignored", async () => {
    const { body } = await w.post("instance-pools/create", { ...POOL, future_field: { a: 1 } });
    expect((await w.get("instance-pools/get", body)).body.future_field).toBeUndefined();
  });
});

describe("URIs", () => {
  test("dbfs: URIs are returned as sent, and free text is not changed", async () => {
    const task = {
      name: "j",
      new_cluster: { ...CLUSTER, spark_conf: { "spark.x": "fs:/a" }, spark_env_vars: { A: "dbfs:/b fs:/c" } },
      spark_python_task: { python_file: "dbfs:/main.py", parameters: ["fs:/in", "dbfs:/out"] },
      libraries: [{ jar: "dbfs:/a.jar" }, { whl: "dbfs:/b.whl" }, { egg: "s3://x/c.egg" }],
    };
    const { body } = await w.post("jobs/create", task);
    expect((await w.get("jobs/get", body)).body.settings).toMatchObject(task);
  });

  test("the contract's scheme is refused", async () => {
    const answer = await w.post("jobs/create", {
      new_cluster: CLUSTER,
      spark_python_task: { python_file: "fs:/main.py" },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error_code: "INVALID_PARAMETER_VALUE",
        message: "Unsupported scheme in 'fs:/main.py': use dbfs:/",
      },
    });
  });
});

describe("refusals", () => {
  test("error_code is a string for missing and wrong credentials too", async () => {
    const path = "/api/2.0/clusters/list";
    expect(await w.request({ method: "GET", path })).toMatchObject({
      status: 401,
      body: { error_code: "UNAUTHENTICATED" },
    });
    const headers = { authorization: "Bearer wrong" };
    expect(await w.request({ method: "GET", path, headers })).toMatchObject({
      status: 403,
      body: { error_code: "PERMISSION_DENIED", message: "Invalid access token." },
    });
  });

  test("answers name the vendor's server, and the organization that the workspace is", async () => {
    expect((await w.get("clusters/list")).headers).toMatchObject({
      server: "databricks",
      "x-databricks-org-id": "1234567890123456",
    });
  });
});

describe("tokens", () => {
  test("a token that was created is listed, speaks for its user, expires by the clock, and is revoked", async () => {
    const { body } = await w.post("token/create", { lifetime_seconds: "60", comment: "ci" });
    const { token_value: as, token_info: info } = body;
    expect(info).toMatchObject({ comment: "ci", expiry_time: info.creation_time + 60_000 });
    expect((await w.get("token/list")).body.token_infos).toEqual([info]);
    expect((await w.get("clusters/list", {}, { as })).status).toBe(200);
    await w.advance(60_000);
    expect(await w.get("clusters/list", {}, { as })).toMatchObject({
      status: 403,
      body: { message: "Invalid access token." },
    });
    expect((await w.post("token/delete", { token_id: info.token_id })).body).toEqual({});
    expect((await w.get("token/list")).body).toEqual({});
  });

  test("a user sees and revokes no other user's token", async () => {
    const as = await w.user("bo@example.com");
    const { body } = await w.post("token/create", {});
    expect(body.token_info.expiry_time).toBe(-1);
    expect((await w.get("token/list", {}, { as })).body).toEqual({});
    const { token_id } = body.token_info;
    expect(await w.post("token/delete", { token_id }, { as })).toMatchObject({
      status: 404,
      body: { error_code: "RESOURCE_DOES_NOT_EXIST" },
    });
    expect((await w.get("clusters/list", {}, { as: body.token_value })).status).toBe(200);
    expect((await w.get("clusters/list", {}, { as: ADMIN_TOKEN })).status).toBe(200);
  });
});
