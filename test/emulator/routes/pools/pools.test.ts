// Instance pools: the five calls of contract B 4.1, the fields of contract B 2.1, the one transition of contract B 3.1.

import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, compute, invalid, MINUTE, malformed, NODE_TYPE, refused, SECOND } from "../../compute.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");
const least = { instance_pool_name: "pool", node_type_id: NODE_TYPE };
const create = (fields: object) => w.post("instance-pools/create", { ...least, ...fields });
const edit = (id: string, fields: object) =>
  w.post("instance-pools/edit", { instance_pool_id: id, ...least, ...fields });
const remove = (instance_pool_id: string) => w.post("instance-pools/delete", { instance_pool_id });

describe("create", () => {
  test("B4.1 create, B2.1 instance_pool_id: answers the id of the pool and nothing else", async () => {
    const { status, body } = await create({});
    expect({ status, fields: Object.keys(body) }).toEqual({ status: 200, fields: ["instance_pool_id"] });
    expect(body.instance_pool_id).toMatch(/^\d{4}-\d{6}-[a-z]+\d+-pool-[0-9a-f]+$/);
  });

  test.each(["instance_pool_name", "node_type_id"])(
    "B4.1 create, B2.1 instance_pool_name: %s is required",
    async (field) => {
      const fields = Object.fromEntries(Object.entries(least).filter(([name]) => name !== field));
      expect(await w.post("instance-pools/create", fields)).toMatchObject({
        ...invalid,
        body: { error_code: "INVALID_PARAMETER_VALUE", message: `Missing required field: ${field}` },
      });
    },
  );

  test("B2.1 defaults, idle_instance_autotermination_minutes: unset, a pool has 0 idle instances, 60 idle minutes, an elastic disk, and no capacity limit", async () => {
    const pool = await c.pool(await c.newPool());
    expect(pool).toMatchObject({
      min_idle_instances: 0,
      idle_instance_autotermination_minutes: 60,
      enable_elastic_disk: true,
    });
    expect(pool).not.toHaveProperty("max_capacity");
  });

  test("B2.1 min_idle_instances, custom_tags, enable_elastic_disk, disk_spec, preloaded_spark_versions, B4.1 get: every field that was given is answered", async () => {
    const fields = {
      instance_pool_name: "full",
      min_idle_instances: 1,
      max_capacity: 9,
      custom_tags: [{ key: "team", value: "etl" }],
      idle_instance_autotermination_minutes: 15,
      enable_elastic_disk: false,
      disk_spec: {
        disk_type: { cloud_disk_volume_type: "PREMIUM_LRS" },
        disk_count: 1,
        disk_size: 100,
      },
      preloaded_spark_versions: ["6.4.x-scala2.11"],
    };
    expect(await c.pool(await c.newPool(fields))).toMatchObject(fields);
  });

  test("B2.1 instance_pool_name: a pool name is unique", async () => {
    await c.newPool();
    expect(await create({})).toMatchObject(invalid);
  });

  test("B2.1 instance_pool_name, B8 limit: a pool name is not empty and has fewer than 100 characters", async () => {
    expect(await create({ instance_pool_name: "" })).toMatchObject(invalid);
    expect(await create({ instance_pool_name: "x".repeat(100) })).toMatchObject(invalid);
    expect(await create({ instance_pool_name: "x".repeat(99) })).toMatchObject({ status: 200 });
  });

  test("B2.1 custom_tags, B8 limit: at most 6 custom tags", async () => {
    const tags = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
    expect(await create({ custom_tags: tags(7) })).toMatchObject(invalid);
    expect(await create({ custom_tags: tags(6) })).toMatchObject({ status: 200 });
  });

  test("B2.1 ClusterTag: tags come as a list of key and value or as a map, and are answered as a list", async () => {
    const id = await c.newPool({ custom_tags: { team: "etl" } });
    expect((await c.pool(id)).custom_tags).toEqual([{ key: "team", value: "etl" }]);
    const twice = [
      { key: "team", value: "etl" },
      { key: "team", value: "ops" },
    ];
    expect(await create({ instance_pool_name: "two", custom_tags: twice })).toMatchObject(invalid);
  });

  test("B2.1 ClusterTag: a tag key has 1 to 512 characters, none of a few, and no reserved beginning", async () => {
    for (const key of ["a<b", "", "azure-x", "Microsoft", "k".repeat(513)]) {
      expect(await create({ custom_tags: { [key]: "v" } })).toMatchObject(invalid);
    }
    expect(await create({ custom_tags: { ["k".repeat(512)]: "v" } })).toMatchObject({ status: 200 });
  });

  test("B2.1 ClusterTag: a tag value has at most 256 characters", async () => {
    expect(await create({ custom_tags: { k: "v".repeat(257) } })).toMatchObject(invalid);
    expect(await create({ custom_tags: { k: "v".repeat(256) } })).toMatchObject({ status: 200 });
  });

  test("B2.1 idle_instance_autotermination_minutes, B8 limit: idle minutes lie between 0 and 10000", async () => {
    expect(await create({ idle_instance_autotermination_minutes: 10_001 })).toMatchObject(invalid);
    expect(await create({ idle_instance_autotermination_minutes: -1 })).toMatchObject(invalid);
    expect(await create({ idle_instance_autotermination_minutes: 10_000 })).toMatchObject({ status: 200 });
  });

  test("B2.1 DiskSpec, B8 limit: disks have 1 to 1023 GiB and one of two types", async () => {
    expect(await create({ disk_spec: { disk_count: 1, disk_size: 0 } })).toMatchObject(invalid);
    expect(await create({ disk_spec: { disk_count: 1, disk_size: 1024 } })).toMatchObject(invalid);
    const type = { cloud_disk_volume_type: "FLOPPY" };
    expect(await create({ disk_spec: { disk_count: 1, disk_type: type } })).toMatchObject(invalid);
    expect(await create({ disk_spec: { disk_count: 1, disk_size: 1023 } })).toMatchObject({ status: 200 });
  });

  test("B2.1 DiskSpec: disks are limited by the node type", async () => {
    expect(await create({ disk_spec: { disk_count: 16 } })).toMatchObject({ status: 200 });
    expect(await create({ instance_pool_name: "b", disk_spec: { disk_count: 17 } })).toMatchObject(invalid);
  });

  test("B2.1 DiskSpec: a node type without local disk needs at least one disk", async () => {
    const node_type_id = "Standard_D4s_v4";
    expect(await create({ node_type_id })).toMatchObject(invalid);
    expect(await create({ node_type_id, disk_spec: { disk_count: 0 } })).toMatchObject(invalid);
    expect(await create({ node_type_id, disk_spec: { disk_count: 1 } })).toMatchObject({ status: 200 });
  });

  test("B2.1 unknown values: an unknown node type or runtime version is refused", async () => {
    expect(await create({ node_type_id: "Abacus" })).toMatchObject(invalid);
    expect(await create({ preloaded_spark_versions: ["1.x"] })).toMatchObject(invalid);
  });

  test("B2.1 capacity below minimum: a capacity below the idle minimum is refused", async () => {
    expect(await create({ min_idle_instances: 3, max_capacity: 2 })).toMatchObject(invalid);
  });

  test("B2.1 types: a wrong type is refused, not turned into the right one", async () => {
    expect(await create({ min_idle_instances: "2" })).toMatchObject(malformed);
    expect(await create({ enable_elastic_disk: "true" })).toMatchObject(malformed);
    expect(await create({ max_capacity: 1.5 })).toMatchObject(malformed);
  });

  test("B5 pools: a user needs to be an administrator or to hold allow-instance-pool-create", async () => {
    const bo = await w.user("bo@example.com");
    expect(await w.post("instance-pools/create", least, { as: bo })).toMatchObject(
      refused(403, "PERMISSION_DENIED"),
    );
    const { body } = await w.get("preview/scim/v2/Users", { filter: "userName eq bo@example.com" });
    await w.patch(`preview/scim/v2/Users/${body.Resources[0].id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "add", path: "entitlements", value: [{ value: "allow-instance-pool-create" }] }],
    });
    expect(await w.post("instance-pools/create", least, { as: bo })).toMatchObject({ status: 200 });
  });
});

describe("get and list", () => {
  test("B2.1 default_tags, instance_pool_id: default tags name vendor, creator and pool", async () => {
    const id = await c.newPool();
    const { body } = await w.get("preview/scim/v2/Me");
    expect((await c.pool(id)).default_tags).toEqual([
      { key: "Vendor", value: expect.any(String) },
      { key: "PlatformInstancePoolCreatorId", value: body.id },
      { key: "PlatformInstancePoolId", value: id },
    ]);
  });

  test("B3.1 create, B2.1 state: a pool is ACTIVE", async () => {
    expect((await c.pool(await c.newPool())).state).toBe("ACTIVE");
  });

  test("B4.1 get, missing: a pool that is missing gives RESOURCE_DOES_NOT_EXIST; an id is required", async () => {
    expect(await w.get("instance-pools/get", { instance_pool_id: "none" })).toMatchObject(missing);
    expect(await w.get("instance-pools/get")).toMatchObject(invalid);
  });

  test("B4.1 list: nothing but an empty object without pools; with pools the same fields as get", async () => {
    expect((await w.get("instance-pools/list")).body).toEqual({});
    const a = await c.newPool({ instance_pool_name: "a" });
    const b = await c.newPool({ instance_pool_name: "b" });
    expect((await w.get("instance-pools/list")).body).toEqual({
      instance_pools: [await c.pool(a), await c.pool(b)],
    });
  });
});

describe("edit", () => {
  test("B4.1 rule 2: name, idle minimum, capacity and idle minutes can be edited", async () => {
    const id = await c.newPool();
    const fields = {
      instance_pool_name: "renamed",
      min_idle_instances: 2,
      max_capacity: 7,
      idle_instance_autotermination_minutes: 0,
    };
    expect(await edit(id, fields)).toMatchObject({ status: 200, body: {} });
    expect(await c.pool(id)).toMatchObject(fields);
  });

  test("B4.1 edit left out: an editable field that is left out goes back to its default", async () => {
    const id = await c.newPool({
      min_idle_instances: 2,
      max_capacity: 7,
      idle_instance_autotermination_minutes: 5,
    });
    await edit(id, {});
    const pool = await c.pool(id);
    expect(pool).toMatchObject({ min_idle_instances: 0, idle_instance_autotermination_minutes: 60 });
    expect(pool).not.toHaveProperty("max_capacity");
  });

  test("B4.1 rule 2, edit fixed: fields that cannot be edited stay what they are", async () => {
    const custom_tags = [{ key: "team", value: "etl" }];
    const id = await c.newPool({ custom_tags, enable_elastic_disk: true });
    await edit(id, { custom_tags: { team: "ops" }, enable_elastic_disk: false });
    expect(await c.pool(id)).toMatchObject({ custom_tags, enable_elastic_disk: true });
  });

  test("B4.1 edit: node_type_id must equal the original", async () => {
    const id = await c.newPool();
    expect(await edit(id, { node_type_id: "Standard_DS4_v2" })).toMatchObject(invalid);
    expect((await c.pool(id)).node_type_id).toBe(NODE_TYPE);
  });

  test.each(["instance_pool_id", "instance_pool_name", "node_type_id"])(
    "B4.1 edit: %s is required",
    async (field) => {
      const fields = { instance_pool_id: await c.newPool(), ...least, [field]: undefined };
      expect(await w.post("instance-pools/edit", fields)).toMatchObject(invalid);
    },
  );

  test("B2.1 instance_pool_name: unique on edit too: the name of another pool is refused, the own one is not, a given-up one is free", async () => {
    const a = await c.newPool({ instance_pool_name: "a" });
    await c.newPool({ instance_pool_name: "b" });
    expect(await edit(a, { instance_pool_name: "b" })).toMatchObject(invalid);
    expect(await edit(a, { instance_pool_name: "a" })).toMatchObject({ status: 200 });
    await edit(a, { instance_pool_name: "c" });
    expect(await create({ instance_pool_name: "a" })).toMatchObject({ status: 200 });
  });

  test("B4.1 missing: a pool that is missing gives RESOURCE_DOES_NOT_EXIST", async () => {
    expect(await edit("none", {})).toMatchObject(missing);
  });

  test("B4.1 edit: a higher idle minimum is provisioned, a lower one lets instances go in their time", async () => {
    const id = await c.newPool({ min_idle_instances: 1, idle_instance_autotermination_minutes: 10 });
    await w.advance(SECOND);
    await edit(id, { min_idle_instances: 3, idle_instance_autotermination_minutes: 10 });
    expect(await c.stats(id)).toEqual([0, 1, 0, 2]);
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([0, 3, 0, 0]);
    await edit(id, { idle_instance_autotermination_minutes: 10 });
    expect(await c.stats(id)).toEqual([0, 3, 0, 0]);
    await w.advance(10 * MINUTE);
    expect(await c.stats(id)).toEqual([0, 0, 0, 0]);
  });

  test("B4.1 edit: a lower capacity ends idle instances, not those in use", async () => {
    const id = await c.newPool({ min_idle_instances: 2, max_capacity: 8 });
    await c.runningCluster({ instance_pool_id: id });
    await edit(id, { max_capacity: 4 });
    expect(await c.stats(id)).toEqual([3, 1, 0, 0]);
    await edit(id, { max_capacity: 1 });
    expect(await c.stats(id)).toEqual([3, 0, 0, 0]);
  });
});

describe("instances", () => {
  test("B4.1 rule 1, B2.1 min_idle_instances: idle instances come in the background; idle_count then equals the minimum", async () => {
    const id = await c.newPool({ min_idle_instances: 3 });
    expect(await c.stats(id)).toEqual([0, 0, 0, 3]);
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([0, 3, 0, 0]);
  });

  test("B1 pools: a cluster takes idle instances first, and the pool fills up its minimum again", async () => {
    const id = await c.newPool({ min_idle_instances: 3 });
    await w.advance(SECOND);
    await c.newCluster({ instance_pool_id: id, num_workers: 1 });
    expect(await c.stats(id)).toEqual([2, 1, 0, 2]);
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([2, 3, 0, 0]);
  });

  test("B1 pools: without idle instances the pool requests new ones for the cluster", async () => {
    const id = await c.newPool();
    await c.newCluster({ instance_pool_id: id });
    expect(await c.stats(id)).toEqual([0, 0, 3, 0]);
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([3, 0, 0, 0]);
  });

  test("B1 pools: pending idle instances are handed to a cluster before new ones are requested", async () => {
    const id = await c.newPool({ min_idle_instances: 2, max_capacity: 3 });
    await c.newCluster({ instance_pool_id: id });
    expect(await c.stats(id)).toEqual([0, 0, 3, 0]);
  });

  test("B1 pools: released instances return to the pool", async () => {
    const id = await c.newPool();
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    await w.post("clusters/delete", { cluster_id });
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([0, 3, 0, 0]);
  });

  test("B1 pools: a cluster that shrinks returns instances, one that grows takes them", async () => {
    const id = await c.newPool();
    const cluster_id = await c.runningCluster({ instance_pool_id: id, num_workers: 4 });
    await w.post("clusters/resize", { cluster_id, num_workers: 1 });
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([2, 3, 0, 0]);
    await w.post("clusters/resize", { cluster_id, num_workers: 3 });
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([4, 1, 0, 0]);
  });

  test("B2.1 stats: the stats add up with the clusters that are attached", async () => {
    const id = await c.newPool({ min_idle_instances: 2 });
    const a = await c.runningCluster({ instance_pool_id: id, num_workers: 3 });
    const b = await c.runningCluster({ instance_pool_id: id, num_workers: 1 });
    const nodes = async (cluster: string) => 1 + (await c.cluster(cluster)).executors.length;
    expect(await c.stats(id)).toEqual([(await nodes(a)) + (await nodes(b)), 2, 0, 0]);
  });

  test("B2.1 idle_instance_autotermination_minutes: excess idle instances are kept for the idle minutes, then the minimum is left", async () => {
    const id = await c.newPool({ min_idle_instances: 1, idle_instance_autotermination_minutes: 10 });
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    await w.post("clusters/delete", { cluster_id });
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([0, 4, 0, 0]);
    await w.advance(10 * MINUTE - 2 * SECOND);
    expect(await c.stats(id)).toEqual([0, 4, 0, 0]);
    await w.advance(2 * SECOND);
    expect(await c.stats(id)).toEqual([0, 1, 0, 0]);
  });

  test("B2.1 idle_instance_autotermination_minutes: with 0 idle minutes excess instances go at once", async () => {
    const id = await c.newPool({ idle_instance_autotermination_minutes: 0 });
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    await w.post("clusters/delete", { cluster_id });
    await w.advance(SECOND);
    expect(await c.stats(id)).toEqual([0, 0, 0, 0]);
  });

  test("B2.1 max_capacity: idle and used instances together stay within the capacity", async () => {
    const id = await c.newPool({ min_idle_instances: 3, max_capacity: 4 });
    await c.runningCluster({ instance_pool_id: id });
    expect(await c.stats(id)).toEqual([3, 1, 0, 0]);
  });

  test("B2.1 max_capacity: at the maximum no new cluster comes up from the pool", async () => {
    const id = await c.newPool({ max_capacity: 3 });
    await c.runningCluster({ instance_pool_id: id });
    const late = await c.runningCluster({ instance_pool_id: id });
    expect(await c.cluster(late)).toMatchObject({
      state: "TERMINATED",
      termination_reason: {
        code: "INSTANCE_POOL_CLUSTER_FAILURE",
        parameters: {
          instance_pool_id: id,
          instance_pool_error_code: "INSTANCE_POOL_MAX_CAPACITY_FAILURE",
        },
      },
    });
    expect(await c.stats(id)).toEqual([3, 0, 0, 0]);
  });

  test("B2.1 max_capacity: at the maximum attached clusters cannot scale up until instances become idle", async () => {
    const id = await c.newPool({ max_capacity: 6 });
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    const other = await c.runningCluster({ instance_pool_id: id, num_workers: 2 });
    await w.post("clusters/resize", { cluster_id, num_workers: 4 });
    await w.advance(SECOND);
    const short = await c.cluster(cluster_id);
    expect([short.state, short.num_workers, short.executors.length]).toEqual(["RUNNING", 4, 2]);
    await w.post("clusters/delete", { cluster_id: other });
    await w.advance(SECOND);
    expect((await c.cluster(cluster_id)).executors).toHaveLength(4);
    expect(
      (await c.events(cluster_id)).filter((event) => event.details.cause === "AUTORECOVERY"),
    ).toHaveLength(1);
  });
});

describe("delete", () => {
  test("B3.1 delete, DELETED, B4.1 delete: the pool no longer exists for get, edit, delete and list, and its name is free", async () => {
    const id = await c.newPool();
    expect(await remove(id)).toMatchObject({ status: 200, body: {} });
    expect(await w.get("instance-pools/get", { instance_pool_id: id })).toMatchObject(missing);
    expect(await edit(id, {})).toMatchObject(missing);
    expect(await remove(id)).toMatchObject(missing);
    expect((await w.get("instance-pools/list")).body).toEqual({});
    expect(await create({})).toMatchObject({ status: 200 });
  });

  test("B3.1 delete: new clusters cannot attach", async () => {
    const id = await c.newPool();
    await remove(id);
    expect(await w.post("clusters/create", { ...CLUSTER, instance_pool_id: id })).toMatchObject(missing);
  });

  test("B3.1 delete: a running attached cluster keeps running, also over a restart", async () => {
    const id = await c.newPool({ min_idle_instances: 5 });
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    await remove(id);
    await w.advance(SECOND);
    expect(await c.state(cluster_id)).toBe("RUNNING");
    await w.post("clusters/restart", { cluster_id });
    await w.advance(SECOND);
    expect(await c.cluster(cluster_id)).toMatchObject({ state: "RUNNING", executors: { length: 2 } });
  });

  test("B3.1 delete: a running attached cluster cannot scale up", async () => {
    const id = await c.newPool({ min_idle_instances: 5 });
    const cluster_id = await c.runningCluster({ instance_pool_id: id });
    await remove(id);
    await w.post("clusters/resize", { cluster_id, num_workers: 4 });
    await w.advance(MINUTE);
    expect((await c.cluster(cluster_id)).executors).toHaveLength(2);
    const upsize = (await c.events(cluster_id)).find((event) => event.type === "UPSIZE_COMPLETED");
    expect(upsize.details.reason.parameters.instance_pool_error_code).toBe("INSTANCE_POOL_NOT_FOUND_FAILURE");
  });

  test("B3.1 delete: a terminated attached cluster fails to start until it is edited off the pool", async () => {
    const id = await c.newPool();
    const cluster_id = await c.terminatedCluster({ instance_pool_id: id });
    await remove(id);
    await w.post("clusters/start", { cluster_id });
    await w.advance(SECOND);
    expect(await c.cluster(cluster_id)).toMatchObject({
      state: "TERMINATED",
      termination_reason: {
        parameters: { instance_pool_error_code: "INSTANCE_POOL_NOT_FOUND_FAILURE" },
      },
    });
    await w.post("clusters/edit", { cluster_id, ...CLUSTER });
    await w.post("clusters/start", { cluster_id });
    await w.advance(SECOND);
    expect(await c.state(cluster_id)).toBe("RUNNING");
  });

  test("B4.1 delete: an id is required", async () => {
    expect(await w.post("instance-pools/delete", {})).toMatchObject(invalid);
  });
});
