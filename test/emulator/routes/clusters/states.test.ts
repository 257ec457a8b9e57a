// Clusters: the state table of contract B 3.2, each call in each state, with the transitions that service facts add.

import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, compute, done, invalid, invalidState, MINUTE, SECOND } from "../../compute.ts";
import { ADMIN, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const call = (name: string, cluster_id: string, fields: object = {}) =>
  w.post(`clusters/${name}`, { cluster_id, ...fields });
const edit = (id: string, fields: object = {}) => call("edit", id, { ...CLUSTER, ...fields });

/** A cluster brought to each state, on the clock of the test. */
const into: Readonly<Record<string, () => Promise<string>>> = {
  PENDING: () => c.newCluster(),
  RUNNING: () => c.runningCluster(),
  RESTARTING: async () => {
    const id = await c.runningCluster();
    await call("restart", id);
    return id;
  },
  RESIZING: async () => {
    const id = await c.runningCluster();
    await call("resize", id, { num_workers: 5 });
    return id;
  },
  TERMINATING: async () => {
    const id = await c.runningCluster();
    await call("delete", id);
    return id;
  },
  TERMINATED: () => c.terminatedCluster(),
};
const STATES = Object.keys(into);
const others = (...these: string[]) => STATES.filter((state) => !these.includes(state));
const bring = async (state: string): Promise<string> => {
  const id = await (into[state]?.() ?? Promise.reject(new Error(state)));
  expect(await c.state(id)).toBe(state);
  return id;
};

describe("create", () => {
  test("B3.2 create: PENDING at once, RUNNING when the nodes are there", async () => {
    const id = await c.newCluster();
    expect(await c.state(id)).toBe("PENDING");
    await w.advance(SECOND);
    expect(await c.state(id)).toBe("RUNNING");
  });

  test("B3.2 create, share, B7 without a named code: a cluster that gets less than 80% of its nodes ends TERMINATED with a message", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 7 });
    const id = await c.runningCluster({ instance_pool_id, num_workers: 8 });
    const cluster = await c.cluster(id);
    expect(cluster.state).toBe("TERMINATED");
    expect(cluster.state_message).toContain("7 of 9");
  });

  test("B3.2 share, B6 RUNNING: a cluster that gets 80% of its nodes runs, and its RUNNING event says what is missing", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 8 });
    const id = await c.runningCluster({ instance_pool_id, num_workers: 9 });
    expect(await c.cluster(id)).toMatchObject({ state: "RUNNING", num_workers: 9, executors: { length: 7 } });
    const running = (await c.events(id)).find((event) => event.type === "RUNNING");
    expect(running.details).toMatchObject({
      current_num_workers: 7,
      target_num_workers: 9,
      reason: { code: "INSTANCE_POOL_CLUSTER_FAILURE" },
    });
  });
});

describe("edit", () => {
  test("B3.2 edit: a RUNNING cluster takes the new attributes and restarts", async () => {
    const id = await bring("RUNNING");
    const before = await c.cluster(id);
    expect(await edit(id, { cluster_name: "new", num_workers: 4 })).toMatchObject(done);
    expect(await c.state(id)).toBe("RESTARTING");
    await w.advance(SECOND);
    const after = await c.cluster(id);
    expect(after).toMatchObject({ state: "RUNNING", cluster_name: "new", executors: { length: 4 } });
    expect(after.spark_context_id).not.toBe(before.spark_context_id);
  });

  test("B3.2 edit: a TERMINATED cluster stays so and has the changes at its next start", async () => {
    const id = await bring("TERMINATED");
    expect(await edit(id, { num_workers: 4 })).toMatchObject(done);
    expect(await c.state(id)).toBe("TERMINATED");
    await call("start", id);
    await w.advance(SECOND);
    expect((await c.cluster(id)).executors).toHaveLength(4);
  });

  test("B3.2 left out: a field that is left out goes back to its default", async () => {
    const id = await c.terminatedCluster({ cluster_name: "named", custom_tags: { a: "b" } });
    await edit(id);
    const cluster = await c.cluster(id);
    expect(cluster.cluster_name).toBe("");
    expect(cluster).not.toHaveProperty("custom_tags");
  });

  test.each(others("RUNNING", "TERMINATED"))(
    "B7 INVALID_STATE, B3.2 edit: INVALID_STATE for the edit of a %s cluster",
    async (state) => {
      const id = await bring(state);
      expect(await edit(id, { cluster_name: "new" })).toMatchObject(invalidState);
      expect(await c.cluster(id)).toMatchObject({ state, cluster_name: "" });
    },
  );

  test("B4.3 edit, B2.4 spark_version, node_type_id: cluster_id, spark_version and node_type_id are required", async () => {
    const id = await bring("TERMINATED");
    for (const field of ["cluster_id", "spark_version", "node_type_id"]) {
      expect(await w.post("clusters/edit", { cluster_id: id, ...CLUSTER, [field]: undefined })).toMatchObject(
        invalid,
      );
    }
  });

  test("B4.3 edit: a configuration that create would refuse has no effect", async () => {
    const id = await bring("RUNNING");
    expect(await edit(id, { spark_version: "1.x" })).toMatchObject(invalid);
    expect(await c.state(id)).toBe("RUNNING");
  });

  test("B3.2 edit: a RUNNING cluster may change from one pool to another", async () => {
    const a = await c.newPool({ instance_pool_name: "a", idle_instance_autotermination_minutes: 0 });
    const b = await c.newPool({ instance_pool_name: "b" });
    const id = await c.runningCluster({ instance_pool_id: a });
    await edit(id, { instance_pool_id: b });
    await w.advance(SECOND);
    expect(await c.state(id)).toBe("RUNNING");
    expect([await c.stats(a), await c.stats(b)]).toEqual([
      [0, 0, 0, 0],
      [3, 0, 0, 0],
    ]);
  });
});

describe("start", () => {
  test("B3.2 start, after start: a TERMINATED cluster keeps id and attributes and comes up", async () => {
    const id = await c.terminatedCluster({ cluster_name: "kept" });
    expect(await call("start", id)).toMatchObject(done);
    expect(await c.state(id)).toBe("PENDING");
    await w.advance(SECOND);
    const cluster = await c.cluster(id);
    expect(cluster).toMatchObject({ cluster_id: id, cluster_name: "kept", state: "RUNNING" });
    expect(cluster).not.toHaveProperty("termination_reason");
    expect(cluster).not.toHaveProperty("terminated_time");
  });

  test("B3.2 start: with the last size", async () => {
    const id = await c.runningCluster();
    await call("resize", id, { num_workers: 6 });
    await w.advance(SECOND);
    await call("delete", id);
    await w.advance(SECOND);
    await call("start", id);
    await w.advance(SECOND);
    expect(await c.cluster(id)).toMatchObject({ num_workers: 6, executors: { length: 6 } });
  });

  test("B3.2 start: an autoscaling cluster with its minimum of workers", async () => {
    const autoscale = { min_workers: 2, max_workers: 6 };
    const id = await c.terminatedCluster({ num_workers: undefined, autoscale });
    await call("start", id);
    await w.advance(SECOND);
    expect(await c.cluster(id)).toMatchObject({ autoscale, executors: { length: 2 } });
  });

  test.each(others("TERMINATED"))("B3.2 start: no effect on a %s cluster", async (state) => {
    const id = await bring(state);
    const before = await c.cluster(id);
    expect(await call("start", id)).toMatchObject(done);
    expect(await c.cluster(id)).toEqual(before);
  });
});

describe("restart", () => {
  test("B3.2 restart, other states, B2.4 spark_context_id, last_state_loss_time: a RUNNING cluster is RESTARTING, then RUNNING with another driver after the restart", async () => {
    const id = await bring("RUNNING");
    const before = await c.cluster(id);
    expect(await call("restart", id)).toMatchObject(done);
    expect(await c.state(id)).toBe("RESTARTING");
    await w.advance(SECOND);
    const after = await c.cluster(id);
    expect(after.state).toBe("RUNNING");
    expect(after.spark_context_id).not.toBe(before.spark_context_id);
    expect(after.last_state_loss_time).toBe(START + SECOND);
  });

  test.each(others("RUNNING"))("B3.2 restart: no effect on a %s cluster", async (state) => {
    const id = await bring(state);
    const before = await c.cluster(id);
    expect(await call("restart", id)).toMatchObject(done);
    expect(await c.cluster(id)).toEqual(before);
  });
});

describe("resize", () => {
  test("B3.2 resize, other states: RESIZING, then RUNNING with the new size, the driver unchanged", async () => {
    const id = await bring("RUNNING");
    const before = await c.cluster(id);
    expect(await call("resize", id, { num_workers: 5 })).toMatchObject(done);
    expect(await c.cluster(id)).toMatchObject({
      state: "RESIZING",
      num_workers: 5,
      executors: { length: 2 },
    });
    await w.advance(SECOND);
    const after = await c.cluster(id);
    expect(after).toMatchObject({ state: "RUNNING", num_workers: 5, executors: { length: 5 } });
    expect(after.spark_context_id).toBe(before.spark_context_id);
    expect(after.executors.slice(0, 2)).toEqual(before.executors);
  });

  test("B3.2 resize: down to no worker at all", async () => {
    const id = await bring("RUNNING");
    await call("resize", id, { num_workers: 0 });
    await w.advance(SECOND);
    const cluster = await c.cluster(id);
    expect(cluster).toMatchObject({ state: "RUNNING", num_workers: 0 });
    expect(cluster).not.toHaveProperty("executors");
  });

  test("B3.2 resize: to the size that it has, it stays RUNNING", async () => {
    const id = await bring("RUNNING");
    await call("resize", id, { num_workers: 2 });
    expect(await c.state(id)).toBe("RUNNING");
  });

  test.each(others("RUNNING"))(
    "B3.2 resize, B7 without a named code: clusters/resize fails on a %s cluster",
    async (state) => {
      const id = await bring(state);
      const before = await c.cluster(id);
      expect(await call("resize", id, { num_workers: 7 })).toMatchObject(invalidState);
      expect(await c.cluster(id)).toEqual(before);
    },
  );

  test("B4.3 resize: exactly one of num_workers and autoscale, within their bounds", async () => {
    const id = await bring("RUNNING");
    const autoscale = { min_workers: 1, max_workers: 2 };
    expect(await call("resize", id)).toMatchObject(invalid);
    expect(await call("resize", id, { num_workers: 1, autoscale })).toMatchObject(invalid);
    expect(await call("resize", id, { num_workers: -1 })).toMatchObject(invalid);
    expect(await call("resize", id, { autoscale: { min_workers: 2, max_workers: 2 } })).toMatchObject(
      invalid,
    );
  });

  test("B2.4 AutoScale: resize turns a fixed size into bounds and back; the workers move into the bounds", async () => {
    const id = await bring("RUNNING");
    await call("resize", id, { autoscale: { min_workers: 4, max_workers: 8 } });
    await w.advance(SECOND);
    const scaling = await c.cluster(id);
    expect(scaling).toMatchObject({
      autoscale: { min_workers: 4, max_workers: 8 },
      executors: { length: 4 },
    });
    expect(scaling).not.toHaveProperty("num_workers");
    await call("resize", id, { num_workers: 1 });
    await w.advance(SECOND);
    const fixed = await c.cluster(id);
    expect(fixed).toMatchObject({ num_workers: 1, executors: { length: 1 } });
    expect(fixed).not.toHaveProperty("autoscale");
  });
});

describe("delete", () => {
  test.each(others("TERMINATING", "TERMINATED"))(
    "B3.2 delete: a %s cluster is TERMINATING, then TERMINATED",
    async (state) => {
      const id = await bring(state);
      expect(await call("delete", id)).toMatchObject(done);
      expect(await c.cluster(id)).toMatchObject({
        state: "TERMINATING",
        termination_reason: { code: "USER_REQUEST", type: "SUCCESS", parameters: { username: ADMIN } },
      });
      await w.advance(SECOND);
      expect(await c.cluster(id)).toMatchObject({
        state: "TERMINATED",
        terminated_time: expect.any(Number),
        termination_reason: { code: "USER_REQUEST" },
      });
    },
  );

  test.each(["TERMINATING", "TERMINATED"])("B3.2 delete: no effect on a %s cluster", async (state) => {
    const id = await bring(state);
    const before = await c.cluster(id);
    expect(await call("delete", id)).toMatchObject(done);
    expect(await c.cluster(id)).toEqual(before);
  });
});

describe("permanent-delete", () => {
  const gone = { status: 400, body: { error_code: "INVALID_PARAMETER_VALUE" } };

  test("B3.2 permanent-delete: a TERMINATED cluster is removed at once, for every call and the list", async () => {
    const id = await bring("TERMINATED");
    expect(await call("permanent-delete", id)).toMatchObject(done);
    expect(await w.get("clusters/get", { cluster_id: id })).toMatchObject(gone);
    for (const name of ["start", "restart", "delete", "permanent-delete", "pin", "unpin", "events"]) {
      expect(await call(name, id)).toMatchObject(gone);
    }
    expect(await edit(id)).toMatchObject(gone);
    expect(await call("resize", id, { num_workers: 1 })).toMatchObject(gone);
    expect(await c.clusters()).toEqual([]);
  });

  test.each(others("TERMINATED"))(
    "B3.2 permanent-delete: a %s cluster is terminated, then gone",
    async (state) => {
      const id = await bring(state);
      expect(await call("permanent-delete", id)).toMatchObject(done);
      expect(await c.state(id)).toBe("TERMINATING");
      await w.advance(SECOND);
      expect(await w.get("clusters/get", { cluster_id: id })).toMatchObject(gone);
      expect(await c.clusters()).toEqual([]);
    },
  );

  test.each(STATES)(
    "B3.2 pinned clusters: a pinned %s cluster is refused and not changed until it is unpinned",
    async (state) => {
      const id = await bring(state);
      await call("pin", id);
      const before = await c.cluster(id);
      expect(await call("permanent-delete", id)).toMatchObject(invalidState);
      expect(await c.cluster(id)).toEqual(before);
      await call("unpin", id);
      expect(await call("permanent-delete", id)).toMatchObject(done);
    },
  );

  test("B3.2 permanent-delete: no request restores a cluster that is being deleted", async () => {
    const id = await bring("RUNNING");
    await call("permanent-delete", id);
    for (const name of ["start", "restart", "delete", "permanent-delete", "pin"]) await call(name, id);
    expect(await edit(id)).toMatchObject(invalidState);
    expect(await call("resize", id, { num_workers: 1 })).toMatchObject(invalidState);
    await w.advance(SECOND);
    expect(await w.get("clusters/get", { cluster_id: id })).toMatchObject(gone);
    expect(await c.clusters()).toEqual([]);
  });
});

describe("pin and unpin", () => {
  test.each(STATES)("B4.3 pin, unpin: a %s cluster may be pinned, without another effect", async (state) => {
    const id = await bring(state);
    const before = await c.cluster(id);
    for (const name of ["pin", "unpin"]) {
      expect(await call(name, id)).toMatchObject(done);
      expect(await c.cluster(id)).toEqual(before);
    }
  });

  test.each(others("TERMINATING", "TERMINATED"))(
    "B3.2 delete: a pinned %s cluster is terminated like any other",
    async (state) => {
      const id = await bring(state);
      await call("pin", id);
      expect(await call("delete", id)).toMatchObject(done);
      await w.advance(SECOND);
      expect(await c.state(id)).toBe("TERMINATED");
    },
  );
});

test.each(["start", "restart", "delete", "permanent-delete", "pin", "unpin", "events", "resize", "edit"])(
  "B4.3 %s, missing: a cluster that does not exist gives INVALID_PARAMETER_VALUE and names it",
  async (name) => {
    const fields = { ...(name === "edit" ? CLUSTER : {}), ...(name === "resize" ? { num_workers: 1 } : {}) };
    const { status, body } = await call(name, "0101-000000-none1", fields);
    expect({ status, ...body }).toEqual({
      status: 400,
      error_code: "INVALID_PARAMETER_VALUE",
      message: "Cluster 0101-000000-none1 does not exist",
    });
    expect(await w.post(`clusters/${name}`, fields)).toMatchObject(invalid);
  },
);

describe("inactivity", () => {
  test("B2.4 autotermination_minutes: an idle cluster ends after them, with the reason INACTIVITY", async () => {
    const id = await c.runningCluster({ autotermination_minutes: 10 });
    await w.advance(10 * MINUTE - 2 * SECOND);
    expect(await c.state(id)).toBe("RUNNING");
    await w.advance(3 * SECOND);
    expect(await c.cluster(id)).toMatchObject({
      state: "TERMINATED",
      termination_reason: { code: "INACTIVITY", parameters: { inactivity_duration_min: "10" } },
    });
  });

  test("B2.4 autotermination_minutes: unset or 0 never ends it", async () => {
    const unset = await c.runningCluster();
    const zero = await c.runningCluster({ autotermination_minutes: 0 });
    await w.advance(20_000 * MINUTE);
    expect([await c.state(unset), await c.state(zero)]).toEqual(["RUNNING", "RUNNING"]);
  });

  test("B2.4 autotermination_minutes: a run is activity, and the minutes restart when it ends", async () => {
    const id = await c.runningCluster({ autotermination_minutes: 10 });
    const job = await c.newJob({ new_cluster: undefined, existing_cluster_id: id });
    await w.advance(9 * MINUTE);
    await c.runNow(job);
    await w.advance(9 * MINUTE);
    expect(await c.state(id)).toBe("RUNNING");
    await w.advance(2 * MINUTE);
    expect(await c.state(id)).toBe("TERMINATED");
  });

  test("B2.4 autotermination_minutes: a restart resets the minutes", async () => {
    const id = await c.runningCluster({ autotermination_minutes: 10 });
    await w.advance(9 * MINUTE);
    await call("restart", id);
    await w.advance(9 * MINUTE);
    expect(await c.state(id)).toBe("RUNNING");
  });
});
