// Clusters: what create and edit take (contract B 2.4, contract B 4.3, contract B 8).

import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, compute, invalid, malformed, NODE_TYPE, RUNTIME, refused } from "../../compute.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const create = (fields: object) => w.post("clusters/create", { ...CLUSTER, ...fields });
const sized = (fields: object) =>
  w.post("clusters/create", { spark_version: RUNTIME, node_type_id: NODE_TYPE, ...fields });
const ok = { status: 200 };
const tags = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

test("B4.3 create: answers the id of the cluster and nothing else", async () => {
  const { status, body } = await create({});
  expect({ status, fields: Object.keys(body) }).toEqual({ status: 200, fields: ["cluster_id"] });
  expect(body.cluster_id).toMatch(/^\d{4}-\d{6}-[a-z]+\d+$/);
});

describe("required fields and size", () => {
  test.each(["spark_version", "node_type_id"])(
    "B4.3 create, B2.4 spark_version, node_type_id: %s is required",
    async (field) => {
      expect(await create({ [field]: undefined })).toMatchObject({
        status: 400,
        body: { error_code: "INVALID_PARAMETER_VALUE", message: `Missing required field: ${field}` },
      });
    },
  );

  test("B2.4 num_workers: this or autoscale, and not both", async () => {
    const autoscale = { min_workers: 1, max_workers: 3 };
    expect(await sized({})).toMatchObject(invalid);
    expect(await sized({ num_workers: 1, autoscale })).toMatchObject(invalid);
    expect(await sized({ autoscale })).toMatchObject(ok);
    expect(await sized({ num_workers: 0 })).toMatchObject(ok);
    expect(await sized({ num_workers: -1 })).toMatchObject(invalid);
  });

  test("B2.4 most: a number of nodes that no account has is refused, not allocated", async () => {
    const most = 2 ** 31 - 1;
    expect(await sized({ num_workers: most })).toMatchObject(invalid);
    expect(await sized({ autoscale: { min_workers: 1, max_workers: most } })).toMatchObject(invalid);
    expect(await sized({ num_workers: 2 ** 31 })).toMatchObject(malformed);
  });

  test("B2.4 AutoScale: max_workers is strictly greater than min_workers, and both are required", async () => {
    expect(await sized({ autoscale: { min_workers: 2, max_workers: 2 } })).toMatchObject(invalid);
    expect(await sized({ autoscale: { min_workers: 3, max_workers: 2 } })).toMatchObject(invalid);
    expect(await sized({ autoscale: { min_workers: 3 } })).toMatchObject(invalid);
    expect(await sized({ autoscale: { min_workers: 1, max_workers: 2 } })).toMatchObject(ok);
  });

  test("B2.4 spark_version: an unknown runtime version is refused", async () => {
    expect(await create({ spark_version: "11.3.x-photon-scala2.12" })).toMatchObject({
      status: 400,
      body: {
        error_code: "INVALID_PARAMETER_VALUE",
        message: "Invalid spark version 11.3.x-photon-scala2.12.",
      },
    });
  });

  test("B2.4 node_type_id: an unknown node type is refused, for workers and for the driver", async () => {
    expect(await create({ node_type_id: "Abacus" })).toMatchObject(invalid);
    expect(await create({ driver_node_type_id: "Abacus" })).toMatchObject(invalid);
  });

  test("B2.4 types: a wrong type is refused, not turned into the right one", async () => {
    expect(await create({ num_workers: "2" })).toMatchObject(malformed);
    expect(await create({ num_workers: 1.5 })).toMatchObject(malformed);
    expect(await create({ cluster_name: 5 })).toMatchObject(malformed);
    expect(await create({ spark_env_vars: { A: 1 } })).toMatchObject(malformed);
    expect(await create({ ssh_public_keys: "key" })).toMatchObject(malformed);
  });

  test("B4.3 unknown fields: an unknown field is ignored", async () => {
    const { body } = await create({ colour: "blue" });
    expect(await c.cluster(body.cluster_id)).not.toHaveProperty("colour");
  });

  test("B4.3 size, B8 limit: a request of clusters has at most 10 MB", async () => {
    expect(await create({ cluster_name: "x".repeat(10 * 1024 * 1024) })).toMatchObject(
      refused(413, "REQUEST_TOO_LARGE"),
    );
    expect(await create({ cluster_name: "x".repeat(10 * 1024 * 1024 - 200) })).toMatchObject(ok);
  });
});

describe("fields", () => {
  test("B2.4 cluster_name, spark_conf, driver_node_type_id, custom_tags, cluster_log_conf, init_scripts, spark_env_vars, enable_elastic_disk, ssh_public_keys: every field that was given is answered", async () => {
    const fields = {
      cluster_name: "full",
      spark_conf: { "spark.speculation": "true" },
      driver_node_type_id: "Standard_DS4_v2",
      custom_tags: [{ key: "team", value: "etl" }],
      cluster_log_conf: { fs: { destination: "fs:/logs" } },
      init_scripts: [{ fs: { destination: "fs:/init/a.sh" } }, { file: { destination: "file:/b.sh" } }],
      spark_env_vars: { A: "1" },
      autotermination_minutes: 30,
      enable_elastic_disk: true,
      ssh_public_keys: ["ssh-rsa AAAA"],
    };
    expect(await c.cluster(await c.newCluster(fields))).toMatchObject({ ...CLUSTER, ...fields });
  });

  test("B2.4 cluster_name, driver_node_type_id, autotermination_minutes, enable_elastic_disk: by default an empty name, the workers' node type for the driver, no autotermination", async () => {
    expect(await c.cluster(await c.newCluster())).toMatchObject({
      cluster_name: "",
      driver_node_type_id: NODE_TYPE,
      autotermination_minutes: 0,
      enable_elastic_disk: false,
    });
  });

  test("B2.4 cluster_name: cluster names need not be unique", async () => {
    const first = await c.newCluster({ cluster_name: "same" });
    const second = await c.newCluster({ cluster_name: "same" });
    expect(second).not.toBe(first);
  });

  test("B2.4 values of spark_conf: configuration values may be numbers and truth values, and are answered as text", async () => {
    const spark_conf = { a: true, b: 2, c: "x" };
    expect((await c.cluster(await c.newCluster({ spark_conf }))).spark_conf).toEqual({
      a: "true",
      b: "2",
      c: "x",
    });
    expect(await create({ spark_conf: { a: ["x"] } })).toMatchObject(malformed);
  });

  test("B2.4 custom_tags, tags on edit, B8 limit: at most 43 custom tags on create and edit", async () => {
    expect(await create({ custom_tags: tags(44) })).toMatchObject(invalid);
    const { body } = await create({ custom_tags: tags(43) });
    await w.advance(1000);
    expect(await w.post("clusters/edit", { ...body, ...CLUSTER, custom_tags: tags(44) })).toMatchObject(
      invalid,
    );
  });

  test("B2.4 ClusterTag: tags come as a list of key and value or as a map, and are answered as a list", async () => {
    const custom_tags = [{ key: "team", value: "etl" }];
    for (const given of [custom_tags, { team: "etl" }])
      expect((await c.cluster(await c.newCluster({ custom_tags: given }))).custom_tags).toEqual(custom_tags);
    expect((await create({ custom_tags: [{ key: "team" }] })).body.message).toBe(
      "Missing required field: custom_tags.0.value",
    );
    expect(await create({ custom_tags: { team: 1 } })).toMatchObject(malformed);
  });

  test("B2.4 custom_tags: none on legacy node types, of workers or driver", async () => {
    const legacy = "Standard_D3";
    expect(await create({ node_type_id: legacy, custom_tags: tags(1) })).toMatchObject(invalid);
    expect(await create({ driver_node_type_id: legacy, custom_tags: tags(1) })).toMatchObject(invalid);
    expect(await create({ node_type_id: legacy, custom_tags: [] })).toMatchObject(ok);
    expect(await create({ node_type_id: legacy })).toMatchObject(ok);
  });

  test("B2.4 autotermination_minutes, B8 limit: autotermination is 0, or between 10 and 10000 minutes", async () => {
    for (const autotermination_minutes of [1, 9, 10_001, -1]) {
      expect(await create({ autotermination_minutes })).toMatchObject(invalid);
    }
    for (const autotermination_minutes of [0, 10, 10_000]) {
      expect(await create({ autotermination_minutes })).toMatchObject(ok);
    }
  });

  test("B2.4 ssh_public_keys, B8 limit: at most 10 ssh keys", async () => {
    expect(await create({ ssh_public_keys: Array(11).fill("k") })).toMatchObject(invalid);
    expect(await create({ ssh_public_keys: Array(10).fill("k") })).toMatchObject(ok);
  });

  test("B2.4 cluster_log_conf: logs go to one destination, which has a URI", async () => {
    expect(await create({ cluster_log_conf: {} })).toMatchObject(invalid);
    expect(await create({ cluster_log_conf: { fs: {} } })).toMatchObject(invalid);
  });

  test("B2.4 InitScriptInfo: an init script has exactly one location", async () => {
    expect(await create({ init_scripts: [{}] })).toMatchObject(invalid);
    const both = { fs: { destination: "fs:/a" }, file: { destination: "file:/a" } };
    expect(await create({ init_scripts: [both] })).toMatchObject(invalid);
  });
});

describe("clusters of a pool", () => {
  const fromPool = (fields: object) =>
    w.post("clusters/create", { spark_version: RUNTIME, num_workers: 1, ...fields });

  test("B2.1 node_type_id, B2.4 instance_pool_id, node type of a pool: a cluster inherits the node type of its pool, whether it names that or none", async () => {
    const instance_pool_id = await c.newPool({ node_type_id: "Standard_DS4_v2" });
    for (const fields of [{}, { node_type_id: "Standard_DS4_v2" }]) {
      const { body } = await fromPool({ instance_pool_id, ...fields });
      expect(await c.cluster(body.cluster_id)).toMatchObject({
        instance_pool_id,
        node_type_id: "Standard_DS4_v2",
        driver_node_type_id: "Standard_DS4_v2",
      });
    }
  });

  test("B2.4 node type of a pool: another node type than the pool's is refused", async () => {
    const instance_pool_id = await c.newPool();
    expect(await fromPool({ instance_pool_id, node_type_id: "Standard_DS4_v2" })).toMatchObject(invalid);
    expect(await fromPool({ instance_pool_id, driver_node_type_id: "Standard_DS4_v2" })).toMatchObject(
      invalid,
    );
  });

  test("B2.4 instance_pool_id: a pool that is missing gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await fromPool({ instance_pool_id: "none" })).toMatchObject(
      refused(404, "RESOURCE_DOES_NOT_EXIST"),
    );
  });
});

describe("who may create", () => {
  test("B5 clusters: a user needs to be an administrator or to hold allow-cluster-create, also by a group", async () => {
    const bo = await w.user("bo@example.com");
    const asBo = () => w.post("clusters/create", CLUSTER, { as: bo });
    expect(await asBo()).toMatchObject(refused(403, "PERMISSION_DENIED"));
    await w.post("groups/create", { group_name: "makers" });
    await w.post("groups/add-member", { user_name: "bo@example.com", parent_name: "makers" });
    const { body } = await w.get("preview/scim/v2/Groups", { filter: "displayName eq makers" });
    await w.patch(`preview/scim/v2/Groups/${body.Resources[0].id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "add", path: "entitlements", value: [{ value: "allow-cluster-create" }] }],
    });
    expect(await asBo()).toMatchObject(ok);
  });

  test("B5 clusters: any user may start, edit, resize and terminate", async () => {
    const as = await w.user("bo@example.com");
    const cluster_id = await c.runningCluster();
    for (const [call, fields] of [
      ["resize", { num_workers: 1 }],
      ["delete", {}],
      ["start", {}],
    ] as const) {
      expect(await w.post(`clusters/${call}`, { cluster_id, ...fields }, { as })).toMatchObject(ok);
      await w.advance(1000);
    }
    expect(await w.post("clusters/edit", { cluster_id, ...CLUSTER }, { as })).toMatchObject(ok);
  });
});

describe("what can be chosen", () => {
  test("B4.3 list-node-types, B9 list-node-types, B2.4 nodes: each type says what it brings, and each can be used", async () => {
    const { node_types } = (await w.get("clusters/list-node-types")).body;
    expect(node_types.length).toBeGreaterThan(10);
    for (const type of node_types) {
      expect(type).toMatchObject({
        node_type_id: expect.any(String),
        memory_mb: expect.any(Number),
        num_cores: expect.any(Number),
        description: expect.any(String),
        instance_type_id: expect.any(String),
        is_deprecated: expect.any(Boolean),
      });
      expect(await create({ node_type_id: type.node_type_id })).toMatchObject(ok);
    }
  });

  test("B4.3 spark-versions, B9 spark-versions, B2.4 nodes: each version has a key and a name, and each can be used", async () => {
    const { versions } = (await w.get("clusters/spark-versions")).body;
    expect(versions.map((version: { key: string }) => version.key)).toContain(RUNTIME);
    for (const { key, name } of versions) {
      expect(key).toMatch(/^\d+\.\d+\.x(-cpu|-gpu)?(-ml)?(-hls)?(-conda)?-scala2\.1[12]$/);
      expect(name).not.toBe("");
      expect(await create({ spark_version: key })).toMatchObject(ok);
    }
  });
});
