// For each kind: an update of one field keeps what this program does not know of a live object, and objects that it cannot
// manage are never adopted, changed, or deleted.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { registry } from "../../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../src/resource/dialect-view.ts";
import { doing, Site } from "../../engine/site.ts";
import { POLICY } from "../sample-site.ts";

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

type World = Site["world"];
type Body = Readonly<Record<string, unknown>>;

interface Case {
  /** Makes the object as another client would. Returns what identifies it. */
  readonly make: (world: World) => Promise<string>;
  readonly read: (world: World, id: string) => Promise<Body>;
  readonly spec: string;
  /** Of the live object, before and after every update. */
  readonly kept: Body;
  /** One after the other: each way in which the kind writes to a live object. */
  readonly updates: readonly Update[];
}

interface Update {
  readonly spec: string;
  /** Of the live object after the update. */
  readonly after: Body;
}

const NEW_CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const CLUSTER_EXTRA = {
  docker_image: { url: "registry.example.com/image" },
  workload_type: { clients: { notebooks: false, jobs: true } },
  azure_attributes: { availability: "SPOT_AZURE", log_analytics_info: { log_analytics_workspace_id: "w" } },
  policy_id: "ABC",
  data_security_mode: "SINGLE_USER",
};
const JOB_EXTRA = {
  tags: { team: "data" },
  run_as: { user_name: "ada@example.com" },
  webhook_notifications: { on_failure: [{ id: "w" }] },
  edit_mode: "UI_LOCKED",
  usage_policy_id: "u-1",
};
const TASK = {
  task_key: "load",
  compute: { hardware_accelerator: "GPU_1xA10" },
  new_cluster: { ...NEW_CLUSTER, ...CLUSTER_EXTRA },
  notebook_task: { notebook_path: "/Shared/load", source: "WORKSPACE" },
  libraries: [{ pypi: { package: "six" } }],
};

const post = async (world: World, path: string, body: Body): Promise<Body> => {
  const { status, body: answer } = await world.post(path, body);
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer as Body;
};
const control = async (world: World, name: string, body: Body): Promise<Body> =>
  (await world.control("POST", name, body)).body as Body;
const principal = (world: World, group: string) =>
  control(world, "service-principals", { application_id: "app", groups: [group] });

const clusters = (fields: string): string =>
  `clusters:\n  adhoc: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, ${fields} }\n`;

const JOB = `jobs:
  nightly:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: /Shared/load }
    libraries: [{ pypi: { package: six } }]
`;

const cases: Readonly<Record<string, Case>> = {
  pools: {
    make: async (w) =>
      String(
        (
          await post(w, "instance-pools/create", {
            instance_pool_name: "warm",
            node_type_id: "Standard_DS3_v2",
            custom_tags: { team: "data" },
            azure_attributes: { availability: "SPOT_AZURE", spot_bid_max_price: 1.5 },
            preloaded_docker_images: [{ url: "registry.example.com/image" }],
          })
        ).instance_pool_id,
      ),
    read: async (w, id) => (await w.get("instance-pools/get", { instance_pool_id: id })).body,
    spec: "pools:\n  warm: { node_type_id: Standard_DS3_v2, custom_tags: { team: data } }\n",
    kept: {
      custom_tags: { team: "data" },
      azure_attributes: { availability: "SPOT_AZURE", spot_bid_max_price: 1.5 },
      preloaded_docker_images: [{ url: "registry.example.com/image" }],
    },
    updates: [
      {
        spec: "pools:\n  warm: { node_type_id: Standard_DS3_v2, custom_tags: { team: data }, max_capacity: 7 }\n",
        after: { max_capacity: 7 },
      },
      {
        spec: "pools:\n  warm: { instance_pool_name: hot, node_type_id: Standard_DS3_v2, custom_tags: { team: data } }\n",
        after: { instance_pool_name: "hot" },
      },
    ],
  },
  clusters: {
    make: async (w) =>
      String(
        (await post(w, "clusters/create", { cluster_name: "adhoc", ...NEW_CLUSTER, ...CLUSTER_EXTRA }))
          .cluster_id,
      ),
    read: async (w, id) => (await w.get("clusters/get", { cluster_id: id })).body,
    spec: clusters("num_workers: 1"),
    kept: CLUSTER_EXTRA,
    updates: [
      { spec: clusters("num_workers: 1, spark_conf: { a.b: c }"), after: { spark_conf: { "a.b": "c" } } },
      { spec: clusters("num_workers: 3, spark_conf: { a.b: c }"), after: { num_workers: 3 } },
      {
        spec: clusters("num_workers: 2, spark_conf: { a.b: c }, run_state: TERMINATED, pinned: true"),
        after: { num_workers: 2, state: "TERMINATED" },
      },
      {
        spec: clusters(
          "num_workers: 2, run_state: RUNNING, init_scripts: [{ dbfs: { destination: dbfs:/c } }]",
        ),
        after: { state: "RUNNING", init_scripts: [{ dbfs: { destination: "dbfs:/c" } }] },
      },
    ],
  },
  jobs: {
    make: async (w) =>
      String(
        (await post(w, "/api/2.1/jobs/create", { name: "nightly", ...JOB_EXTRA, tasks: [TASK] })).job_id,
      ),
    read: async (w, id) => (await w.get("/api/2.1/jobs/get", { job_id: id })).body.settings,
    spec: JOB,
    kept: JOB_EXTRA,
    updates: [
      {
        spec: `${JOB}    timeout_seconds: 60\n`,
        after: { timeout_seconds: 60, tasks: [expect.objectContaining(TASK)] },
      },
      {
        spec: JOB.replace("num_workers: 1", "num_workers: 4"),
        after: {
          tasks: [expect.objectContaining({ ...TASK, new_cluster: { ...TASK.new_cluster, num_workers: 4 } })],
        },
      },
      {
        spec: JOB.replace("/Shared/load", "/Shared/store").replace("package: six", "package: seven"),
        after: {
          tasks: [
            expect.objectContaining({
              ...TASK,
              notebook_task: { notebook_path: "/Shared/store", source: "WORKSPACE" },
              libraries: [{ pypi: { package: "seven" } }],
            }),
          ],
        },
      },
    ],
  },
  groups: {
    make: async (w) => {
      const { id } = await post(w, "preview/scim/v2/Groups", {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
        displayName: "data",
        externalId: "x-1",
        entitlements: [{ value: "workspace-access" }],
        roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
      });
      await principal(w, "data");
      return String(id);
    },
    read: async (w, id) => (await w.get(`preview/scim/v2/Groups/${id}`)).body,
    spec: "users: { ada@example.com: {} }\ngroups:\n  data: { members: { users: [] } }\n",
    kept: {
      externalId: "x-1",
      roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
      members: expect.arrayContaining([
        expect.objectContaining({ $ref: expect.stringContaining("ServicePrincipals/") }),
      ]),
      entitlements: expect.arrayContaining([{ value: "workspace-access" }]),
    },
    updates: [
      {
        spec: "users: { ada@example.com: {} }\ngroups:\n  data: { members: { users: [ada@example.com] } }\n",
        after: {
          members: expect.arrayContaining([
            expect.objectContaining({ $ref: expect.stringContaining("Users/") }),
          ]),
        },
      },
      {
        spec: "users: { ada@example.com: {} }\ngroups: { data: { members: { users: [] } } }\n",
        after: {
          members: expect.not.arrayContaining([
            expect.objectContaining({ $ref: expect.stringContaining("Users/") }),
          ]),
        },
      },
      {
        spec: "users: { ada@example.com: { groups: [data] } }\ngroups: { data: {} }\n",
        after: {
          members: expect.arrayContaining([
            expect.objectContaining({ $ref: expect.stringContaining("Users/") }),
          ]),
        },
      },
      {
        spec: "users: { ada@example.com: { groups: [data-2] } }\ngroups: { data: { displayName: data-2 } }\n",
        after: { displayName: "data-2" },
      },
    ],
  },
  users: {
    make: async (w) =>
      String(
        (
          await post(w, "preview/scim/v2/Users", {
            schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
            userName: "ada@example.com",
            externalId: "x-2",
            name: { givenName: "Ada", familyName: "King" },
            entitlements: [{ value: "workspace-access" }],
            roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
          })
        ).id,
      ),
    read: async (w, id) => (await w.get(`preview/scim/v2/Users/${id}`)).body,
    spec: "users: { ada@example.com: { entitlements: [workspace-access] } }\n",
    kept: {
      externalId: "x-2",
      entitlements: expect.arrayContaining([{ value: "workspace-access" }]),
      roles: [{ value: "arn:aws:iam::1:instance-profile/p" }],
    },
    updates: [
      {
        spec: "users: { ada@example.com: { entitlements: [workspace-access], displayName: Countess } }\n",
        after: { displayName: "Countess", name: { givenName: "Ada", familyName: "King" } },
      },
      {
        spec: "users: { ada@example.com: { entitlements: [workspace-access], name: { givenName: A. } } }\n",
        after: { name: { givenName: "A.", familyName: "King" } },
      },
      {
        spec: "users: { ada@example.com: { entitlements: [workspace-access, allow-cluster-create] } }\n",
        after: {
          entitlements: expect.arrayContaining([
            { value: "workspace-access" },
            { value: "allow-cluster-create" },
          ]),
        },
      },
    ],
  },
};

/** Kinds whose updates write no object that could have other fields. */
const WITHOUT = new Set(["scopes", "acls", "secrets", "directories", "notebooks", "files"]);

test("every kind has a case, or no update that could lose a field", () => {
  const covered = new Set([...Object.keys(cases), ...WITHOUT]);
  const { kinds } = registryIn(registry, CONTRACT_FIELDS);
  expect(kinds.map(({ kind }) => kind).filter((kind) => !covered.has(kind))).toEqual([]);
});

test.each(Object.entries(cases))("%s keep unknown fields in an update of one field", async (_kind, one) => {
  const site = await start();
  const id = await one.make(site.world);
  await site.world.advance(600_000);
  const adopted = await site.spec(POLICY + one.spec);
  await site.drive(site.process().apply(adopted, { adopt: true }));
  expect(await one.read(site.world, id)).toMatchObject(one.kept);
  for (const { spec, after } of one.updates) {
    const changed = await site.spec(POLICY + spec);
    const plan = await site.drive(site.process().plan(changed));
    expect(doing(plan).map((change) => change.split(" ")[0])).toEqual(["update"]);
    await site.drive(site.process().apply(changed));
    await site.world.advance(600_000);
    const live = await one.read(site.world, id);
    expect(live).toMatchObject(after);
    expect(live).toMatchObject(one.kept);
    expect(doing(await site.drive(site.process().plan(changed)))).toEqual([]);
  }
});

describe("objects that this program cannot manage", () => {
  const several = {
    name: "etl",
    deployment: { kind: "BUNDLE" },
    tasks: [
      { ...TASK, task_key: "a" },
      { ...TASK, task_key: "b", depends_on: [{ task_key: "a" }] },
    ],
  };
  const spec = `jobs:
  etl: { new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }, notebook_task: { notebook_path: /a } }
`;
  const AUTHORITATIVE = "policy: { max_deletes: 100%, authoritative: [jobs, groups, clusters] }\n";

  const refused = async (work: Promise<unknown>): Promise<readonly string[]> => {
    const failure = (await work.catch((problem: unknown) => problem)) as Failure;
    return failure.diagnostics.map(({ code }) => code);
  };

  test("a job of a bundle survives an authoritative policy and is not adopted", async () => {
    const site = await start();
    const { job_id } = await post(site.world, "/api/2.1/jobs/create", several);
    await site.drive(site.process().apply(await site.spec(`${AUTHORITATIVE}users: {}\n`)));
    expect(await refused(site.drive(site.process().apply(await site.spec(spec), { adopt: true })))).toContain(
      "PLAN_UNMANAGEABLE",
    );
    const { body } = await site.world.get("/api/2.1/jobs/get", { job_id: Number(job_id) });
    expect(body.settings.tasks).toHaveLength(2);
  });

  test("a job that a bundle took is neither reset nor deleted", async () => {
    const site = await start();
    await site.drive(site.process().apply(await site.spec(spec)));
    const { jobs } = (await site.world.get("/api/2.1/jobs/list")).body;
    await post(site.world, "/api/2.1/jobs/reset", { job_id: jobs[0].job_id, new_settings: several });
    expect(await refused(site.drive(site.process().apply(await site.spec(spec))))).toContain(
      "PLAN_UNMANAGEABLE",
    );
    await site.drive(site.process().apply(await site.spec("users: {}\n")));
    const { body } = await site.world.get("/api/2.1/jobs/get", { job_id: jobs[0].job_id });
    expect(body.settings.tasks).toHaveLength(2);
    expect([...(await site.state()).records.keys()]).toEqual([]);
  });

  test("a group of the account and a cluster of a pipeline survive an authoritative policy", async () => {
    const site = await start();
    await control(site.world, "account-groups", { display_name: "company" });
    const { cluster_id } = await post(site.world, "clusters/create", { cluster_name: "p", ...NEW_CLUSTER });
    await control(site.world, "cluster-source", { cluster_id, cluster_source: "PIPELINE" });
    await site.drive(site.process().apply(await site.spec(`${AUTHORITATIVE}users: {}\n`)));
    const groups = (await site.world.get("preview/scim/v2/Groups")).body.Resources as readonly Body[];
    expect(groups.map(({ displayName }) => displayName)).toContain("company");
    expect((await site.world.get("clusters/get", { cluster_id: String(cluster_id) })).status).toBe(200);
    const taken = "groups: { company: {} }\n";
    expect(
      await refused(site.drive(site.process().apply(await site.spec(taken), { adopt: true }))),
    ).toContain("PLAN_UNMANAGEABLE");
  });

  test.each(["FILE", "REPO", "DASHBOARD"])(
    "a %s at the path of a declared notebook is neither overwritten, adopted, nor deleted",
    async (object_type) => {
      const site = await start();
      await site.world.post("workspace/mkdirs", { path: "/Shared" });
      await control(site.world, "workspace-objects", { path: "/Shared/load", object_type });
      writeFileSync(join(site.folder, "load.py"), "print(1)\n");
      const notebook = await site.spec("notebooks: { /Shared/load: { source: load.py } }\n");
      expect(await refused(site.drive(site.process().apply(notebook)))).toEqual(["PLAN_UNMANAGEABLE"]);
      expect(await refused(site.drive(site.process().apply(notebook, { adopt: true })))).toEqual([
        "PLAN_UNMANAGEABLE",
      ]);
      const { body } = await site.world.get("workspace/get-status", { path: "/Shared/load" });
      expect(body).toMatchObject({ object_type });
    },
  );

  test.each(["FILE", "REPO", "DASHBOARD"])(
    "a folder with a %s inside is not deleted",
    async (object_type) => {
      const site = await start();
      const folder = "directories: { /Shared/etl: {} }\n";
      await site.drive(site.process().apply(await site.spec(folder)));
      await control(site.world, "workspace-objects", { path: "/Shared/etl/x", object_type });
      const emptied = await site.spec("policy: { max_deletes: 100% }\nusers: {}\n");
      expect(await refused(site.drive(site.process().apply(emptied)))).toEqual(["GUARD_DATA_LOSS"]);
      expect((await site.world.get("workspace/get-status", { path: "/Shared/etl/x" })).body).toMatchObject({
        object_type,
      });
    },
  );
});
