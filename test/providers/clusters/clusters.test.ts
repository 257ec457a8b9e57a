// Clusters: the requests in each state; pins; the effects of a change on running work.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { clusters } from "../../../src/providers/clusters/clusters.ts";
import { pools } from "../../../src/providers/pools.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import {
  create,
  diffs,
  diffsAfter,
  listed,
  liveObject,
  lookAt,
  only,
  planned,
  refused,
  remove,
  scripted,
  startWorkspace,
  update,
} from "../workspace.ts";

const base = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const full: Values = {
  spark_version: "6.4.x-scala2.11",
  node_type_id: "Standard_DS3_v2",
  driver_node_type_id: "Standard_DS4_v2",
  autoscale: { min_workers: 1, max_workers: 4 },
  autotermination_minutes: 30,
  enable_elastic_disk: true,
  spark_conf: { "spark.speculation": true, "spark.task.cpus": 2 },
  spark_env_vars: { A: "1" },
  custom_tags: { team: "data" },
  cluster_log_conf: { fs: { destination: "fs:/logs" } },
  init_scripts: [{ fs: { destination: "fs:/init/a.sh" } }, { file: { destination: "/opt/b.sh" } }],
  ssh_public_keys: ["ssh-rsa AAAA"],
};

const operations = (sent: readonly { readonly operation: string }[]) => sent.map((one) => one.operation);

describe("reading and creating", () => {
  test("a cluster with every field reads back as requested, and has the token in a hidden tag", async () => {
    const { api, created } = await startWorkspace();
    const id = await create(clusters, api, "adhoc", full);
    const live = await only(clusters, api, id);
    expect(diffs(clusters, live, "adhoc", full)).toEqual([]);
    expect(live.facts.token).toBe("t0k3n");
    expect(live.values.custom_tags).toEqual({ team: "data" });
    expect(created).toEqual([]);
  });

  test("a cluster that leaves everything to the service shows no difference", async () => {
    const { api } = await startWorkspace();
    const live = await only(clusters, api, await create(clusters, api, "adhoc", base));
    expect(diffs(clusters, live, "adhoc", base)).toEqual([]);
    expect(diffsAfter(clusters, live, "adhoc", base, { applied: base, seen: live.values })).toEqual([]);
  });

  test("a member of a pool needs no node type, and may name the pool's", async () => {
    const { api } = await startWorkspace();
    const pool = await create(pools, api, "p", { node_type_id: "Standard_DS3_v2" });
    const member = { spark_version: "6.4.x-scala2.11", num_workers: 0, instance_pool_id: pool };
    for (const values of [
      member,
      { ...member, node_type_id: "Standard_DS3_v2", enable_elastic_disk: true },
    ]) {
      const live = await only(clusters, api, await create(clusters, api, "m", values));
      expect(diffs(clusters, live, "m", values)).toEqual([]);
    }
  });

  test("a pool member is written without a node type; where a service demands one, the pool's is looked up", async () => {
    const pool = { spark_version: "v", num_workers: 0, instance_pool_id: "p", node_type_id: "T" };
    const demanding = scripted({
      "clusters/create": (input) =>
        input.node_type_id === undefined ? refused(400, "INVALID_PARAMETER_VALUE") : { cluster_id: "c" },
      "instance-pools/get": { instance_pool_id: "p", node_type_id: "T" },
    });
    expect(await create(clusters, demanding.api, "m", pool)).toBe("c");
    const refusing = scripted({
      "clusters/create": (input) =>
        input.node_type_id === undefined ? { cluster_id: "c" } : refused(400, "INVALID_PARAMETER_VALUE"),
    });
    expect(await create(clusters, refusing.api, "m", pool)).toBe("c");
    expect(refusing.sent).toHaveLength(1);
  });

  test("an error of both requests is reported in the words of the first answer", async () => {
    const { api } = scripted({
      "clusters/create": [
        refused(400, "INVALID_PARAMETER_VALUE", "first"),
        refused(400, "INVALID_PARAMETER_VALUE", "second"),
      ],
      "instance-pools/get": { instance_pool_id: "p", node_type_id: "T" },
    });
    const values = { spark_version: "v", num_workers: 0, instance_pool_id: "p" };
    await expect(create(clusters, api, "m", values)).rejects.toMatchObject({
      diagnostic: { cause: "first" },
    });
  });

  test("a refusal that has nothing to do with a pool is not tried again", async () => {
    const { api, sent } = scripted({ "clusters/create": refused(400, "INVALID_PARAMETER_VALUE") });
    await expect(create(clusters, api, "m", base)).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });

  test("pinning, running and stopping come after the id is safe", async () => {
    for (const [extra, expected] of [
      [{ pinned: true }, ["clusters/create", "clusters/pin"]],
      [{ run_state: "RUNNING" }, ["clusters/create"]],
      [{ run_state: "TERMINATED" }, ["clusters/create", "clusters/delete"]],
    ] as const) {
      const { api, sent, created } = await startWorkspace();
      const values = { ...base, ...extra };
      const id = await create(clusters, api, "c", values);
      expect(operations(sent)).toEqual(expected);
      expect(created).toEqual([id]);
      expect(sent[0]?.input).not.toHaveProperty("pinned");
      expect(sent[0]?.input).not.toHaveProperty("run_state");
      expect(diffs(clusters, await only(clusters, api, id), "c", values)).toEqual([]);
    }
  });

  test("a cluster that ends instead of running fails the change and stays", async () => {
    const { api, sent } = scripted({
      "clusters/create": { cluster_id: "c" },
      "clusters/get": { cluster_id: "c", state: "TERMINATED", state_message: "no nodes" },
    });
    await expect(create(clusters, api, "c", { ...base, run_state: "RUNNING" })).rejects.toThrow(
      "terminated before it reached RUNNING",
    );
    expect(operations(sent)).toEqual(["clusters/create"]);
  });

  test("a recorded terminated cluster that is not in the list is read by ID; a deleted one is missing", async () => {
    const { api, reads } = scripted({
      "clusters/list": { clusters: [{ cluster_id: "a", cluster_name: "a", state: "RUNNING" }] },
      "clusters/get": (input) =>
        input.cluster_id === "b"
          ? { cluster_id: "b", cluster_name: "b", state: "TERMINATED" }
          : refused(400, "INVALID_PARAMETER_VALUE", "Cluster c does not exist"),
    });
    const ids = new Set(["a", "b", "c"]);
    const live = await clusters.operations.list(api, { parents: [], names: new Set(), ids });
    expect(live.map((one) => one.name)).toEqual(["a", "b"]);
    expect(reads).toHaveLength(3);
  });

  test("clusters of jobs cannot be managed", async () => {
    const answer = { clusters: [{ cluster_id: "j", cluster_source: "JOB", state: "RUNNING" }] };
    expect(await listed(clusters, scripted({ "clusters/list": answer }).api)).toEqual([]);
  });
});

describe("pins", () => {
  const shown = { cluster_id: "c", cluster_name: "c", state: "RUNNING", ...base };

  test("the event log is asked only for a cluster that is to be pinned and does not look so", async () => {
    const { api, reads } = scripted({ "clusters/events": { events: [{ type: "PINNED" }] } });
    const live = liveObject("c", { ...base, pinned: false });
    expect(await clusters.operations.readDetails?.(api, live, base)).toBe(live);
    expect(reads).toEqual([]);
    expect(
      (await clusters.operations.readDetails?.(api, live, { ...base, pinned: true }))?.values.pinned,
    ).toBe(true);
    expect(reads).toHaveLength(1);
  });

  test("one cluster read alone knows its pin as the list does", async () => {
    const { api } = await startWorkspace();
    const id = await create(clusters, api, "c", { ...base, pinned: true });
    expect((await only(clusters, api, id)).values).toEqual((await clusters.operations.read(api, id))?.values);
    await api.write("clusters/unpin", { cluster_id: id });
    expect((await clusters.operations.read(api, id))?.values.pinned).toBe(false);
  });

  test("a pin in the list needs no event log", async () => {
    const { api, reads } = scripted({ "clusters/get": { ...shown, pinned_by_user_name: "7" } });
    expect((await clusters.operations.read(api, liveObject("c", {}).id))?.values.pinned).toBe(true);
    expect(reads).toHaveLength(1);
  });
});

describe("changing", () => {
  test("a new size alone resizes a running cluster, and edits any other", async () => {
    for (const [state, step] of [
      ["RUNNING", "resize"],
      ["TERMINATED", "edit"],
    ] as const) {
      const { api, sent } = await startWorkspace();
      const id = await create(clusters, api, "c", { ...base, run_state: state });
      const live = (await clusters.operations.read(api, id)) ?? liveObject("c", {});
      sent.length = 0;
      for (const after of [
        { ...base, num_workers: 0 },
        { ...base, num_workers: undefined, autoscale: { min_workers: 1, max_workers: 2 } },
      ]) {
        const { num_workers, ...rest } = after;
        const values = num_workers === undefined ? rest : { ...rest, num_workers };
        expect(await update(clusters, api, live, "c", values)).toEqual([step]);
        expect(diffs(clusters, (await clusters.operations.read(api, id)) ?? live, "c", values)).toEqual([]);
      }
      expect(new Set(operations(sent))).toEqual(new Set([`clusters/${step}`]));
    }
  });

  test("an edit sends everything: the token, and what the service had decided", async () => {
    const { api, sent } = await startWorkspace();
    const id = await create(clusters, api, "c", { ...base, custom_tags: { a: "1" } });
    const live = await only(clusters, api, id);
    sent.length = 0;
    const after = { ...base, spark_env_vars: { A: "1" } };
    expect(await update(clusters, api, live, "c", after)).toEqual(["edit"]);
    expect(sent[0]?.input).toEqual({
      cluster_id: id,
      cluster_name: "c",
      ...base,
      spark_env_vars: { A: "1" },
      enable_elastic_disk: false,
      custom_tags: { WorkspaceToken: "t0k3n" },
    });
    const now = await only(clusters, api, id);
    expect(diffs(clusters, now, "c", after)).toEqual([]);
    expect(now.facts.token).toBe("t0k3n");
  });

  test("a starting cluster is edited once it runs", async () => {
    const { api } = await startWorkspace();
    const id = await create(clusters, api, "c", base);
    const live = await only(clusters, api, id);
    expect(live.facts.state).toBe("PENDING");
    const after = { ...base, autotermination_minutes: 10 };
    await update(clusters, api, live, "c", after);
    expect(diffs(clusters, await only(clusters, api, id), "c", after)).toEqual([]);
  });

  test("a state that moves between the look and the edit is waited for again, and not for ever", async () => {
    const live = liveObject("c", { ...base, cluster_name: "c", pinned: false }, { state: "RUNNING" });
    const get = { "clusters/get": { cluster_id: "c", state: "RUNNING" } };
    const once = scripted({ ...get, "clusters/edit": [refused(400, "INVALID_STATE"), {}] });
    await update(clusters, once.api, live, "c", { ...base, autotermination_minutes: 10 });
    expect(operations(once.sent)).toEqual(["clusters/edit", "clusters/edit"]);
    const always = scripted({ ...get, "clusters/edit": refused(400, "INVALID_STATE") });
    await expect(
      update(clusters, always.api, live, "c", { ...base, autotermination_minutes: 10 }),
    ).rejects.toThrow();
    expect(always.sent).toHaveLength(3);
  });

  test("a resize of a cluster that has stopped meanwhile becomes an edit", async () => {
    const live = liveObject("c", { ...base, cluster_name: "c", pinned: false }, { state: "RUNNING" });
    const running = { cluster_id: "c", state: "RUNNING" };
    const stopped = { cluster_id: "c", state: "TERMINATED" };
    const { api, sent } = scripted({
      "clusters/get": [running, stopped, stopped],
      "clusters/resize": refused(400, "INVALID_STATE"),
      "clusters/edit": {},
    });
    await update(clusters, api, live, "c", { ...base, num_workers: 3 });
    expect(operations(sent)).toEqual(["clusters/resize", "clusters/edit"]);
    expect(sent[0]?.input).toEqual({ cluster_id: "c", num_workers: 3 });
  });

  test("a resize refused while the cluster runs on is tried again: an edit would restart it", async () => {
    const live = liveObject("c", { ...base, cluster_name: "c", pinned: false }, { state: "RUNNING" });
    const { api, sent } = scripted({
      "clusters/get": { cluster_id: "c", state: "RUNNING" },
      "clusters/resize": [refused(400, "INVALID_STATE"), {}],
    });
    await update(clusters, api, live, "c", { ...base, num_workers: 3 });
    expect(operations(sent)).toEqual(["clusters/resize", "clusters/resize"]);
  });

  test("a stop comes before the edit, a start after it", async () => {
    const { api, sent } = await startWorkspace();
    const id = await create(clusters, api, "c", { ...base, run_state: "RUNNING" });
    const down = { ...base, run_state: "TERMINATED", spark_env_vars: { A: "1" } };
    const running = (await clusters.operations.read(api, id)) ?? liveObject("c", {});
    sent.length = 0;
    expect(await update(clusters, api, running, "c", down)).toEqual(["terminate", "edit"]);
    const stopped = (await clusters.operations.read(api, id)) ?? running;
    expect(diffs(clusters, stopped, "c", down)).toEqual([]);
    const up = { ...base, run_state: "RUNNING", pinned: true };
    expect(await update(clusters, api, stopped, "c", up)).toEqual(["edit", "pin", "start"]);
    expect(diffs(clusters, (await clusters.operations.read(api, id)) ?? running, "c", up)).toEqual([]);
  });

  test("an unmanaged state is not a difference", async () => {
    const { api } = await startWorkspace();
    const id = await create(clusters, api, "c", base);
    await api.write("clusters/delete", { cluster_id: id });
    expect(diffs(clusters, await only(clusters, api, id), "c", base)).toEqual([]);
  });
});

describe("removing", () => {
  test("a running, a stopped, a pinned and a missing cluster are removed", async () => {
    for (const extra of [{}, { run_state: "TERMINATED" }, { pinned: true }] as JsonObject[]) {
      const { world, api } = await startWorkspace();
      const id = await create(clusters, api, "c", { ...base, ...extra });
      const live = await only(clusters, api, id);
      await remove(clusters, api, live);
      await world.advance(10_000);
      expect(await clusters.operations.read(api, id)).toBeUndefined();
      await remove(clusters, api, live);
    }
  });

  test("a pin that was not known is taken off when the service refuses", async () => {
    const { api, sent } = await startWorkspace();
    const id = await create(clusters, api, "c", { ...base, pinned: true });
    sent.length = 0;
    await remove(clusters, api, liveObject("c", base, {}, id));
    expect(operations(sent)).toEqual([
      "clusters/permanent-delete",
      "clusters/unpin",
      "clusters/permanent-delete",
    ]);
  });
});

describe("checks", () => {
  const codes = (values: Values) =>
    clusters.planning.validate?.(values, "c").map((one) => [one.code, one.path.join(".")]);

  test("values that the contract excludes are reported with their location", () => {
    expect(codes(base)).toEqual([]);
    expect(codes({ ...base, num_workers: 0 })).toEqual([]);
    const { num_workers: _, ...sizeless } = base;
    expect(codes(sizeless)).toEqual([["SPEC_COMBINATION", ""]]);
    expect(codes({ ...base, autoscale: { min_workers: 1, max_workers: 2 } })).toEqual([
      ["SPEC_COMBINATION", "num_workers"],
    ]);
    expect(codes({ ...sizeless, autoscale: { min_workers: 2, max_workers: 2 } })).toEqual([
      ["SPEC_COMBINATION", "autoscale.max_workers"],
    ]);
    for (const minutes of [0, 10, 10_000])
      expect(codes({ ...base, autotermination_minutes: minutes })).toEqual([]);
    expect(codes({ ...base, autotermination_minutes: 9 })).toEqual([
      ["SPEC_VALUE", "autotermination_minutes"],
    ]);
    expect(codes({ spark_version: "v", num_workers: 0 })).toEqual([["SPEC_MISSING_FIELD", ""]]);
    expect(codes({ ...base, init_scripts: [{}] })).toEqual([["SPEC_COMBINATION", "init_scripts.0"]]);
  });

  test("an init script in the file system is needed by its path", () => {
    expect(clusters.planning.dependencies?.("c", full)).toEqual([{ kind: "files", name: "/init/a.sh" }]);
  });
});

describe("consequences", () => {
  const live = liveObject("c", { ...base, cluster_name: "c", pinned: false }, { state: "RUNNING" });
  const activeRuns: readonly JsonObject[] = [
    { run_id: 1, cluster_instance: { cluster_id: "c" } },
    { run_id: 2, cluster_spec: { existing_cluster_id: "c" } },
    { run_id: 3, cluster_spec: { existing_cluster_id: "other" } },
  ];
  const jobs = [liveObject("nightly", { existing_cluster_id: "c" })];

  test("an edit of a running cluster restarts it and stops its runs; a resize does nothing of the kind", () => {
    const edit = planned(clusters, "update", live, { ...base, spark_env_vars: { A: "1" } });
    expect(clusters.planning.neededFacts?.(edit, lookAt({}))).toEqual(["activeRuns"]);
    expect(clusters.planning.consequences?.(edit, lookAt({ activeRuns, live: { jobs } }))).toEqual([
      "the cluster is running and restarts to apply the changes",
      "2 active runs on it stop",
    ]);
    const resize = planned(clusters, "update", live, { ...base, num_workers: 2 });
    expect(clusters.planning.neededFacts?.(resize, lookAt({}))).toEqual([]);
    expect(clusters.planning.consequences?.(resize, lookAt({ activeRuns }))).toEqual([]);
  });

  test("a stop and a removal tell whom they hit", () => {
    const stop = planned(clusters, "update", live, { ...base, run_state: "TERMINATED" });
    expect(clusters.planning.consequences?.(stop, lookAt({ activeRuns: [] }))).toEqual([
      "the cluster is running and is terminated",
    ]);
    const removal = planned(clusters, "delete", live);
    const others = [...jobs, liveObject("of many tasks", {}, { used_ids: ["c"] })];
    expect(
      clusters.planning.consequences?.(removal, lookAt({ activeRuns: [], live: { jobs: others } })),
    ).toContain("jobs that run on it: nightly and of many tasks");
    expect(clusters.planning.neededFacts?.(removal, lookAt({}))).toEqual(["activeRuns"]);
    expect(clusters.planning.consequences?.(removal, lookAt({ activeRuns, live: { jobs } }))).toEqual([
      "the cluster is running and is permanently deleted",
      "2 active runs on it stop",
      "jobs that run on it: nightly",
    ]);
  });

  test("changing a stopped cluster interrupts no work", () => {
    const stopped = liveObject("c", live.values, { state: "TERMINATED" });
    const edit = planned(clusters, "update", stopped, { ...base, spark_env_vars: { A: "1" } });
    expect(clusters.planning.neededFacts?.(edit, lookAt({}))).toEqual([]);
    expect(clusters.planning.consequences?.(edit, lookAt({}))).toEqual([]);
  });
});
