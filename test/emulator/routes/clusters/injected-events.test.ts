import { beforeEach, describe, expect, test } from "vitest";
import { compute, invalid, invalidState, NODE_TYPE, SECOND } from "../../compute.ts";
import { type Body, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const cause = (cluster_id: string, type: string, more: object = {}) =>
  w.control("POST", "cluster-events", { cluster_id, type, ...more });

describe("what happens only by control", () => {
  test.each([
    "DRIVER_UNAVAILABLE",
    "DRIVER_NOT_RESPONDING",
    "SPARK_EXCEPTION",
    "DBFS_DOWN",
    "METASTORE_DOWN",
    "DID_NOT_EXPAND_DISK",
    "EXPANDED_DISK",
    "FAILED_TO_EXPAND_DISK",
    "NODE_BLACKLISTED",
  ])("B6 %s, by control: is written, read and filtered like any other", async (type) => {
    const cluster_id = await c.runningCluster();
    const before = await c.events(cluster_id);
    const details = { reason: { code: "UNKNOWN", parameters: { instance_id: "i-1" } } };
    expect(await cause(cluster_id, type, { details })).toMatchObject({ status: 200, body: {} });
    const event = { cluster_id, timestamp: expect.any(Number), type, details };
    expect(await c.events(cluster_id)).toEqual([...before, event]);
    const { body } = await w.post("clusters/events", { cluster_id, event_types: [type] });
    expect(body).toEqual({ events: [event], total_count: 1 });
    expect(await c.state(cluster_id)).toBe("RUNNING");
  });

  test("B6 NODES_LOST, by control: lost workers are removed, then replaced", async () => {
    const cluster_id = await c.runningCluster({ num_workers: 3 });
    const before = (await c.events(cluster_id)).length;
    await cause(cluster_id, "NODES_LOST", { count: 2 });
    expect(await c.cluster(cluster_id)).toMatchObject({ state: "RESIZING", num_workers: 3 });
    expect((await c.cluster(cluster_id)).executors).toHaveLength(1);
    await w.advance(SECOND);
    expect((await c.cluster(cluster_id)).executors).toHaveLength(3);
    const [lost, resizing, done] = (await c.events(cluster_id)).slice(before);
    expect(lost).toMatchObject({
      type: "NODES_LOST",
      details: { current_num_workers: 1, target_num_workers: 3 },
    });
    expect(resizing).toMatchObject({ type: "RESIZING", details: { cause: "AUTORECOVERY", user: "" } });
    expect(done).toMatchObject({ type: "UPSIZE_COMPLETED", details: { current_num_workers: 3 } });
  });

  test("B6 NODES_LOST, B2.1 stats: the instances of a pool still add up", async () => {
    const instance_pool_id = await c.newPool({ node_type_id: NODE_TYPE, max_capacity: 4 });
    const cluster_id = await c.runningCluster({ instance_pool_id, num_workers: 3 });
    await cause(cluster_id, "NODES_LOST", { count: 3 });
    await w.advance(SECOND);
    expect((await c.cluster(cluster_id)).executors).toHaveLength(3);
    expect(await c.stats(instance_pool_id)).toEqual([4, 0, 0, 0]);
  });

  test("B6 by control: other types, other clusters and wrong counts are refused and write nothing", async () => {
    const cluster_id = await c.runningCluster();
    const before = await c.events(cluster_id);
    expect(await cause(cluster_id, "RUNNING")).toMatchObject(invalid);
    expect(await cause(cluster_id, "toString")).toMatchObject(invalid);
    expect(await cause("none", "DBFS_DOWN")).toMatchObject(invalid);
    expect(await cause(cluster_id, "DBFS_DOWN", { details: [] })).toMatchObject(invalid);
    for (const count of [0, 3, 1.5, "x"])
      expect(await cause(cluster_id, "NODES_LOST", { count })).toMatchObject(invalid);
    expect(await c.events(cluster_id)).toEqual(before);
    const ended: Body = await c.terminatedCluster();
    expect(await cause(ended, "DBFS_DOWN")).toMatchObject(invalidState);
  });
});
