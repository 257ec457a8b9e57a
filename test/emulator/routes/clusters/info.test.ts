// Clusters: what get and list tell, pins, and how long a terminated cluster is kept (contract B 2.4, contract B 4.3 rules 1 to 3).

import { beforeEach, describe, expect, test } from "vitest";
import {
  CLUSTER,
  compute,
  DAY,
  done,
  invalid,
  invalidState,
  MINUTE,
  NODE_TYPE,
  refused,
  SECOND,
} from "../../compute.ts";
import { ADMIN, type Body, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const pin = (cluster_id: string) => w.post("clusters/pin", { cluster_id });
const unpin = (cluster_id: string) => w.post("clusters/unpin", { cluster_id });
const get = (cluster_id: string) => w.get("clusters/get", { cluster_id });
const ids = async () => (await c.clusters()).map((cluster: Body) => cluster.cluster_id);

describe("get", () => {
  test("B2.4 creator_user_name, driver, executors, jdbc_port, cluster_memory_mb, cluster_cores, start_time, last_activity_time, nodes: a running cluster describes driver, executors and what they add up to", async () => {
    const cluster = await c.cluster(await c.runningCluster({ driver_node_type_id: "Standard_DS4_v2" }));
    expect(cluster).toMatchObject({
      creator_user_name: ADMIN,
      cluster_source: "API",
      state: "RUNNING",
      state_message: "",
      jdbc_port: 10_000,
      cluster_cores: 8 + 2 * 4,
      cluster_memory_mb: 28_672 + 2 * 14_336,
      start_time: START,
      last_state_loss_time: 0,
      last_activity_time: expect.any(Number),
    });
    const nodes = [cluster.driver, ...cluster.executors];
    for (const node of nodes) {
      expect(node).toMatchObject({
        private_ip: expect.stringMatching(/^10\./),
        node_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        start_timestamp: expect.any(Number),
      });
    }
    expect(new Set(nodes.map((node) => node.node_id)).size).toBe(3);
  });

  test("B2.4 spark_context_id: an integer beyond 2^53, exact", async () => {
    const { spark_context_id } = await c.cluster(await c.runningCluster());
    expect(typeof spark_context_id).toBe("bigint");
    expect(spark_context_id).toBeGreaterThan(2n ** 53n);
    expect(spark_context_id).toBeLessThan(2n ** 63n);
  });

  test("B2.4 driver, executors, jdbc_port: what only a running cluster has is absent before and after", async () => {
    const running = [
      "driver",
      "executors",
      "spark_context_id",
      "jdbc_port",
      "cluster_cores",
      "cluster_memory_mb",
    ];
    for (const id of [await c.terminatedCluster(), await c.newCluster()]) {
      const cluster = await c.cluster(id);
      for (const field of running) expect(cluster).not.toHaveProperty(field);
    }
  });

  test("B2.4 num_workers: when read it is the desired count, not the current one", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 8 });
    const cluster = await c.cluster(await c.runningCluster({ instance_pool_id, num_workers: 8 }));
    expect([cluster.num_workers, cluster.executors.length]).toEqual([8, 7]);
  });

  test("B2.4 default_tags, internal tags: vendor, creator, name, id and two internal tags", async () => {
    const id = await c.newCluster({ cluster_name: "tagged" });
    const { default_tags } = await c.cluster(id);
    expect(default_tags.slice(0, 4)).toEqual([
      { key: "Vendor", value: expect.any(String) },
      { key: "Creator", value: ADMIN },
      { key: "ClusterName", value: "tagged" },
      { key: "ClusterId", value: id },
    ]);
    expect(default_tags).toHaveLength(6);
  });

  test("B2.4 state_message, terminated_time: tell of the latest transition, and when the cluster ended", async () => {
    const id = await c.newCluster();
    expect((await c.cluster(id)).state_message).toBe("Waiting for 3 nodes.");
    await w.advance(SECOND);
    expect(await c.cluster(id)).toMatchObject({ state: "RUNNING", state_message: "" });
    expect(await c.cluster(id)).not.toHaveProperty("terminated_time");
    await w.post("clusters/delete", { cluster_id: id });
    const { state, state_message } = await c.cluster(id);
    expect([state, state_message]).toEqual(["TERMINATING", `Terminated at the request of ${ADMIN}.`]);
    await w.advance(MINUTE);
    const { terminated_time } = await c.cluster(id);
    expect(terminated_time).toBeGreaterThan(START + SECOND);
    expect(terminated_time).toBeLessThan(START + 2 * SECOND);
  });

  test("B2.4 termination_reason: only in TERMINATING and TERMINATED", async () => {
    const id = await c.runningCluster();
    expect(await c.cluster(id)).not.toHaveProperty("termination_reason");
    await w.post("clusters/delete", { cluster_id: id });
    expect(await c.cluster(id)).toHaveProperty("termination_reason");
  });

  test("B2.4 cluster_log_status, cluster_log_conf, B8 limit: tells the last delivery, every five minutes", async () => {
    const id = await c.runningCluster({ cluster_log_conf: { fs: { destination: "fs:/logs" } } });
    expect(await c.cluster(id)).not.toHaveProperty("cluster_log_status");
    await w.advance(11 * MINUTE);
    const { cluster_log_status, last_activity_time } = await c.cluster(id);
    expect(cluster_log_status.last_attempted - last_activity_time).toBe(10 * MINUTE);
  });

  test("B2.4 cluster_id: kept over restart and resize", async () => {
    const id = await c.runningCluster();
    await w.post("clusters/restart", { cluster_id: id });
    await w.advance(SECOND);
    await w.post("clusters/resize", { cluster_id: id, num_workers: 1 });
    await w.advance(SECOND);
    expect((await c.cluster(id)).cluster_id).toBe(id);
  });

  test("B4.3 get, missing: an id is required, and it must be a cluster's", async () => {
    expect(await w.get("clusters/get")).toMatchObject(invalid);
    expect(await get("none")).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE", message: "Cluster none does not exist" },
    });
  });
});

describe("retention", () => {
  test("B4.3 rule 1, expired, B8 limit, B3.2 30 days: get works up to 30 days after termination, then INVALID_STATE says why not", async () => {
    const id = await c.terminatedCluster();
    await w.advance(30 * DAY - 2 * SECOND);
    expect(await get(id)).toMatchObject({ status: 200 });
    await w.advance(2 * SECOND);
    expect(await get(id)).toMatchObject(invalidState);
    expect((await get(id)).body.message).toMatch(/more than 30 days ago/);
    expect(await ids()).toEqual([]);
  });

  test("B3.2 30 days, permanent-delete: nothing is kept of a cluster that was permanently deleted, and only its end of one that expired", async () => {
    const deleted = await c.terminatedCluster();
    const expired = await c.terminatedCluster();
    await w.post("clusters/permanent-delete", { cluster_id: deleted });
    await w.advance(31 * DAY);
    const tables = Object.entries(w.store.dump());
    const holding = (id: string) =>
      tables.filter(([, rows]) => JSON.stringify(rows).includes(id)).map(([name]) => name);
    expect([holding(deleted), holding(expired)]).toEqual([[], ["clusters.expired"]]);
  });

  test("B3.2 30 days: a cluster that is started again within the 30 days is not dropped", async () => {
    const id = await c.terminatedCluster();
    await w.advance(29 * DAY);
    await w.post("clusters/start", { cluster_id: id });
    await w.advance(29 * DAY);
    expect(await c.state(id)).toBe("RUNNING");
  });

  test("B4.3 rule 2: a pinned cluster is kept and listed beyond 30 days", async () => {
    const id = await c.terminatedCluster();
    await pin(id);
    await w.advance(365 * DAY);
    expect(await c.state(id)).toBe("TERMINATED");
    expect(await ids()).toEqual([id]);
  });

  test("B4.3 rule 2: an unpinned cluster drops from the list in the end", async () => {
    const id = await c.terminatedCluster();
    await pin(id);
    await w.advance(365 * DAY);
    await unpin(id);
    expect(await ids()).toEqual([id]);
    await w.advance(30 * DAY);
    expect(await ids()).toEqual([]);
    expect(await get(id)).toMatchObject(invalidState);
  });
});

test("B4.3 rule 3: of the past 30 days: a cluster leaves the list 30 days after it ended", async () => {
  const id = await c.terminatedCluster();
  await w.advance(30 * DAY - SECOND);
  expect(await ids()).toEqual([id]);
  await w.advance(SECOND);
  expect(await ids()).toEqual([]);
});

describe("pin and unpin", () => {
  test.each(["pin", "unpin"])("B5 %s: administrators only", async (name) => {
    const as = await w.user("bo@example.com");
    const chief = await w.user("cy@example.com", { admin: true });
    const cluster_id = await c.newCluster();
    expect(await w.post(`clusters/${name}`, { cluster_id }, { as })).toMatchObject(
      refused(403, "PERMISSION_DENIED"),
    );
    expect(await w.post(`clusters/${name}`, { cluster_id }, { as: chief })).toMatchObject(done);
  });

  test("B4.3 rule 2: pinning twice and unpinning what is not pinned have no effect", async () => {
    const id = await c.newCluster();
    expect(await unpin(id)).toMatchObject(done);
    await pin(id);
    expect(await pin(id)).toMatchObject(done);
    const types = (await c.events(id)).map((event) => event.type);
    expect(types.filter((type) => type.endsWith("PINNED"))).toEqual(["PINNED"]);
  });

  test("B4.3 list: says who pinned a cluster; get does not", async () => {
    const id = await c.newCluster();
    await pin(id);
    const me = (await w.get("preview/scim/v2/Me")).body.id;
    expect((await c.clusters())[0].pinned_by_user_name).toBe(me);
    expect(await c.cluster(id)).not.toHaveProperty("pinned_by_user_name");
    await unpin(id);
    expect((await c.clusters())[0]).not.toHaveProperty("pinned_by_user_name");
  });

  test("B4.3 pins: at most 100 clusters are pinned at a time", async () => {
    let last = "";
    for (let count = 0; count < 101; count++) {
      last = await c.newCluster();
      if (count < 100) expect(await pin(last)).toMatchObject(done);
    }
    expect(await pin(last)).toMatchObject(refused(400, "QUOTA_EXCEEDED"));
  });
});

describe("list", () => {
  test("B4.3 list: nothing but an empty object without clusters, else the fields of get", async () => {
    expect((await w.get("clusters/list")).body).toEqual({});
    const id = await c.runningCluster();
    expect(await c.clusters()).toEqual([await c.cluster(id)]);
  });

  test("B4.3 rule 3: all active clusters, however many", async () => {
    for (let count = 0; count < 120; count++) await c.newCluster();
    expect(await c.clusters()).toHaveLength(120);
  });

  test("B4.3 rule 3, B8 limit: the 70 most recently terminated interactive clusters", async () => {
    const all: string[] = [];
    for (let count = 0; count < 75; count++) all.push(await c.terminatedCluster());
    expect(await ids()).toEqual(all.slice(-70).reverse());
    expect(await get(String(all[0]))).toMatchObject({ status: 200 });
  });

  test("B4.3 rule 3: one of the 70 that is started makes room for an older one", async () => {
    const all: string[] = [];
    for (let count = 0; count < 71; count++) all.push(await c.terminatedCluster());
    await w.post("clusters/start", { cluster_id: all[70] });
    expect(new Set(await ids())).toEqual(new Set(all));
  });

  test("B4.3 rule 3, B8 limit: the 30 most recently terminated automated clusters, in addition to the interactive ones", async () => {
    const interactive = await c.terminatedCluster();
    const job = await c.newJob();
    for (let count = 0; count < 33; count++) {
      await c.runNow(job);
      await w.advance(3 * SECOND);
    }
    const listed = await c.clusters();
    const automated = listed.filter((cluster) => cluster.cluster_source === "JOB");
    expect(automated).toHaveLength(30);
    expect(automated.every((cluster) => cluster.state === "TERMINATED")).toBe(true);
    expect(listed.map((cluster) => cluster.cluster_id)).toContain(interactive);
    const times = automated.map((cluster) => cluster.terminated_time);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test("B4.3 rule 3: all pinned clusters, in addition to the 70", async () => {
    const pinned = await c.terminatedCluster();
    await pin(pinned);
    for (let count = 0; count < 72; count++) await c.terminatedCluster();
    const listed = await ids();
    expect(listed).toHaveLength(71);
    expect(listed).toContain(pinned);
  });
});

describe("clusters of the jobs service", () => {
  const jobCluster = async (): Promise<string> => {
    const run = await c.runNow(await c.newJob());
    await w.advance(SECOND);
    return (await c.run(run)).cluster_instance.cluster_id;
  };

  test("B4.3 rule 4, job clusters: edit and start do not apply to them", async () => {
    const cluster_id = await jobCluster();
    expect(await c.cluster(cluster_id)).toMatchObject({ cluster_source: "JOB", state: "RUNNING" });
    expect(await w.post("clusters/edit", { cluster_id, ...CLUSTER })).toMatchObject(invalidState);
    await w.advance(10 * SECOND);
    expect(await c.state(cluster_id)).toBe("TERMINATED");
    expect(await w.post("clusters/start", { cluster_id })).toMatchObject(invalidState);
    expect(await w.post("clusters/edit", { cluster_id, ...CLUSTER })).toMatchObject(invalidState);
    expect(await c.state(cluster_id)).toBe("TERMINATED");
  });

  test("B2.4 default_tags, internal tags: the internal tags of a job's cluster name its run and its job", async () => {
    const cluster_id = await jobCluster();
    expect((await c.cluster(cluster_id)).default_tags.slice(4)).toEqual([
      { key: "RunName", value: "Untitled" },
      { key: "JobId", value: expect.stringMatching(/^\d+$/) },
    ]);
  });

  test("B2.4 termination_reason, TerminationReason: a job's cluster ends with JOB_FINISHED", async () => {
    const cluster_id = await jobCluster();
    await w.advance(10 * SECOND);
    expect((await c.cluster(cluster_id)).termination_reason).toMatchObject({ code: "JOB_FINISHED" });
  });
});

describe("autoscaling", () => {
  const autoscale = { min_workers: 1, max_workers: 5 };
  const scaling = { num_workers: undefined, autoscale };

  test("B4.3 rule 5, B2.4 AutoScale: an autoscaling cluster starts with min_workers", async () => {
    const cluster = await c.cluster(await c.runningCluster(scaling));
    expect(cluster).toMatchObject({ autoscale, node_type_id: NODE_TYPE, executors: { length: 1 } });
    expect(cluster).not.toHaveProperty("num_workers");
  });

  test("B2.4 AutoScale: work takes it to the upper bound, idleness back to the lower one", async () => {
    const id = await c.runningCluster(scaling);
    const run = await c.runNow(await c.newJob({ new_cluster: undefined, existing_cluster_id: id }));
    await w.advance(500);
    expect(await c.runState(run)).toBe("RUNNING");
    expect((await c.cluster(id)).executors).toHaveLength(5);
    await w.advance(5 * SECOND);
    await c.runNow((await c.run(run)).job_id);
    await w.advance(20 * MINUTE);
    expect((await c.cluster(id)).executors).toHaveLength(1);
    const causes = (await c.events(id)).filter((event) => event.type === "RESIZING");
    expect(causes.map((event) => [event.details.cause, event.details.user])).toEqual([
      ["AUTOSCALE", ""],
      ["AUTOSCALE", ""],
    ]);
  });
});
