// A service with an unknown field in every object of its answers: a write that replaces a whole object repeats all of them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../../src/api/http/transport.ts";
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { listKinds } from "../../../src/engine/observe/list-kinds.ts";
import { registry } from "../../../src/providers/index.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import { exportSpec } from "../../../src/spec/export/document.ts";
import { doing, type Send, Site } from "../../engine/site.ts";
import { POLICY } from "../sample-site.ts";

type Body = Readonly<Record<string, unknown>>;

const UNKNOWN = "x_unknown";
const VALUE = { deep: [{ a: null, b: [] }, "s3cret"] };

/** Maps whose keys belong to the user. */
const MAPS = new Set([
  "spark_conf",
  "spark_env_vars",
  "custom_tags",
  "default_tags",
  "tags",
  "base_parameters",
  UNKNOWN,
]);

function withUnknown(value: Json): Json {
  if (Array.isArray(value)) return value.map(withUnknown);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    MAPS.has(name) ? member : withUnknown(member),
  ]);
  return { ...Object.fromEntries(members), [UNKNOWN]: VALUE };
}

/** Paths of objects in a request that lack the unknown field. */
function lacking(value: Json, path = "body"): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => lacking(one, `${path}[${at}]`));
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    MAPS.has(name) ? [] : lacking(member, `${path}.${name}`),
  );
  return [...(value[UNKNOWN] === undefined ? [path] : []), ...inside];
}

interface Case {
  readonly create: string;
  readonly body: Body;
  /** The request that replaces the object, and the part of it that comes from the live object. */
  readonly write: string;
  readonly part: (body: JsonObject) => Json;
  readonly before: string;
  readonly after: string;
  /** A field of the body that the kind does not have. */
  readonly unmanaged: string;
  /** The unknown fields that an export names too. */
  readonly lost: readonly string[];
}

const CLUSTER = {
  spark_version: "6.4.x-scala2.11",
  node_type_id: "Standard_DS3_v2",
  autoscale: { min_workers: 1, max_workers: 2 },
  spark_conf: { "a.b": "c" },
  custom_tags: { team: "data" },
  azure_attributes: { availability: "SPOT_AZURE", first_on_demand: 1, spot_bid_max_price: -1 },
  cluster_log_conf: { dbfs: { destination: "dbfs:/logs" } },
  init_scripts: [{ workspace: { destination: "/i.sh" } }, { volumes: { destination: "/Volumes/j.sh" } }],
  remote_disk_throughput: 200,
};
const lostOfCluster = (within: string) =>
  [
    "autoscale",
    "azure_attributes",
    "cluster_log_conf",
    "cluster_log_conf.dbfs",
    "init_scripts",
    "init_scripts.workspace",
    "init_scripts.volumes",
  ]
    .map((field) => `${within}${field}.x_unknown`)
    .concat(`${within}x_unknown`);
const CLUSTER_SPEC = `{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, autoscale: { min_workers: 1, max_workers: 2 },
      spark_conf: { a.b: c }, custom_tags: { team: data }, cluster_log_conf: { dbfs: { destination: "dbfs:/logs" } },
      init_scripts: [{ workspace: { destination: /i.sh } }, { volumes: { destination: /Volumes/j.sh } }]`;

const JOB = `jobs:
  etl:
    new_cluster: ${CLUSTER_SPEC} }
    notebook_task: { notebook_path: /etl, base_parameters: { a: b } }
    libraries: [{ pypi: { package: six } }, { maven: { coordinates: "g:a:1" } }]
    schedule: { quartz_cron_expression: "0 0 1 * * ?", timezone_id: UTC }
    email_notifications: { on_failure: [a@example.com] }
    webhook_notifications: { on_failure: [{ id: w }] }
    tags: { team: data }
`;

const cases: Readonly<Record<string, Case>> = {
  pools: {
    create: "instance-pools/create",
    body: {
      instance_pool_name: "warm",
      node_type_id: "Standard_DS3_v2",
      azure_attributes: { availability: "SPOT_AZURE", spot_bid_max_price: -1 },
      preloaded_docker_images: [{ url: "registry.example.com/image" }],
    },
    write: "instance-pools/edit",
    part: (body) => body,
    before: "pools: { warm: { node_type_id: Standard_DS3_v2 } }\n",
    after: "pools: { warm: { node_type_id: Standard_DS3_v2, max_capacity: 7 } }\n",
    unmanaged: "preloaded_docker_images",
    lost: ["azure_attributes.x_unknown", "x_unknown"],
  },
  clusters: {
    create: "clusters/create",
    body: { cluster_name: "adhoc", ...CLUSTER },
    write: "clusters/edit",
    part: (body) => body,
    before: `clusters:\n  adhoc: ${CLUSTER_SPEC} }\n`,
    after: `clusters:\n  adhoc: ${CLUSTER_SPEC}, autotermination_minutes: 30 }\n`,
    unmanaged: "remote_disk_throughput",
    lost: lostOfCluster(""),
  },
  jobs: {
    create: "/api/2.1/jobs/create",
    body: {
      name: "etl",
      tasks: [
        {
          task_key: "main",
          new_cluster: CLUSTER,
          notebook_task: { notebook_path: "/etl", base_parameters: { a: "b" } },
          libraries: [{ pypi: { package: "six" } }, { maven: { coordinates: "g:a:1" } }],
        },
      ],
      schedule: { quartz_cron_expression: "0 0 1 * * ?", timezone_id: "UTC" },
      email_notifications: { on_failure: ["a@example.com"] },
      webhook_notifications: { on_failure: [{ id: "w" }] },
      tags: { team: "data" },
    },
    write: "jobs/reset",
    part: ({ new_settings = null }) => new_settings,
    before: JOB,
    after: `${JOB}    timeout_seconds: 60\n`,
    unmanaged: "new_cluster.remote_disk_throughput",
    lost: [
      ...lostOfCluster("new_cluster."),
      "notebook_task.x_unknown",
      "libraries.x_unknown",
      "libraries.pypi.x_unknown",
      "libraries.maven.x_unknown",
      "schedule.x_unknown",
      "email_notifications.x_unknown",
      "webhook_notifications.x_unknown",
      "webhook_notifications.on_failure.x_unknown",
      "tasks.x_unknown",
      "x_unknown",
    ],
  },
};

test.each(Object.entries(cases))(
  "%s are exported with a warning that names every unknown field",
  async (kind, one) => {
    const site = await Site.start("azure");
    onTestFinished(() => site.close());
    const { status, body } = await site.world.post(one.create, one.body);
    if (status >= 300) throw new Error(JSON.stringify(body));
    const exported = async (isUnknown: boolean) => {
      const transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
        const response = await send(request);
        return isUnknown && response.status === 200 && /\/(list|get)(\?|$)/.test(request.path)
          ? { ...response, body: JSON.stringify(withUnknown(JSON.parse(String(response.body)))) }
          : response;
      };
      const { reader } = site.process({ transport }).client;
      const kinds = new Set([kind]);
      const live = await site.drive(
        listKinds({ registry: registryIn(registry, site.dialect), reader, kinds, parallelism: 2 }),
      );
      const described = registryIn(registry, { dialect: "databricks", cloud: "azure" });
      return exportSpec({ registry: described, live, kinds, builtIn: false, full: false, secrets: false });
    };
    const plain = await exported(false);
    expect(plain.losses).toEqual({ objects: 0, fields: 1 });
    expect(plain.diagnostics[0]?.message).toContain(`without ${one.unmanaged}, which`);
    const { diagnostics, losses, addresses } = await exported(true);
    expect(diagnostics.map(({ code, severity, address }) => [code, severity, address])).toEqual(
      addresses.map((address) => ["EXPORT_INCOMPLETE", "warning", address]),
    );
    expect(losses).toEqual({ objects: 0, fields: one.lost.length + 1 });
    for (const field of [one.unmanaged, ...one.lost]) expect(diagnostics[0]?.message).toContain(field);
    expect(JSON.stringify(diagnostics)).not.toContain("s3cret");
  },
);

test.each(Object.entries(cases))("%s keep unknown fields of every object inside", async (_kind, one) => {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  const { status, body } = await site.world.post(one.create, one.body);
  if (status >= 300) throw new Error(JSON.stringify(body));
  await site.world.advance(600_000);
  const written: JsonObject[] = [];
  const transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    if (request.path.endsWith(one.write)) written.push(JSON.parse(String(request.body)));
    const response = await send(request);
    const shown = response.status === 200 && /\/(list|get)(\?|$)/.test(request.path);
    return shown
      ? { ...response, body: JSON.stringify(withUnknown(JSON.parse(String(response.body)))) }
      : response;
  };
  const process = () => site.process({ transport });
  await site.drive(process().apply(await site.spec(POLICY + one.before), { adopt: true }));
  const changed = await site.spec(POLICY + one.after);
  const plan = await site.drive(process().plan(changed));
  expect(doing(plan).map((change) => change.split(" ")[0])).toEqual(["update"]);
  await site.drive(process().apply(changed));
  expect(written.map(one.part).flatMap((part) => lacking(part))).toEqual([]);
  expect(written).toHaveLength(1);
  expect(doing(await site.drive(process().plan(changed)))).toEqual([]);
  expect(JSON.stringify(plan)).not.toContain("s3cret");
});

/** Their answers have no object: values by key, an access list, and an order. */
const WITHOUT_OBJECTS = new Set(["workspace_conf", "authorizations", "global_init_script_order"]);

test("every kind of the dialect is exported with a warning about an unknown field of its objects", async () => {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  site.env = { K: "v" };
  writeFileSync(join(site.folder, "a.py"), "print(1)\n");
  const spec = await site.spec(`${POLICY}users: { a@example.com: {} }
groups: { g: {} }
scopes: { s: { acls: { g: READ }, secrets: { k: { env: K } } } }
pools: { p: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }
jobs: { j: { new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }, notebook_task: { notebook_path: /n/a } } }
directories: { /n: {} }
notebooks: { /n/a: { source: a.py } }
files: { /f/a: { source: a.py } }
workspace_files: { /n/a.txt: { source: a.py } }
service_principals: { sp: {} }
ip_access_lists: { l: { list_type: BLOCK, ip_addresses: [192.0.2.0/24] } }
notification_destinations: { d: { destination_type: EMAIL, addresses: [a@example.com] } }
git_credentials: { gitHub: { git_username: ada } }
global_init_scripts: { i: { script: "echo 1" } }
cluster_policies: { q: { definition: { num_workers: { type: range, maxValue: 4 } } } }
warehouses: { w: { cluster_size: Small } }
repos: { /Repos/a/b: { url: "https://github.com/example/b.git", provider: gitHub } }
`);
  await site.drive(site.process().apply(spec));
  await site.world.control("POST", "account-groups", { display_name: "all-analysts" });
  await site.world.advance(600_000);
  const transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    const response = await send(request);
    return request.method === "GET" && response.status === 200
      ? { ...response, body: JSON.stringify(withUnknown(JSON.parse(String(response.body)))) }
      : response;
  };
  const { reader } = site.process({ transport }).client;
  const here = registryIn(registry, site.dialect).kinds.filter(({ kind }) => !WITHOUT_OBJECTS.has(kind));
  const kinds = new Set(here.map(({ kind }) => kind));
  const live = await site.drive(
    listKinds({ registry: registryIn(registry, site.dialect), reader, kinds, parallelism: 2 }),
  );
  const described = registryIn(registry, { dialect: "databricks", cloud: "azure" });
  const found = exportSpec({ registry: described, live, kinds, builtIn: true, full: false, secrets: true });
  const incomplete = found.diagnostics.filter(({ message }) => message.includes(UNKNOWN));
  expect(incomplete.map(({ address }) => address).sort()).toEqual([...found.addresses].sort());
  expect(new Set(found.objects.map(({ provider }) => provider.kind))).toEqual(kinds);
});

test("a job is exported with a warning about unknown settings and unknown fields of its task", async () => {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  const { create, body } = cases.jobs ?? { create: "", body: {} };
  expect(await site.world.post(create, body)).toMatchObject({ status: 200 });
  const transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    const response = await send(request);
    if (!/jobs\/(list|get)(\?|$)/.test(request.path)) return response;
    const text = String(response.body)
      .replace('"task_key"', '"compute":{"hardware_accelerator":"GPU_1xA10"},"timeout_seconds":0,"task_key"')
      .replace('"tags"', '"triggers":[{"periodic":{}}],"edit_mode":"UI_LOCKED","tags"');
    return { ...response, body: text };
  };
  const { reader } = site.process({ transport }).client;
  const kinds = new Set(["jobs"]);
  const live = await site.drive(
    listKinds({ registry: registryIn(registry, site.dialect), reader, kinds, parallelism: 2 }),
  );
  const described = registryIn(registry, { dialect: "databricks", cloud: "azure" });
  const found = exportSpec({ registry: described, live, kinds, builtIn: false, full: false, secrets: false });
  expect(found.diagnostics.map(({ message }) => message)).toEqual([
    "jobs.etl is exported without edit_mode, new_cluster.remote_disk_throughput, tasks.compute and triggers, which a spec cannot express",
  ]);
  expect(found.losses).toEqual({ objects: 0, fields: 4 });
});
