// A saved plan that would harm more than it showed, because a person changed the workspace after it was made: nothing is written, through the real program and a service on loopback.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../../src/emulator/server.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const TOKEN = "admin-token";
const POLICY = "policy: { max_deletes: 100% }\npools: { keep: { node_type_id: Standard_DS3_v2 } }\n";
const CLUSTER = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";

let server: RunningServer | undefined;
afterEach(() => server?.close());

interface Site {
  readonly api: (path: string, body?: object) => Promise<Readonly<Record<string, never>>>;
  readonly run: (line: string) => Promise<{ readonly code: number; readonly all: string }>;
}

/** Applies a spec, then plans another one into p.plan. */
async function planned(
  before: string,
  after: string,
  options = "",
  prepare = async (_: Site) => {},
  policy = POLICY,
  dialect?: "databricks",
): Promise<Site> {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN, dialect });
  const { url } = server;
  const folder = folderWith(policy + before);
  const env = {
    WORKSPACE_HOST: url,
    WORKSPACE_TOKEN: TOKEN,
    WORKSPACE_STATE: join(folder, "state"),
    K: "value",
    ...(dialect === undefined ? {} : { WORKSPACE_DIALECT: dialect, WORKSPACE_CLOUD: "azure" }),
  };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, all: context.out() + context.err() };
  };
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const api = async (path: string, body?: object) => {
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/2.0/${path}`, init);
    expect(answer.status).toBeLessThan(300);
    return (await answer.json()) as Readonly<Record<string, never>>;
  };
  expect(await run("apply --auto-approve")).toMatchObject({ code: 0 });
  await prepare({ api, run });
  writeFileSync(join(folder, "workspace.yaml"), policy + after);
  expect(await run(`plan --out p.plan${options}`)).toMatchObject({ code: 0 });
  return { api, run };
}

/** Stops or starts the cluster, and waits for its state. */
const reach = async ({ api }: Site, path: string, state: string): Promise<void> => {
  const { clusters } = (await api("clusters/list")) as { readonly clusters?: unknown };
  const { cluster_id: id } = (clusters as readonly Readonly<Record<string, never>>[])[0] ?? {};
  await api(path, { cluster_id: id });
  const stateOf = async () => (await api(`clusters/get?cluster_id=${id}`)).state;
  await expect.poll(stateOf, { timeout: 20_000 }).toBe(state);
};

/** A plan that deletes a warehouse, and the requests that stop, start, and count warehouses. */
async function plannedWarehouse(isStopped = false) {
  const find = async ({ api }: Site) => {
    const { warehouses = [] } = (await api("sql/warehouses")) as { readonly warehouses?: unknown };
    return warehouses as readonly Readonly<Record<string, never>>[];
  };
  const move = async (site: Site, to: "start" | "stop") => {
    const [warehouse] = await find(site);
    await site.api(`sql/warehouses/${warehouse?.id}/${to}`, {});
  };
  const spec = "warehouses: { w: { cluster_size: Small, auto_stop_mins: 10 } }\n";
  const prepare = async (site: Site) => {
    if (isStopped) await move(site, "stop");
  };
  const site = await planned(spec, "", "", prepare, POLICY, "databricks");
  return {
    ...site,
    stop: () => move(site, "stop"),
    start: () => move(site, "start"),
    count: async () => (await find(site)).length,
  };
}

const SCOPE = "scopes: { s: { secrets: { k: { env: K } }, acls: { users: READ } } }\n";

describe("a saved plan is refused with nothing written", () => {
  test.each([
    ["", ""],
    [" --destroy", SCOPE],
    [" --only scopes.*", ""],
  ])(
    "if a secret would be lost that a person put into a scope that it deletes, made with%s",
    async (options, after) => {
      const { api, run } = await planned(SCOPE, after, options);
      await api("secrets/put", { scope: "s", key: "mine", string_value: "mine" });
      const { code, all } = await run("apply p.plan");
      expect(code).toBe(4);
      expect(all).toMatch(/error PLAN_LIVE_MOVED: scopes\.s would do more than the plan showed: .*mine/);
      expect(await api("secrets/list?scope=s")).toMatchObject({ secrets: [{ key: "k" }, { key: "mine" }] });
    },
  );

  test.each([
    [
      "a right was given on",
      { principal: "admins", permission: "MANAGE" },
      "admins loses MANAGE on the scope",
    ],
    ["a right was raised on", { principal: "users", permission: "WRITE" }, "users loses WRITE on the scope"],
  ])("if %s a scope that it deletes", async (_, right, harm) => {
    const { api, run } = await planned(SCOPE, "");
    await api("secrets/acls/put", { scope: "s", ...right });
    const { code, all } = await run("apply p.plan");
    expect(code).toBe(4);
    expect(all).toContain(`error PLAN_LIVE_MOVED: scopes.s would do more than the plan showed: ${harm}`);
    expect(await api("secrets/scopes/list")).toMatchObject({ scopes: [{ name: "s" }] });
  });

  test("if a job runs by now on a terminated cluster that it deletes", async () => {
    const site = await planned(`clusters: { c: { ${CLUSTER} } }\n`, "", "", (created) =>
      reach(created, "clusters/delete", "TERMINATED"),
    );
    const { clusters } = (await site.api("clusters/list")) as { readonly clusters?: unknown };
    const [cluster] = clusters as readonly Readonly<Record<string, never>>[];
    const notebook_task = { notebook_path: "/Shared/n" };
    await site.api("jobs/create", {
      name: "mine",
      existing_cluster_id: cluster?.cluster_id,
      notebook_task,
    });
    const { code, all } = await site.run("apply p.plan");
    expect(code).toBe(4);
    expect(all).toContain("clusters.c would do more than the plan showed: the job mine loses its cluster");
  }, 60_000);

  test("if a cluster uses by now a pool that it deletes", async () => {
    const { api, run } = await planned(
      "pools: { p: { node_type_id: Standard_DS3_v2 } }\n",
      "",
      "",
      undefined,
      "policy: { max_deletes: 100% }\ngroups: { g: {} }\n",
    );
    const { instance_pools: pools } = (await api("instance-pools/list")) as {
      readonly instance_pools?: unknown;
    };
    const [pool] = pools as readonly Readonly<Record<string, never>>[];
    const cluster = { cluster_name: "mine", spark_version: "6.4.x-scala2.11", num_workers: 0 };
    await api("clusters/create", { ...cluster, instance_pool_id: pool?.instance_pool_id });
    const { code, all } = await run("apply p.plan");
    expect(code).toBe(4);
    expect(all).toContain("pools.p would do more than the plan showed: cluster mine loses its pool");
  });

  test("if a cluster uses a pool by now that it replaces", async () => {
    const policy = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
    const pool = (type: string) => `pools: { p: { node_type_id: ${type} } }\n`;
    const { api, run } = await planned(
      pool("Standard_DS3_v2"),
      pool("Standard_DS4_v2"),
      "",
      undefined,
      policy,
    );
    const pools = async () =>
      (await api("instance-pools/list")).instance_pools as unknown as readonly Record<string, never>[];
    const [old] = await pools();
    const cluster = { cluster_name: "mine", spark_version: "6.4.x-scala2.11", num_workers: 0 };
    await api("clusters/create", { ...cluster, instance_pool_id: old?.instance_pool_id });
    const { code, all } = await run("apply p.plan");
    expect(code).toBe(4);
    expect(all).toContain("pools.p would do more than the plan showed: the old object is in use now");
    expect(await pools()).toHaveLength(1);
    expect(await run("plan --out p.plan")).toMatchObject({ code: 0 });
    expect(await run("apply p.plan")).toMatchObject({ code: 0 });
    expect(await pools()).toHaveLength(2);
  });

  test("if a cluster has only its driver by now in a pool that it replaces", async () => {
    const policy = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
    const pool = (type: string) => `pools: { p: { node_type_id: ${type} } }\n`;
    const { api, run } = await planned(
      pool("Standard_DS3_v2"),
      pool("Standard_DS4_v2"),
      "",
      undefined,
      policy,
      "databricks",
    );
    const pools = async () =>
      (await api("instance-pools/list")).instance_pools as unknown as readonly Record<string, never>[];
    const [old] = await pools();
    await api("instance-pools/create", { instance_pool_name: "w", node_type_id: "Standard_DS3_v2" });
    const [workers] = (await pools()).filter(({ instance_pool_name: name }) => name === "w");
    await api("clusters/create", {
      cluster_name: "mine",
      spark_version: "6.4.x-scala2.11",
      num_workers: 1,
      instance_pool_id: workers?.instance_pool_id,
      driver_instance_pool_id: old?.instance_pool_id,
    });
    const { code, all } = await run("apply p.plan");
    expect(code).toBe(4);
    expect(all).toContain("pools.p would do more than the plan showed: the old object is in use now");
    expect(await pools()).toHaveLength(2);
    expect(await run("plan --out p.plan")).toMatchObject({ code: 0 });
    expect(await run("apply p.plan")).toMatchObject({ code: 0 });
    expect(await pools()).toHaveLength(3);
  });

  test("if the secrets of a scope that it deletes cannot be read at the apply", async () => {
    const { api, run } = await planned(SCOPE, "");
    await api("secrets/put", { scope: "s", key: "mine", string_value: "mine" });
    const rules = [
      { path: "/api/2.0/secrets/list", fate: "status", status: 403, error_code: "PERMISSION_DENIED" },
    ];
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const faults = (method: string, body?: string) =>
      fetch(`${server?.url}/__emulator/faults`, { method, headers, ...(body === undefined ? {} : { body }) });
    expect((await faults("PUT", JSON.stringify({ rules }))).status).toBe(200);
    const { code, all } = await run("apply p.plan");
    expect([code, all]).toEqual([1, expect.stringContaining("error PLAN_UNREADABLE: ")]);
    await faults("DELETE");
    expect(await api("secrets/list?scope=s")).toMatchObject({ secrets: [{ key: "k" }, { key: "mine" }] });
  });

  test.each([
    ["ada", [], ["bo"]],
    ["ada", ["cy"], ["bo", "di"]],
  ])("if a member was added to a group that it deletes: %s %s %s", async (_, before, added) => {
    const names = ["ada", "bo", "cy", "di"].map((name) => `  ${name}@example.com: {}\n`).join("");
    const add = ({ api }: Site, members: readonly string[]) =>
      Promise.all(
        members.map((name) =>
          api("groups/add-member", { parent_name: "g", user_name: `${name}@example.com` }),
        ),
      );
    const users = `users:\n${names}`;
    const site = await planned(`groups: { g: {} }\n${users}`, users, "", async (site) => {
      await add(site, before);
    });
    await add(site, added);
    const { code, all } = await site.run("apply p.plan");
    expect(code).toBe(4);
    for (const name of added)
      expect(all).toContain(
        `groups.g would do more than the plan showed: user ${name}@example.com loses the rights of the group`,
      );
    const { members } = (await site.api("groups/list-members?group_name=g")) as {
      readonly members?: unknown;
    };
    expect(members).toHaveLength(before.length + added.length);
  });

  test("if a warehouse runs that it deletes and that was stopped", async () => {
    const { start, count, run } = await plannedWarehouse(true);
    await start();
    const { code, all } = await run("apply p.plan");
    expect([code, all]).toEqual([4, expect.stringContaining("error PLAN_LIVE_MOVED: warehouses.w ")]);
    expect(await count()).toBe(1);
  });

  test("if a cluster runs that it deletes and that was terminated", async () => {
    const site = await planned(`clusters: { c: { ${CLUSTER} } }\n`, "", "", (site) =>
      reach(site, "clusters/delete", "TERMINATED"),
    );
    await reach(site, "clusters/start", "RUNNING");
    const { code, all } = await site.run("apply p.plan");
    expect([code, all]).toEqual([4, expect.stringContaining("error PLAN_LIVE_MOVED: clusters.c ")]);
  }, 60_000);

  test("if a cluster that was terminated runs, and would restart", async () => {
    const spec = (more: string) => `clusters: { c: { ${CLUSTER}${more} } }\n`;
    const site = await planned(spec(""), spec(', spark_conf: { a: "1" }'), "", (site) =>
      reach(site, "clusters/delete", "TERMINATED"),
    );
    await reach(site, "clusters/start", "RUNNING");
    const { code, all } = await site.run("apply p.plan");
    expect([code, all]).toEqual([
      4,
      expect.stringContaining("clusters.c would do more than the plan showed: "),
    ]);
  }, 60_000);
});

test.each(["", " --destroy", " --only scopes.*"])(
  "a saved plan made with%s is applied if nothing else changed",
  async (options) => {
    const { run } = await planned(SCOPE, options === " --destroy" ? SCOPE : "", options);
    expect(await run("apply p.plan")).toMatchObject({ code: 0, all: expect.stringContaining("deleted") });
  },
);

test("a saved plan is applied also if a cluster that it restarts has terminated by then", async () => {
  const site = await planned(
    `clusters: { c: { ${CLUSTER} } }\n`,
    `clusters: { c: { ${CLUSTER}, spark_conf: { a: "1" } } }\n`,
  );
  await reach(site, "clusters/delete", "TERMINATED");
  expect(await site.run("apply p.plan")).toMatchObject({
    code: 0,
    all: expect.stringContaining("1 updated"),
  });
}, 60_000);

test("a saved plan that deletes a running warehouse is applied after the warehouse stopped", async () => {
  const { stop, count, run } = await plannedWarehouse();
  await stop();
  expect(await run("apply p.plan")).toMatchObject({ code: 0, all: expect.stringContaining("1 deleted") });
  expect(await count()).toBe(0);
});

test("a saved plan that deletes a running cluster is applied after a person stopped the cluster", async () => {
  const site = await planned(`clusters: { c: { ${CLUSTER} } }\n`, "");
  await reach(site, "clusters/delete", "TERMINATED");
  expect(await site.run("apply p.plan")).toMatchObject({
    code: 0,
    all: expect.stringContaining("1 deleted"),
  });
}, 60_000);

test("a saved plan that replaces a scope creates the secrets and access lists in it again", async () => {
  const policy =
    "policy: { max_deletes: 100%, on_immutable_change: replace }\npools: { keep: { node_type_id: Standard_DS3_v2 } }\n";
  const scope = (more: string) =>
    `${policy}scopes: { s: { ${more}secrets: { k: { env: K } }, acls: { users: READ } } }\n`;
  const site = await planned(scope(""), scope("initial_manage_principal: users, "), "", undefined, "");
  expect(await site.run("apply p.plan")).toMatchObject({
    code: 0,
    all: expect.stringContaining("1 replaced"),
  });
  expect((await site.run("plan")).all).toContain("No changes");
});

test("a replaced pool is kept while a cluster keeps its driver in it, which a person set", async () => {
  const spec = (type: string, workers: number) => `policy: { max_deletes: 100%, on_immutable_change: replace }
pools: { p: { node_type_id: ${type} }, w: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: ${workers}, instance_pool_id: "\${pools.w.instance_pool_id}" } }
`;
  const { api, run } = await planned(
    spec("Standard_DS3_v2", 1),
    spec("Standard_DS4_v2", 2),
    "",
    async (site) => {
      const { instance_pools: pools } = (await site.api("instance-pools/list")) as unknown as {
        instance_pools: Pool[];
      };
      const { clusters } = (await site.api("clusters/list")) as unknown as {
        clusters: { cluster_id: string }[];
      };
      const idOf = (name: string) => pools.find((pool) => pool.instance_pool_name === name)?.instance_pool_id;
      await reach(site, "clusters/delete", "TERMINATED");
      await site.api("clusters/edit", {
        cluster_id: clusters[0]?.cluster_id,
        cluster_name: "c",
        spark_version: "6.4.x-scala2.11",
        num_workers: 1,
        instance_pool_id: idOf("w"),
        driver_instance_pool_id: idOf("p"),
      });
    },
    "",
    "databricks",
  );
  expect(await run("apply p.plan")).toMatchObject({ code: 0 });
  const { clusters } = (await api("clusters/list")) as unknown as {
    clusters: { driver_instance_pool_id: string }[];
  };
  const { instance_pools: left } = (await api("instance-pools/list")) as unknown as {
    instance_pools: Pool[];
  };
  expect(left.map(({ instance_pool_id }) => instance_pool_id)).toContain(
    clusters[0]?.driver_instance_pool_id,
  );
}, 60_000);

interface Pool {
  readonly instance_pool_id: string;
  readonly instance_pool_name: string;
}
