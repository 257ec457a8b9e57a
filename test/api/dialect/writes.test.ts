// Writes that replace a whole object keep what they do not set; paths, words, nulls, and groups of the account.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { apiError } from "../answers.ts";
import { hostWith } from "./host.ts";

const ATTRIBUTES = { availability: "SPOT_AZURE", log_analytics_info: { workspace: "w" } };
const DOCKER = { x_image: { url: "registry.example.com/a" } };
const edit = { cluster_id: "c", spark_version: "15.4.x-scala2.12", num_workers: 2 };

async function edited(live: JsonObject, request: JsonObject): Promise<JsonObject | undefined> {
  const { client, asked } = hostWith({ "GET 2.0/clusters/get": live, "POST 2.0/clusters/edit": {} });
  await client.writer.write("clusters/edit", request);
  return asked.at(-1)?.body;
}

describe("an edit of a cluster", () => {
  test("keeps what the request does not set, and sends nothing that is only read", async () => {
    const live: JsonObject = {
      ...edit,
      num_workers: 1,
      ...DOCKER,
      spark_conf: { "a.b": "c" },
      state: "RUNNING",
      default_tags: { Vendor: "Databricks" },
      instance_source: { node_type_id: "Standard_DS3_v2" },
      x_load: { clients: { jobs: true } },
    };
    expect(await edited(live, edit)).toEqual({
      ...edit,
      ...DOCKER,
      x_load: { clients: { jobs: true } },
    });
  });

  test("starts from what was asked for, where the service shows it", async () => {
    const live: JsonObject = {
      ...edit,
      azure_attributes: ATTRIBUTES,
      spec: { ...edit, ...DOCKER, idempotency_token: "t" },
    };
    expect(await edited(live, edit)).toEqual({ ...edit, ...DOCKER });
  });

  test("keeps an unknown field that the service shows only next to what was asked for", async () => {
    const live: JsonObject = {
      ...edit,
      x_load: { clients: { jobs: true } },
      azure_attributes: ATTRIBUTES,
      state: "RUNNING",
      spec: { ...edit, ...DOCKER },
    };
    expect(await edited(live, edit)).toEqual({ ...edit, ...DOCKER, x_load: { clients: { jobs: true } } });
  });

  test("does not repeat what a pool decides", async () => {
    const member = { ...edit, instance_pool_id: "p" };
    expect(
      await edited({ ...member, gcp_attributes: { zone_id: "auto", other: 1 }, ...DOCKER }, member),
    ).toEqual({
      ...member,
      ...DOCKER,
    });
  });

  test("keeps the instance profile and the service account of a cluster in a pool", async () => {
    const member = { ...edit, instance_pool_id: "p" };
    const gcp = { gcp_attributes: { google_service_account: "a@b" } };
    const aws = { aws_attributes: { instance_profile_arn: "arn" } };
    const live: JsonObject = {
      ...member,
      aws_attributes: { zone_id: "auto", ...aws.aws_attributes },
      ...gcp,
    };
    expect(await edited(live, { ...member, ...aws })).toEqual({ ...member, ...aws, ...gcp });
  });

  test("keeps the service account of a cluster, and of a job cluster, that moves into a pool", async () => {
    const gcp = { google_service_account: "a@b" };
    const live: JsonObject = {
      ...edit,
      gcp_attributes: { zone_id: "auto", availability: "ON_DEMAND_GCP", ...gcp },
    };
    const member = { ...edit, instance_pool_id: "p" };
    const moved = { ...member, gcp_attributes: gcp };
    expect(await edited(live, member)).toEqual(moved);
    expect(await edited({ ...edit, spec: live }, member)).toEqual(moved);
    const task = { spark_python_task: { python_file: "dbfs:/a.py" } };
    const { client, asked } = hostWith({
      "GET 2.0/jobs/get": { job_id: 1, settings: { name: "a", new_cluster: live, ...task } },
      "POST 2.0/jobs/reset": {},
    });
    const settings = { name: "a", new_cluster: member, ...task };
    await client.writer.write("jobs/reset", { job_id: 1, new_settings: settings });
    expect(asked.at(-1)?.body?.new_settings).toMatchObject({ new_cluster: moved });
  });

  test("keeps a block of which it knows nothing, unless a pool decides it", async () => {
    const block = { azure_attributes: { log_analytics_info: { workspace: "w" } } };
    expect(await edited({ ...edit, ...block }, edit)).toEqual({ ...edit, ...block });
    const member = { ...edit, instance_pool_id: "p" };
    expect(await edited({ ...member, ...block }, member)).toEqual(member);
  });

  test("keeps unknown attributes of the cloud", async () => {
    const live: JsonObject = { ...edit, azure_attributes: ATTRIBUTES };
    expect(await edited(live, { ...edit, azure_attributes: { availability: "ON_DEMAND_AZURE" } })).toEqual({
      ...edit,
      azure_attributes: { ...ATTRIBUTES, availability: "ON_DEMAND_AZURE" },
    });
  });

  test("keeps a list whose elements it does not change, with their unknown fields", async () => {
    const scripts: readonly JsonObject[] = [
      { workspace: { destination: "/a.sh", region: "x" } },
      { dbfs: { destination: "dbfs:/b.sh" } },
    ];
    const sent: readonly JsonObject[] = [
      { workspace: { destination: "/a.sh" } },
      { dbfs: { destination: "dbfs:/b.sh" } },
    ];
    expect(await edited({ ...edit, init_scripts: scripts }, { ...edit, init_scripts: sent })).toEqual({
      ...edit,
      init_scripts: scripts,
    });
    expect(
      await edited({ ...edit, init_scripts: scripts }, { ...edit, init_scripts: sent.slice(0, 1) }),
    ).toEqual({
      ...edit,
      init_scripts: scripts.slice(0, 1),
    });
  });

  test("is refused, and names the field, where an unknown element of a changed list would be lost", async () => {
    const live: JsonObject = {
      ...edit,
      init_scripts: [{ abfss: { destination: "a" } }, { onelake: { destination: "b" } }],
    };
    await expect(edited(live, { ...edit, init_scripts: [] })).rejects.toThrow(
      /it would lose the field init_scripts\[1\].onelake/,
    );
  });
});

test("an edit of a pool repeats the tags and all other fields of the pool", async () => {
  const pool = { instance_pool_id: "p", instance_pool_name: "warm", node_type_id: "n" };
  const { client, asked } = hostWith({
    "GET 2.0/instance-pools/get": {
      ...pool,
      max_capacity: 5,
      custom_tags: { team: "data" },
      azure_attributes: { availability: "SPOT_AZURE" },
      preloaded_x_images: [{ url: "u" }],
      state: "ACTIVE",
      stats: { idle_count: 1 },
    },
    "POST 2.0/instance-pools/edit": {},
  });
  await client.writer.write("instance-pools/edit", { ...pool, min_idle_instances: 1 });
  expect(asked.at(-1)?.body).toEqual({
    ...pool,
    min_idle_instances: 1,
    custom_tags: { team: "data" },
    azure_attributes: { availability: "SPOT_AZURE" },
    preloaded_x_images: [{ url: "u" }],
  });
});

test("mails of a job that the program does not know stay where it removes the others", async () => {
  const settings = { name: "a", format: "SINGLE_TASK", notebook_task: { notebook_path: "/a" } };
  const mails = { on_start: ["a@example.com"], on_maintenance_start: ["b@example.com"] };
  const { client, asked } = hostWith({
    "GET 2.0/jobs/get": { job_id: 1, settings: { ...settings, email_notifications: mails } },
    "POST 2.0/jobs/reset": {},
  });
  const { format: _, ...sent } = settings;
  await client.writer.write("jobs/reset", { job_id: 1, new_settings: sent });
  expect(asked.at(-1)?.body?.new_settings).toMatchObject({
    email_notifications: { on_maintenance_start: ["b@example.com"] },
  });
});

test("files go to dbfs: the path of the contract is another API there", async () => {
  const { client, asked } = hostWith({ "POST 2.0/dbfs/mkdirs": {} });
  await client.writer.write("fs/mkdirs", { path: "/a" });
  expect(asked).toMatchObject([{ route: "POST 2.0/dbfs/mkdirs", body: { path: "/a" } }]);
});

test("words of the dialect are the contract's on this side", async () => {
  const { client, asked } = hostWith({
    "GET 2.0/secrets/scopes/list": {
      scopes: [
        { name: "a", backend_type: "DATABRICKS" },
        { name: "b", backend_type: "AZURE_KEYVAULT" },
      ],
    },
    "POST 2.0/secrets/scopes/create": {},
    "GET 2.0/jobs/runs/get": {
      run_id: 1,
      state: { life_cycle_state: "TERMINATED", result_state: "TIMEDOUT" },
    },
  });
  expect(await client.reader.read("secrets/scopes/list")).toMatchObject({
    scopes: [{ backend_type: "PLATFORM" }, { backend_type: "CLOUD_KEYVAULT" }],
  });
  await client.writer.write("secrets/scopes/create", { scope: "b", scope_backend_type: "CLOUD_KEYVAULT" });
  expect(asked.at(-1)?.body).toEqual({ scope: "b", scope_backend_type: "AZURE_KEYVAULT" });
  expect(await client.reader.read("jobs/runs/get", { run_id: 1 })).toMatchObject({
    state: { result_state: "TIMED_OUT" },
  });
});

test("null is absent in an answer", async () => {
  const { client } = hostWith({
    "GET 2.0/clusters/get": { cluster_id: "c", custom_tags: null, driver: { a: null } },
  });
  expect(await client.reader.read("clusters/get", { cluster_id: "c" })).toEqual({
    cluster_id: "c",
    driver: {},
  });
});

test("members that are service principals are not shown, and a group of the account is marked", async () => {
  const { client } = hostWith({
    "GET 2.0/preview/scim/v2/Groups/1": {
      id: "1",
      displayName: "a",
      meta: { resourceType: "Group" },
      members: [
        { value: "2", $ref: "Users/2" },
        { value: "3", $ref: "ServicePrincipals/3" },
      ],
    },
  });
  expect(await client.reader.read("scim/groups/get", { id: "1" })).toMatchObject({
    members: [{ value: "2", $ref: "Users/2" }],
    unmanageable: "it belongs to the account",
  });
});

test("a start of a job is repeated with the same token after an answer that leaves its effect open", async () => {
  const { client, asked } = hostWith({
    "GET 2.2/jobs/list": { has_more: false },
    "POST 2.2/jobs/run-now": [apiError(500, "INTERNAL_ERROR"), { run_id: 5 }],
  });
  expect(await client.writer.write("jobs/run-now", { job_id: 1 })).toEqual({ run_id: 5 });
  const tokens = asked.slice(1).map(({ body }) => body?.idempotency_token);
  expect(tokens).toHaveLength(2);
  expect(tokens[0]).toMatch(/^workspace-/);
  expect(tokens[1]).toBe(tokens[0]);
});
