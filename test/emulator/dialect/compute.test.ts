// Pools, clusters, their events and libraries in the dialect.

import { beforeEach, describe, expect, test } from "vitest";
import { type Body, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const POOL = { instance_pool_name: "p", node_type_id: "Standard_DS3_v2" };
const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };

const pool = async (more: object = {}): Promise<Body> =>
  (await w.post("instance-pools/create", { ...POOL, ...more })).body;
const shownPool = async (id: Body): Promise<Body> => (await w.get("instance-pools/get", id)).body;
const cluster = async (more: object = {}): Promise<Body> =>
  (await w.post("clusters/create", { ...CLUSTER, ...more })).body;
const shown = async (id: Body): Promise<Body> => (await w.get("clusters/get", id)).body;
const invalid = (message: string) => ({
  status: 400,
  body: { error_code: "INVALID_PARAMETER_VALUE", message },
});

describe("pools", () => {
  test.each(["constructor", "toString", "__proto__"])(
    "the name %s, which every object of the language has, is stored as written",
    async (name) => {
      const tags = { custom_tags: { [`${name}2`]: name } };
      expect(await shownPool(await pool({ instance_pool_name: name, ...tags }))).toMatchObject({
        instance_pool_name: name,
        ...tags,
      });
    },
  );

  test("Azure's disk types are named so, and those of AWS are ignored", async () => {
    const azure = { disk_type: { azure_disk_volume_type: "PREMIUM_LRS" }, disk_count: 1, disk_size: 10 };
    const disks = { ...azure, disk_type: { ...azure.disk_type, ebs_volume_type: "GENERAL_PURPOSE_SSD" } };
    expect((await shownPool(await pool({ disk_spec: disks }))).disk_spec).toEqual(azure);
  });

  test("the contract's name of a disk type is dropped in silence", async () => {
    const disk_spec = { disk_type: { cloud_disk_volume_type: "PREMIUM_LRS" }, disk_count: 1 };
    const { disk_type } = (await shownPool(await pool({ disk_spec }))).disk_spec;
    expect(disk_type ?? {}).toEqual({});
  });

  test("AWS has its own disk types, and answers its own attributes", async () => {
    w = await startWorld({ databricks: "aws" });
    const disk_spec = {
      disk_type: { ebs_volume_type: "THROUGHPUT_OPTIMIZED_HDD" },
      disk_count: 1,
      disk_iops: 3000,
    };
    const body = await shownPool(await pool({ disk_spec, azure_attributes: { availability: "SPOT_AZURE" } }));
    expect(body.disk_spec).toEqual(disk_spec);
    expect(body.aws_attributes.zone_id).toBe("us-west-2a");
    expect(body.azure_attributes).toBeUndefined();
  });

  test("attributes come back as set, or as the cloud's defaults", async () => {
    const azure_attributes = { availability: "SPOT_AZURE", spot_bid_max_price: 0.5 };
    expect((await shownPool(await pool({ azure_attributes }))).azure_attributes).toEqual(azure_attributes);
    const other = await shownPool(await pool({ instance_pool_name: "q" }));
    expect(other.azure_attributes).toEqual({ availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 });
    expect(other.max_capacity).toBeUndefined();
  });

  test("an edit replaces the tags and keeps what cannot be edited", async () => {
    const id = await pool({ custom_tags: { a: "1" }, preloaded_docker_images: [{ url: "x/y" }] });
    const edit = { ...POOL, ...id, enable_elastic_disk: true, custom_tags: { b: "2" }, azure_attributes: {} };
    expect(await w.post("instance-pools/edit", edit)).toMatchObject({ status: 200, body: {} });
    const after = await shownPool(id);
    expect(after.custom_tags).toEqual({ b: "2" });
    expect(after.preloaded_docker_images).toEqual([{ url: "x/y" }]);
    await w.post("instance-pools/edit", { ...POOL, ...id, custom_tags: null });
    expect((await shownPool(id)).custom_tags).toBeUndefined();
  });
});

const MODERN = {
  azure_attributes: { first_on_demand: 2, availability: "SPOT_WITH_FALLBACK_AZURE", spot_bid_max_price: -1 },
  data_security_mode: "SINGLE_USER",
  single_user_name: "ada@example.com",
  runtime_engine: "PHOTON",
  policy_id: "ABC123",
  docker_image: { url: "x/y", basic_auth: { username: "u" } },
  driver_instance_pool_id: "pool-1",
  workload_type: { clients: { jobs: true, notebooks: false } },
  enable_local_disk_encryption: true,
};

describe("clusters", () => {
  test("modern fields come back as sent, in get, list, events and the snapshot", async () => {
    const id = await cluster(MODERN);
    expect(await shown(id)).toMatchObject(MODERN);
    expect((await shown(id)).spec).toEqual({ ...CLUSTER, ...MODERN });
    const listed = (await w.get("clusters/list")).body.clusters[0];
    expect(listed).toMatchObject(MODERN);
    expect(listed.spec).toBeUndefined();
    const [event] = (await w.post("clusters/events", { ...id, order: "ASC" })).body.events;
    expect(event.details.attributes).toMatchObject(MODERN);
    expect(event.details.attributes.extra).toBeUndefined();
  });

  test("a flag in a query may be written as Python writes it", async () => {
    const id = await cluster({});
    await w.post("clusters/pin", id);
    const pinned = async (flag: string) =>
      (await w.get("/api/2.1/clusters/list", { "filter_by.is_pinned": flag })).body.clusters;
    expect(await pinned("True")).toHaveLength(1);
    expect(await pinned("False")).toBeUndefined();
  });

  test("events have page tokens in both directions, which later events do not shift", async () => {
    const id = await cluster({});
    await w.advance(600_000);
    const whole = (await w.post("clusters/events", id)).body.events;
    const page = async (page_token?: string): Promise<Body> =>
      (await w.post("clusters/events", { ...id, page_size: 2, page_token })).body;
    const first = await page();
    await w.advance(1000);
    await w.post("clusters/pin", id);
    const second = await page(first.next_page_token);
    expect([...first.events, ...second.events]).toEqual(whole.slice(0, 4));
    expect(first.prev_page_token).toBeUndefined();
    expect((await page(second.prev_page_token)).events).toEqual(first.events);
    expect((await w.post("clusters/events", { ...id, page_token: "x" })).body.message).toBe(
      "Invalid page_token.",
    );
  });

  test("an edit without a modern field removes it", async () => {
    const id = await cluster(MODERN);
    await w.advance(10_000);
    await w.post("clusters/edit", { ...CLUSTER, ...id, policy_id: "DEF" });
    const after = await shown(id);
    expect([after.policy_id, after.runtime_engine, after.data_security_mode]).toEqual([
      "DEF",
      undefined,
      undefined,
    ]);
    expect(after.spec).toEqual({ ...CLUSTER, policy_id: "DEF" });
    const edits = { ...id, event_types: ["EDITED"] };
    const [{ details }] = (await w.post("clusters/events", edits)).body.events;
    expect(details.previous_attributes).toMatchObject(MODERN);
    expect(details.previous_attributes).not.toHaveProperty("spec");
    expect(details.attributes).not.toHaveProperty("spec");
  });

  test.each([
    { cluster_log_conf: { dbfs: { destination: "dbfs:/logs" } } },
    { cluster_log_conf: { s3: { destination: "s3://b/x", region: "us-west-2" } } },
    { init_scripts: [{ dbfs: { destination: "dbfs:/a.sh" } }, { file: { destination: "file:/b.sh" } }] },
    { init_scripts: [{ workspace: { destination: "/a.sh" } }, { dbfs: { destination: "dbfs:/b.sh" } }] },
    {
      init_scripts: [{ volumes: { destination: "/Volumes/a.sh" } }, { abfss: { destination: "abfss://a" } }],
    },
  ])("%j is kept unchanged", async (fields) => {
    expect(await shown(await cluster(fields))).toMatchObject(fields);
  });

  test("the contract's log destination is not a destination here", async () => {
    const id = await cluster({ cluster_log_conf: { fs: { destination: "fs:/logs" } } });
    expect((await shown(id)).cluster_log_conf).toBeUndefined();
  });

  test("a pool decides the node type, also in the cluster of a job", async () => {
    const message = "The field 'node_type_id' cannot be supplied when an instance pool ID is provided.";
    const both = { ...CLUSTER, ...(await pool()) };
    expect(await w.post("clusters/create", both)).toMatchObject(invalid(message));
    const job = { new_cluster: both, notebook_task: { notebook_path: "/a" } };
    expect(await w.post("jobs/create", job)).toMatchObject(invalid(message));
    const { node_type_id: _, ...right } = both;
    expect((await w.post("clusters/create", right)).status).toBe(200);
  });

  test("a single-node cluster has no workers", async () => {
    const single = {
      num_workers: 0,
      spark_conf: { "spark.databricks.cluster.profile": "singleNode", "spark.master": "local[*]" },
      custom_tags: { ResourceClass: "SingleNode" },
    };
    expect(await shown(await cluster(single))).toMatchObject(single);
  });

  test("a pinned cluster is not deleted, in the words that clients look for", async () => {
    const id = await cluster();
    await w.post("clusters/pin", id);
    expect((await w.get("clusters/list")).body.clusters[0].pinned_by_user_name).toMatch(/^\d+$/);
    const message = `Cannot delete pinned cluster ${id.cluster_id}. Please ask an admin to unpin the cluster first.`;
    expect(await w.post("clusters/permanent-delete", id)).toMatchObject(invalid(message));
    await w.post("clusters/unpin", id);
    expect((await w.post("clusters/permanent-delete", id)).status).toBe(200);
  });

  test("a running cluster cannot be started", async () => {
    const id = await cluster();
    await w.advance(10_000);
    expect(await w.post("clusters/start", id)).toMatchObject({
      status: 400,
      body: {
        error_code: "INVALID_STATE",
        message: `Cluster ${id.cluster_id} is in unexpected state Running.`,
      },
    });
  });

  test("an idempotency token makes a second create answer the first", async () => {
    const first = await cluster({ idempotency_token: "t-1" });
    expect(await cluster({ idempotency_token: "t-1" })).toEqual(first);
    expect(await cluster({ idempotency_token: "t-2" })).not.toEqual(first);
    const long = await w.post("clusters/create", { ...CLUSTER, idempotency_token: "x".repeat(65) });
    expect(long.status).toBe(400);
  });

  test("version 2.1 pages until the token is empty", async () => {
    for (const cluster_name of ["a", "b", "c"]) await cluster({ cluster_name });
    const names: string[] = [];
    let token = "";
    do {
      const { body } = await w.get("/api/2.1/clusters/list", { page_size: 2, page_token: token });
      names.push(...body.clusters.map((one: Body) => one.cluster_name));
      token = body.next_page_token;
    } while (token !== "");
    expect(names.sort()).toEqual(["a", "b", "c"]);
    expect(await w.get("/api/2.1/clusters/list", { page_token: "nonsense" })).toMatchObject(
      invalid("Invalid page_token."),
    );
  });

  test("version 2.1 filters by source, which tests can set", async () => {
    const [own, other] = [await cluster(), await cluster()];
    await w.control("POST", "cluster-source", { ...other, cluster_source: "PIPELINE" });
    const query = { "filter_by.cluster_sources": "PIPELINE" };
    const { body } = await w.get("/api/2.1/clusters/list", query);
    expect(body.clusters.map((one: Body) => one.cluster_id)).toEqual([other.cluster_id]);
    expect((await shown(own)).cluster_source).toBe("API");
  });

  test("version 2.1 filters by pin and by policy, and sorts by name", async () => {
    const ids = new Map<string, Body>();
    for (const cluster_name of ["b", "c", "a"])
      ids.set(cluster_name, await cluster({ cluster_name, policy_id: cluster_name === "c" ? "P" : "Q" }));
    await w.post("clusters/pin", ids.get("c"));
    const names = async (query: Record<string, string>): Promise<string[]> => {
      const { clusters = [] } = (await w.get("/api/2.1/clusters/list", query)).body;
      return clusters.map((one: Body) => one.cluster_name);
    };
    expect(await names({ "filter_by.is_pinned": "true" })).toEqual(["c"]);
    expect((await names({ "filter_by.is_pinned": "false" })).sort()).toEqual(["a", "b"]);
    expect(await names({ "filter_by.policy_id": "P" })).toEqual(["c"]);
    expect(await names({ "sort_by.field": "CLUSTER_NAME" })).toEqual(["a", "b", "c"]);
    const fromTheEnd = { "sort_by.field": "CLUSTER_NAME", "sort_by.direction": "DESC" };
    expect(await names(fromTheEnd)).toEqual(["c", "b", "a"]);
  });

  test("the start of init scripts is INIT_SCRIPTS_STARTED, in answers and in filters", async () => {
    const id = await cluster({ init_scripts: [{ dbfs: { destination: "dbfs:/a.sh" } }] });
    await w.advance(10_000);
    const event_types = ["INIT_SCRIPTS_STARTED", "A_TYPE_OF_THE_FUTURE"];
    const { events } = (await w.post("clusters/events", { ...id, event_types })).body;
    expect(events.map((one: Body) => one.type)).toEqual(["INIT_SCRIPTS_STARTED"]);
  });

  test("the pin of a cluster is found by one event", async () => {
    const id = await cluster();
    const asked = { ...id, event_types: ["PINNED", "UNPINNED"], limit: 1, order: "DESC" };
    expect((await w.post("clusters/events", asked)).body.events).toBeUndefined();
    await w.post("clusters/pin", id);
    expect((await w.post("clusters/events", asked)).body.events[0].type).toBe("PINNED");
  });
});

describe("libraries", () => {
  const libraries = [{ pypi: { package: "simplejson" } }, { jar: "dbfs:/a.jar" }];

  test("are installed when their cluster runs, and go when it restarts", async () => {
    const id = await cluster();
    expect((await w.post("libraries/install", { ...id, libraries })).body).toEqual({});
    const statuses = async (): Promise<string[]> =>
      ((await w.get("libraries/cluster-status", id)).body.library_statuses ?? []).map(
        (one: Body) => one.status,
      );
    expect(await statuses()).toEqual(["PENDING", "PENDING"]);
    await w.advance(10_000);
    expect(await statuses()).toEqual(["INSTALLED", "INSTALLED"]);
    await w.post("libraries/uninstall", { ...id, libraries: [libraries[1]] });
    expect(await statuses()).toEqual(["INSTALLED", "UNINSTALL_ON_RESTART"]);
    await w.post("clusters/restart", id);
    await w.advance(10_000);
    expect(await statuses()).toEqual(["INSTALLED"]);
  });

  test("are listed for all clusters, once each", async () => {
    const id = await cluster();
    await w.post("libraries/install", { ...id, libraries });
    await w.post("libraries/install", { ...id, libraries: [libraries[0]] });
    const { statuses } = (await w.get("libraries/all-cluster-statuses")).body;
    expect(statuses).toHaveLength(1);
    expect(statuses[0].library_statuses.map((one: Body) => one.library)).toEqual([
      libraries[1],
      libraries[0],
    ]);
  });

  test("need a cluster that exists", async () => {
    const answer = await w.post("libraries/install", { cluster_id: "none", libraries });
    expect(answer).toMatchObject(invalid("Cluster none does not exist"));
  });
});

describe("compute of today", () => {
  const SINGLE = { kind: "CLASSIC_PREVIEW", is_single_node: true };
  const BASE = { spark_version: "15.4.x-scala2.12", node_type_id: "Standard_D4ds_v5" };

  test.each(["azure", "aws", "gcp"] as const)(
    "%s lists runtimes and node types that a cluster takes",
    async (cloud) => {
      w = await startWorld({ databricks: cloud });
      const { versions } = (await w.get("clusters/spark-versions")).body;
      const lts = versions.filter(({ name }: Body) => String(name).includes("LTS"));
      expect(lts.map(({ key }: Body) => key)).toContain("17.3.x-scala2.13");
      const { node_types } = (await w.get("clusters/list-node-types")).body;
      const local = node_types.find(
        (type: Body) => (type.node_instance_type as Body).local_disks === 1 && Number(type.num_cores) === 4,
      );
      const cluster = { spark_version: "17.3.x-scala2.13", node_type_id: local.node_type_id, num_workers: 1 };
      expect(await w.post("clusters/create", cluster)).toMatchObject({ status: 200 });
    },
  );

  test("a single node has no workers, and the service adds its tag and its configuration", async () => {
    const { cluster_id } = (await w.post("clusters/create", { ...BASE, ...SINGLE })).body;
    expect((await w.get("clusters/get", { cluster_id })).body).toMatchObject({
      num_workers: 0,
      spark_conf: { "spark.databricks.cluster.profile": "singleNode", "spark.master": "local[*]" },
      custom_tags: { ResourceClass: "SingleNode" },
    });
    const wrong = [
      { ...BASE, ...SINGLE, num_workers: 2 },
      { ...BASE, is_single_node: true },
      { ...BASE, use_ml_runtime: true, num_workers: 1 },
    ];
    for (const body of wrong)
      expect(await w.post("clusters/create", body)).toMatchObject({
        status: 400,
        body: { error_code: "INVALID_PARAMETER_VALUE" },
      });
  });

  test("an update changes the fields of its mask alone", async () => {
    const settings = { ...BASE, num_workers: 2, spark_conf: { a: "b" }, autotermination_minutes: 30 };
    const { cluster_id } = (await w.post("clusters/create", settings)).body;
    await w.advance(600_000);
    const cluster = { autotermination_minutes: 60, autoscale: { min_workers: 1, max_workers: 3 } };
    const update = { cluster_id, update_mask: "autotermination_minutes,autoscale,custom_tags", cluster };
    expect(await w.post("clusters/update", update)).toMatchObject({ status: 200 });
    const live = (await w.get("clusters/get", { cluster_id })).body;
    expect(live).toMatchObject({ ...BASE, ...cluster, spark_conf: { a: "b" } });
    expect(live.num_workers).toBeUndefined();
  });

  test("the owner of a terminated cluster changes to another user", async () => {
    const { cluster_id } = (await w.post("clusters/create", { ...BASE, num_workers: 1 })).body;
    await w.post("preview/scim/v2/Users", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      userName: "bo@example.com",
    });
    const change = { cluster_id, owner_username: "bo@example.com" };
    expect(await w.post("clusters/change-owner", change)).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_STATE" },
    });
    await w.advance(600_000);
    await w.post("clusters/delete", { cluster_id });
    await w.advance(600_000);
    expect(await w.post("clusters/change-owner", { ...change, owner_username: "x" })).toMatchObject({
      status: 400,
    });
    expect(await w.post("clusters/change-owner", change)).toMatchObject({ status: 200 });
    expect((await w.get("clusters/get", { cluster_id })).body.creator_user_name).toBe("bo@example.com");
  });
});

test("families of cluster policies are listed and shown, and another one does not exist", async () => {
  const { policy_families: families } = (await w.get("policy-families")).body;
  const personal = families.find(({ name }: Body) => name === "Personal Compute");
  expect((await w.get("policy-families/personal-vm")).body).toEqual(personal);
  expect((await w.get("policy-families/none")).status).toBe(404);
});

test("the lower bound of a cluster's size is 0 if it is absent, because clients do not send zeros", async () => {
  const { num_workers: _, ...settings } = CLUSTER;
  const created = await w.post("clusters/create", { ...settings, autoscale: { max_workers: 2 } });
  expect((await shown(created.body)).autoscale).toEqual({ min_workers: 0, max_workers: 2 });
});
