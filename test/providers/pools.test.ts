// Instance pools: four fields change in place, all others replace the pool, and affected users are reported.

import { expect, test } from "vitest";
import { pools } from "../../src/providers/pools.ts";
import {
  create,
  diffs,
  diffsAfter,
  listed,
  liveObject,
  lookAt,
  only,
  planned,
  remove,
  scripted,
  startWorkspace,
  update,
} from "./workspace.ts";

const base = { node_type_id: "Standard_DS3_v2" };
const full = {
  ...base,
  min_idle_instances: 2,
  max_capacity: 50,
  idle_instance_autotermination_minutes: 15,
  enable_elastic_disk: false,
  disk_spec: { disk_type: { cloud_disk_volume_type: "STANDARD_LRS" }, disk_count: 1, disk_size: 32 },
  preloaded_spark_versions: ["6.4.x-scala2.11"],
  custom_tags: { team: "data", cost: "42" },
};

test("a pool with every field reads back as requested", async () => {
  const { api } = await startWorkspace();
  const id = await create(pools, api, "shared", full);
  expect(diffs(pools, await only(pools, api, id), "shared", full)).toEqual([]);
  const read = await pools.operations.read(api, id);
  expect(read === undefined ? undefined : diffs(pools, read, "shared", full)).toEqual([]);
});

test("a pool that leaves everything to the service shows no difference", async () => {
  const { api } = await startWorkspace();
  const live = await only(pools, api, await create(pools, api, "shared", base));
  expect(diffs(pools, live, "shared", base)).toEqual([]);
  expect(diffsAfter(pools, live, "shared", base, { applied: base, seen: live.values })).toEqual([]);
});

test("an edit repeats the node type and the service defaults", async () => {
  const { api, sent } = await startWorkspace();
  const id = await create(pools, api, "shared", { ...base, max_capacity: 5 });
  const live = await only(pools, api, id);
  sent.length = 0;
  const after = { ...base, max_capacity: 10 };
  expect(await update(pools, api, live, "shared", after)).toEqual(["edit"]);
  expect(sent[0]?.input).toEqual({
    instance_pool_id: id,
    instance_pool_name: "shared",
    node_type_id: "Standard_DS3_v2",
    min_idle_instances: undefined,
    max_capacity: 10,
    idle_instance_autotermination_minutes: live.values.idle_instance_autotermination_minutes,
  });
  expect(diffs(pools, await only(pools, api, id), "shared", after)).toEqual([]);
});

test("a field that is set no more goes back to what it was without it", async () => {
  const { api } = await startWorkspace();
  const id = await create(pools, api, "p", full);
  const {
    max_capacity: _,
    min_idle_instances: __,
    idle_instance_autotermination_minutes: ___,
    ...less
  } = full;
  const live = await only(pools, api, id);
  const found = diffsAfter(pools, live, "p", less, { applied: full });
  expect(found.map((diff) => diff.path[0])).toEqual([
    "min_idle_instances",
    "max_capacity",
    "idle_instance_autotermination_minutes",
  ]);
  await update(pools, api, live, "p", less, found);
  const { values } = await only(pools, api, id);
  expect(values.max_capacity).toBeUndefined();
  expect(values.min_idle_instances).toBe(0);
  expect(values.idle_instance_autotermination_minutes).toBe(60);
});

test("all but the four editable fields need another pool", async () => {
  const { api } = await startWorkspace();
  const live = await only(pools, api, await create(pools, api, "p", full));
  const moved = {
    node_type_id: "Standard_DS4_v2",
    min_idle_instances: 3,
    max_capacity: 51,
    idle_instance_autotermination_minutes: 16,
    enable_elastic_disk: true,
    disk_spec: { disk_type: { cloud_disk_volume_type: "PREMIUM_LRS" }, disk_count: 2, disk_size: 64 },
    preloaded_spark_versions: ["5.5.x-scala2.11"],
    custom_tags: { team: "ops" },
    instance_pool_name: "q",
  };
  const inPlace = diffs(pools, live, "p", moved).filter((diff) => !diff.replaces);
  expect(new Set(inPlace.map((diff) => diff.path[0]))).toEqual(
    new Set([
      "instance_pool_name",
      "min_idle_instances",
      "max_capacity",
      "idle_instance_autotermination_minutes",
    ]),
  );
});

test("renaming aside changes the name and nothing else", async () => {
  const { api } = await startWorkspace();
  const id = await create(pools, api, "shared", full);
  const live = await only(pools, api, id);
  await pools.operations.rename?.(api, { id, live, name: "shared (replaced t)" });
  const after = await only(pools, api, id);
  expect(after.values).toEqual({ ...live.values, instance_pool_name: "shared (replaced t)" });
});

test("answers in other forms mean the same: tags as a list, numbers as text, empty and absent members", async () => {
  const answer = {
    instance_pools: [
      {
        instance_pool_id: "p-1",
        instance_pool_name: "shared",
        ...base,
        min_idle_instances: "2",
        custom_tags: [{ key: "team", value: "data" }],
        disk_spec: {},
        preloaded_spark_versions: [],
        status: {},
        state: "ACTIVE",
      },
      { instance_pool_id: "p-2", instance_pool_name: "gone", state: "DELETED" },
    ],
  };
  const [live, ...more] = await listed(pools, scripted({ "instance-pools/list": answer }).api);
  expect(more).toEqual([]);
  const spec = { ...base, min_idle_instances: 2, custom_tags: { team: "data" } };
  expect(live === undefined ? undefined : diffs(pools, live, "shared", spec)).toEqual([]);
  expect(await listed(pools, scripted({ "instance-pools/list": {} }).api)).toEqual([]);
});

test("more idle instances than the pool may hold are refused", () => {
  expect(pools.planning.validate?.({ min_idle_instances: 3, max_capacity: 2 }, "p")).toHaveLength(1);
  expect(pools.planning.validate?.({ min_idle_instances: "${var.n}", max_capacity: 2 }, "p")).toEqual([]);
});

test("deleting a pool twice is fine", async () => {
  const { api } = await startWorkspace();
  const live = await only(pools, api, await create(pools, api, "p", base));
  await remove(pools, api, live);
  await remove(pools, api, live);
  expect(await pools.operations.read(api, live.id)).toBeUndefined();
});

test("deleting a pool reports the affected clusters and jobs, except deleted ones", () => {
  const pool = liveObject("shared", base, {}, "p-1");
  const member = (name: string, run_state: string) =>
    liveObject(name, { instance_pool_id: "p-1", run_state });
  const workspace = lookAt({
    live: {
      clusters: [member("up", "RUNNING"), member("down", "TERMINATED"), member("going", "RUNNING")],
      jobs: [
        liveObject("nightly", { new_cluster: { instance_pool_id: "p-1" } }),
        liveObject("of many tasks", {}, { used_ids: ["c-1", "p-1"] }),
        liveObject("elsewhere", {}, { used_ids: ["p-2"] }),
      ],
    },
    goes: ["clusters.going"],
  });
  expect(pools.planning.consequences?.(planned(pools, "delete", pool), workspace)).toEqual([
    "running clusters cannot grow until they leave the pool: up",
    "stopped clusters cannot start until they leave the pool: down",
    "jobs cannot create their clusters in it: nightly and of many tasks",
  ]);
  expect(
    pools.planning.consequences?.(planned(pools, "update", pool, { ...base, max_capacity: 1 }), workspace),
  ).toEqual([]);
});

test("a pool that has only the driver is in use: by clusters, job clusters, and clusters of tasks", () => {
  const pool = liveObject("shared", base, {}, "p-1");
  const drivers = { instance_pool_id: "p-2", driver_instance_pool_id: "p-1" };
  const workspace = lookAt({
    live: {
      clusters: [
        liveObject("up", { ...drivers, run_state: "RUNNING" }),
        liveObject("down", { ...drivers, run_state: "TERMINATED" }),
        liveObject("whole", { instance_pool_id: "p-1", run_state: "RUNNING" }),
        liveObject("workers", {
          instance_pool_id: "p-1",
          driver_instance_pool_id: "p-2",
          run_state: "RUNNING",
        }),
        liveObject("elsewhere", { instance_pool_id: "p-2", driver_instance_pool_id: "p-2" }),
      ],
      jobs: [
        liveObject("shared cluster", { job_clusters: [{ job_cluster_key: "k", new_cluster: drivers }] }),
        liveObject("task", { tasks: [{ task_key: "t", new_cluster: drivers }] }),
        liveObject("elsewhere", { new_cluster: { instance_pool_id: "p-2" } }),
      ],
    },
  });
  const users = [
    ...["cluster up", "cluster down", "cluster whole", "cluster workers"],
    ...["job shared cluster", "job task"],
  ];
  expect(pools.planning.keptWhileUsedBy?.(pool, workspace)).toEqual(users);
  const removed = planned(pools, "delete", pool);
  expect(pools.planning.harms?.(removed, workspace)).toEqual(users.map((user) => `${user} loses its pool`));
  expect(pools.planning.consequences?.(removed, workspace)).toEqual([
    "running clusters cannot grow until they leave the pool: whole and workers",
    "running clusters cannot restart until they leave the pool: up",
    "stopped clusters cannot start until they leave the pool: down",
    "jobs cannot create their clusters in it: shared cluster and task",
  ]);
});
