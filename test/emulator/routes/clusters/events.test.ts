// The event log of clusters: which action writes what, and how it is read (contract B 2.5, contract B 4.3 events, contract B 6).

import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, compute, HOUR, invalid, malformed, SECOND } from "../../compute.ts";
import { ADMIN, type Body, START, startWorld, type TestWorld } from "../../harness.ts";

let w: TestWorld;
let c: ReturnType<typeof compute>;
beforeEach(async () => {
  w = await startWorld();
  c = compute(w);
});

const read = (fields: object) => w.post("clusters/events", fields);
const types = (events: readonly Body[] = []): string[] => events.map((event) => event.type);
const call = (name: string, cluster_id: string, fields: object = {}) =>
  w.post(`clusters/${name}`, { cluster_id, ...fields });
/** What an action adds to the log of a cluster. */
const added = async (id: string, action: () => Promise<unknown>): Promise<Body[]> => {
  const before = (await c.events(id)).length;
  await action();
  await w.advance(SECOND);
  return (await c.events(id)).slice(before);
};

describe("what actions write", () => {
  test("B6 CREATING, RUNNING, DRIVER_HEALTHY, B2.5 cluster_id, timestamp, type, details, attributes, cluster_size, current_num_workers, target_num_workers: a cluster that comes up", async () => {
    const id = await c.runningCluster({ cluster_name: "a" });
    const events = await c.events(id);
    expect(types(events)).toEqual(["CREATING", "RUNNING", "DRIVER_HEALTHY"]);
    expect(events[0]).toMatchObject({
      cluster_id: id,
      timestamp: START,
      details: {
        attributes: { cluster_name: "a", spark_version: CLUSTER.spark_version },
        cluster_size: { num_workers: 2 },
        user: ADMIN,
      },
    });
    expect(events[1].details).toEqual({ current_num_workers: 2, target_num_workers: 2 });
  });

  test("B6 INIT_SCRIPTS_STARTING, INIT_SCRIPTS_FINISHED: a cluster with init scripts", async () => {
    const id = await c.runningCluster({ init_scripts: [{ fs: { destination: "fs:/a.sh" } }] });
    expect(types(await c.events(id))).toEqual([
      "CREATING",
      "INIT_SCRIPTS_STARTING",
      "INIT_SCRIPTS_FINISHED",
      "RUNNING",
      "DRIVER_HEALTHY",
    ]);
  });

  test("B6 EDITED, RESTARTING, B2.5 previous_attributes, attributes, previous_cluster_size, cluster_size: an edit while RUNNING, with the attributes and sizes before and after", async () => {
    const id = await c.runningCluster({ cluster_name: "a" });
    const events = await added(id, () => call("edit", id, { ...CLUSTER, cluster_name: "b", num_workers: 3 }));
    expect(types(events)).toEqual(["EDITED", "RESTARTING", "RUNNING", "DRIVER_HEALTHY"]);
    expect(events[0].details).toMatchObject({
      previous_attributes: { cluster_name: "a" },
      attributes: { cluster_name: "b" },
      previous_cluster_size: { num_workers: 2 },
      cluster_size: { num_workers: 3 },
      user: ADMIN,
    });
    expect(events[1].details).toEqual({ user: ADMIN });
  });

  test("B6 EDITED: an edit while TERMINATED writes no other event", async () => {
    const id = await c.terminatedCluster();
    expect(types(await added(id, () => call("edit", id, CLUSTER)))).toEqual(["EDITED"]);
  });

  test("B6 STARTING: a start", async () => {
    const id = await c.terminatedCluster();
    const events = await added(id, () => call("start", id));
    expect(types(events)).toEqual(["STARTING", "RUNNING", "DRIVER_HEALTHY"]);
    expect(events[0].details.user).toBe(ADMIN);
  });

  test("B6 RESTARTING: a restart", async () => {
    const id = await c.runningCluster();
    expect(types(await added(id, () => call("restart", id)))).toEqual([
      "RESTARTING",
      "RUNNING",
      "DRIVER_HEALTHY",
    ]);
  });

  test("B6 RESIZING, UPSIZE_COMPLETED, B2.5 cause, current_num_workers, target_num_workers, ClusterSize, ResizeCause: a resize upwards", async () => {
    const id = await c.runningCluster();
    const events = await added(id, () => call("resize", id, { num_workers: 4 }));
    expect(types(events)).toEqual(["RESIZING", "UPSIZE_COMPLETED"]);
    expect(events[0].details).toEqual({
      current_num_workers: 2,
      target_num_workers: 4,
      previous_cluster_size: { num_workers: 2 },
      cluster_size: { num_workers: 4 },
      cause: "USER_REQUEST",
      user: ADMIN,
    });
    expect(events[1].details).toEqual({ current_num_workers: 4, target_num_workers: 4 });
  });

  test("B6 RESIZING: a resize downwards has no UPSIZE_COMPLETED", async () => {
    const id = await c.runningCluster();
    expect(types(await added(id, () => call("resize", id, { num_workers: 1 })))).toEqual(["RESIZING"]);
  });

  test("B6 UPSIZE_COMPLETED, B2.5 reason: says why some nodes could not be acquired", async () => {
    const instance_pool_id = await c.newPool({ max_capacity: 4 });
    const id = await c.runningCluster({ instance_pool_id });
    const events = await added(id, () => call("resize", id, { num_workers: 9 }));
    expect(events[1]).toMatchObject({
      type: "UPSIZE_COMPLETED",
      details: {
        current_num_workers: 3,
        target_num_workers: 9,
        reason: {
          code: "INSTANCE_POOL_CLUSTER_FAILURE",
          parameters: { instance_pool_error_code: "INSTANCE_POOL_MAX_CAPACITY_FAILURE" },
        },
      },
    });
  });

  test("B6 TERMINATING, B2.5 reason, user: a termination, with its reason and who asked", async () => {
    const id = await c.runningCluster();
    const events = await added(id, () => call("delete", id));
    expect(types(events)).toEqual(["TERMINATING"]);
    expect(events[0].details).toMatchObject({
      reason: { code: "USER_REQUEST", parameters: { username: ADMIN } },
      user: ADMIN,
    });
  });

  test("B2.5 user: empty when the platform acted", async () => {
    const id = await c.runningCluster({ autotermination_minutes: 10 });
    await w.advance(HOUR);
    const last = (await c.events(id)).at(-1);
    expect(last).toMatchObject({
      type: "TERMINATING",
      details: { reason: { code: "INACTIVITY" }, user: "" },
    });
  });

  test("B6 PINNED, UNPINNED: pins", async () => {
    const id = await c.runningCluster();
    const events = await added(id, async () => {
      await call("pin", id);
      await call("unpin", id);
    });
    expect(events.map((event) => [event.type, event.details])).toEqual([
      ["PINNED", { user: ADMIN }],
      ["UNPINNED", { user: ADMIN }],
    ]);
  });

  test("B6 AUTOSCALING_STATS_REPORT: an autoscaling cluster reports every hour while it runs", async () => {
    const id = await c.runningCluster({
      num_workers: undefined,
      autoscale: { min_workers: 1, max_workers: 3 },
    });
    await w.advance(3 * HOUR);
    const reports = async () =>
      types(await c.events(id)).filter((type) => type === "AUTOSCALING_STATS_REPORT").length;
    expect(await reports()).toBe(3);
    await call("delete", id);
    await w.advance(3 * HOUR);
    expect(await reports()).toBe(3);
  });

  test("B6 no effect: a call without an effect writes no event", async () => {
    const id = await c.runningCluster();
    expect(await added(id, () => call("start", id))).toEqual([]);
    await call("delete", id);
    await w.advance(SECOND);
    expect(await added(id, () => call("delete", id))).toEqual([]);
    expect(await added(id, () => call("restart", id))).toEqual([]);
  });
});

describe("how it is read", () => {
  /** A cluster with 13 events: CREATING, RUNNING and DRIVER_HEALTHY, nine of three restarts, TERMINATING. */
  const busy = async (): Promise<string> => {
    const id = await c.runningCluster();
    for (let count = 0; count < 3; count++) {
      await call("restart", id);
      await w.advance(SECOND);
    }
    await call("delete", id);
    await w.advance(SECOND);
    return id;
  };

  test("B4.3 events, B6 event log: descending unless said otherwise, ordered by time", async () => {
    const id = await busy();
    const descending = (await read({ cluster_id: id })).body.events;
    const ascending = (await read({ cluster_id: id, order: "ASC" })).body.events;
    expect(types(descending)[0]).toBe("TERMINATING");
    expect(types(ascending)[0]).toBe("CREATING");
    expect(ascending).toEqual([...descending].reverse());
  });

  test("B4.3 events: total_count counts what matches, not what the page holds", async () => {
    const id = await busy();
    const { body } = await read({ cluster_id: id, limit: 2 });
    expect([body.events.length, body.total_count]).toEqual([2, 13]);
    expect((await read({ cluster_id: id, event_types: ["RESTARTING"] })).body.total_count).toBe(3);
  });

  test("B4.3 events, B8 limit: 50 to a page by default, 500 at most", async () => {
    const id = await c.newCluster();
    for (let count = 0; count < 30; count++) {
      await call("pin", id);
      await call("unpin", id);
    }
    expect((await read({ cluster_id: id })).body.events).toHaveLength(50);
    expect((await read({ cluster_id: id, limit: 500 })).body.events).toHaveLength(61);
    expect(await read({ cluster_id: id, limit: 501 })).toMatchObject(invalid);
    expect(await read({ cluster_id: id, limit: 0 })).toMatchObject(invalid);
  });

  test.each(["ASC", "DESC"])(
    "B4.3 events: following next_page in order %s gives every event once, and then there is none",
    async (order) => {
      const id = await busy();
      const whole = (await read({ cluster_id: id, order })).body.events;
      const seen: Body[] = [];
      let request: object | undefined = { cluster_id: id, order, limit: 4 };
      while (request !== undefined) {
        const { body }: { body: Body } = await read(request);
        seen.push(...body.events);
        expect(body.total_count).toBe(13);
        request = body.next_page;
      }
      expect(seen).toEqual(whole);
    },
  );

  test("B4.3 events: next_page is a whole request, with the filters and an end", async () => {
    const id = await busy();
    const { body } = await read({ cluster_id: id, event_types: ["RUNNING"], start_time: START, limit: 1 });
    expect(body.next_page).toEqual({
      cluster_id: id,
      start_time: START,
      end_time: expect.any(Number),
      order: "DESC",
      event_types: ["RUNNING"],
      offset: 1,
      limit: 1,
    });
  });

  test("B4.3 events: events that come meanwhile do not shift the pages", async () => {
    const id = await busy();
    const first = (await read({ cluster_id: id, limit: 5 })).body;
    await w.advance(SECOND);
    await call("start", id);
    const second = (await read(first.next_page)).body;
    const whole = (await read({ cluster_id: id, end_time: first.next_page.end_time })).body.events;
    expect([...first.events, ...second.events]).toEqual(whole.slice(0, 10));
  });

  test("B4.3 events: only those between start_time and end_time, both included", async () => {
    const id = await busy();
    const all = await c.events(id);
    const [from, to] = [all[3].timestamp, all[6].timestamp];
    const { body } = await read({ cluster_id: id, start_time: from, end_time: to, order: "ASC" });
    expect(body.events).toEqual(
      all.filter((event: Body) => event.timestamp >= from && event.timestamp <= to),
    );
    expect(body.total_count).toBe(body.events.length);
  });

  test("B4.3 events: only the types asked for; an empty list means all", async () => {
    const id = await busy();
    const some = (await read({ cluster_id: id, event_types: ["RESTARTING", "TERMINATING"] })).body.events;
    expect(new Set(types(some))).toEqual(new Set(["RESTARTING", "TERMINATING"]));
    expect((await read({ cluster_id: id, event_types: [] })).body.total_count).toBe(13);
    expect(await read({ cluster_id: id, event_types: ["EXPLODED"] })).toMatchObject(invalid);
  });

  test("B4.3 events: end_time is required when offset is given and order is descending", async () => {
    const id = await busy();
    expect(await read({ cluster_id: id, offset: 1 })).toMatchObject(invalid);
    expect(await read({ cluster_id: id, offset: 1, order: "ASC" })).toMatchObject({ status: 200 });
    const end_time = START + HOUR;
    expect((await read({ cluster_id: id, offset: 1, end_time })).body.events).toHaveLength(12);
  });

  test("B4.3 events: nothing that matches is an absent list and no next page", async () => {
    const id = await c.newCluster();
    expect((await read({ cluster_id: id, event_types: ["PINNED"] })).body).toEqual({ total_count: 0 });
  });

  test("B4.3 events: cluster_id is required; wrong order, type or offset is refused", async () => {
    const cluster_id = await c.newCluster();
    expect(await read({})).toMatchObject(invalid);
    expect(await read({ cluster_id, order: "UP" })).toMatchObject(invalid);
    expect(await read({ cluster_id, limit: "5" })).toMatchObject(malformed);
    expect(await read({ cluster_id, offset: -1, order: "ASC" })).toMatchObject(invalid);
  });

  test("B6 event log: each cluster has its own log", async () => {
    const a = await c.newCluster();
    const b = await c.newCluster();
    await call("pin", b);
    expect(types(await c.events(a))).toEqual(["CREATING"]);
  });

  test("B6 reading: reading events has no effect and does not count as a write", async () => {
    const cluster_id = await c.newCluster();
    await w.control("DELETE", "requests");
    await read({ cluster_id });
    const { requests } = (await w.control("GET", "requests")).body;
    expect(requests.at(-1)).toMatchObject({ path: "/api/2.0/clusters/events", write: false });
  });
});
