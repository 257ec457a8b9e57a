// For each field that only the Databricks dialect has: schema, explain, apply, plan, export, adoption, and an update.

import { describe, expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { listKinds } from "../../../src/engine/observe/list-kinds.ts";
import { registry } from "../../../src/providers/index.ts";
import { yamlText } from "../../../src/report/text/yaml.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../../src/resource/field-schema.ts";
import { exportSpec } from "../../../src/spec/export/document.ts";
import { contextWith } from "../../cli/context.ts";
import { doing, results, Site } from "../../engine/site.ts";

type Cloud = FieldDialect["cloud"];
type Body = Readonly<Record<string, unknown>>;

interface Case {
  readonly cloud: Cloud;
  readonly field: string;
  /** Two values, as YAML in flow style and as JSON. */
  readonly first: Body | string;
  readonly second: Body | string;
}

const one = (cloud: Cloud, field: string, first: Body | string, second: Body | string): Case => ({
  cloud,
  field,
  first,
  second,
});
const script = (cloud: Cloud, place: string, first: string, second: string): Case => ({
  cloud,
  field: "init_scripts",
  first: [{ [place]: { destination: first } }] as unknown as Body,
  second: [{ [place]: { destination: second } }, { file: { destination: "/c.sh" } }] as unknown as Body,
});

const CLUSTER: readonly Case[] = [
  one(
    "azure",
    "azure_attributes",
    { availability: "SPOT_WITH_FALLBACK_AZURE", first_on_demand: 1, spot_bid_max_price: 0.5 },
    { availability: "ON_DEMAND_AZURE", first_on_demand: 2, spot_bid_max_price: -1 },
  ),
  one(
    "aws",
    "aws_attributes",
    { availability: "SPOT", zone_id: "auto", instance_profile_arn: "arn:aws:iam::1:instance-profile/a" },
    { availability: "ON_DEMAND", zone_id: "us-west-2b", first_on_demand: 1, spot_bid_price_percent: 80 },
  ),
  one(
    "gcp",
    "gcp_attributes",
    { availability: "PREEMPTIBLE_GCP", local_ssd_count: 1 },
    { availability: "ON_DEMAND_GCP", local_ssd_count: 2, zone_id: "auto" },
  ),
  one("azure", "policy_id", "ABC", "DEF"),
  one("azure", "data_security_mode", "SINGLE_USER", "USER_ISOLATION"),
  one("azure", "single_user_name", "ada@example.com", "bo@example.com"),
  one("azure", "runtime_engine", "STANDARD", "PHOTON"),
  one("azure", "data_security_mode", "DATA_SECURITY_MODE_AUTO", "NONE"),
  one("azure", "kind", "CLASSIC_PREVIEW", "OTHER_KIND"),
  one("azure", "docker_image", { url: "registry.example.com/a" }, { url: "registry.example.com/b" }),
  one(
    "azure",
    "workload_type",
    { clients: { jobs: false, notebooks: true } },
    { clients: { jobs: true, notebooks: false } },
  ),
  one(
    "azure",
    "worker_node_type_flexibility",
    { alternate_node_type_ids: ["Standard_D4ds_v5"] },
    { alternate_node_type_ids: ["Standard_D8ds_v5", "Standard_D4ds_v5"] },
  ),
  one(
    "azure",
    "driver_node_type_flexibility",
    { alternate_node_type_ids: ["Standard_D4ds_v5"] },
    { alternate_node_type_ids: ["Standard_E4ds_v5"] },
  ),
  script("azure", "workspace", "/Shared/a.sh", "/Shared/b.sh"),
  script("azure", "volumes", "/Volumes/a/b/a.sh", "/Volumes/a/b/b.sh"),
  script("azure", "abfss", "abfss://c@a.dfs.core.windows.net/a.sh", "abfss://c@a.dfs.core.windows.net/b.sh"),
  script("azure", "dbfs", "dbfs:/a.sh", "dbfs:/b.sh"),
  script("aws", "s3", "s3://bucket/a.sh", "s3://bucket/b.sh"),
  script("gcp", "gcs", "gs://bucket/a.sh", "gs://bucket/b.sh"),
  one(
    "azure",
    "cluster_log_conf",
    { volumes: { destination: "/Volumes/a/b/logs" } },
    { dbfs: { destination: "dbfs:/logs" } },
  ),
  one(
    "aws",
    "cluster_log_conf",
    { s3: { destination: "s3://bucket/logs", region: "us-west-2" } },
    { s3: { destination: "s3://bucket/other", region: "us-west-1" } },
  ),
];

const JOB: readonly Case[] = [
  one("azure", "tags", { team: "data", env: "dev" }, { team: "web" }),
  one("azure", "description", "Loads the data.", "Loads more data."),
  one("azure", "webhook_notifications", { on_failure: [{ id: "w" }] }, { on_start: [{ id: "v" }] }),
  one(
    "azure",
    "schedule",
    { quartz_cron_expression: "0 0 1 * * ?", timezone_id: "UTC", pause_status: "PAUSED" },
    { quartz_cron_expression: "0 0 1 * * ?", timezone_id: "UTC", pause_status: "UNPAUSED" },
  ),
  one(
    "azure",
    "trigger",
    { file_arrival: { url: "/Volumes/a/b/c/", min_time_between_triggers_seconds: 60 } },
    { table_update: { table_names: ["a.b.c"], condition: "ALL_UPDATED" } },
  ),
  one(
    "azure",
    "trigger",
    { periodic: { interval: 2, unit: "DAYS" } },
    { periodic: { interval: 1, unit: "WEEKS" } },
  ),
  one(
    "azure",
    "continuous",
    { pause_status: "PAUSED", task_retry_mode: "NEVER" },
    { pause_status: "UNPAUSED", task_retry_mode: "ON_FAILURE" },
  ),
  one("azure", "queue", { enabled: true }, { enabled: false }),
  one("azure", "run_as", { user_name: "admin@example.com" }, { service_principal_name: "b7a0c1d2-0000" }),
  one(
    "azure",
    "health",
    { rules: [{ metric: "RUN_DURATION_SECONDS", op: "GREATER_THAN", value: 60 }] },
    { rules: [{ metric: "STREAMING_BACKLOG_FILES", op: "GREATER_THAN", value: 5 }] },
  ),
  one(
    "azure",
    "notification_settings",
    { no_alert_for_canceled_runs: true, no_alert_for_skipped_runs: false },
    { no_alert_for_canceled_runs: false, no_alert_for_skipped_runs: true },
  ),
  one("azure", "performance_target", "STANDARD", "PERFORMANCE_OPTIMIZED"),
  one("azure", "budget_policy_id", "b-1", "b-2"),
];

/** Fields that other tests try: references, flags, and fields with another form in requests. */
const ELSEWHERE = [
  ...["driver_instance_pool_id", "is_single_node", "use_ml_runtime", "apply_policy_default_values"],
  ...["tasks", "task_key", "job_clusters", "environments", "parameters", "git_source"],
];

const POOL: readonly Case[] = [
  one(
    "azure",
    "azure_attributes",
    { availability: "SPOT_AZURE", spot_bid_max_price: 0.5 },
    { availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 },
  ),
  one(
    "aws",
    "aws_attributes",
    { availability: "SPOT", zone_id: "us-west-2a", spot_bid_price_percent: 80 },
    { availability: "ON_DEMAND", zone_id: "us-west-2b", spot_bid_price_percent: 100 },
  ),
  one(
    "gcp",
    "gcp_attributes",
    { gcp_availability: "PREEMPTIBLE_GCP", local_ssd_count: 1 },
    { gcp_availability: "ON_DEMAND_GCP", local_ssd_count: 2 },
  ),
];

/** The service fills in members that nothing sets. */
const matching = (value: Body | string): unknown =>
  typeof value === "string" || Array.isArray(value) ? value : expect.objectContaining(value);

const SIZE = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
const POLICY = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
const flow = (kind: string, values: Body): string => `${POLICY}${kind}: { it: ${JSON.stringify(values)} }\n`;

async function start(cloud: Cloud): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  return site;
}

async function exported(site: Site): Promise<string> {
  const { reader } = site.process().client;
  const kinds = new Set(["pools", "clusters", "jobs"]);
  const live = await site.drive(
    listKinds({ registry: registryIn(registry, site.dialect), reader, kinds, parallelism: 4 }),
  );
  const views = registryIn(registry, site.dialect);
  const { document } = exportSpec({
    registry: views,
    live,
    kinds,
    builtIn: false,
    full: false,
    secrets: false,
  });
  return POLICY + yamlText(document, []);
}

interface Life {
  readonly site: Site;
  readonly first: string;
  readonly second: string;
  /** The live object. */
  readonly read: (site: Site) => Promise<Body>;
}

/** Applies, exports, adopts, and updates. Returns the live object after the first and the second spec. */
async function lifeOf({ site, first, second, read }: Life): Promise<readonly [Body, Body]> {
  const apply = async (text: string): Promise<void> => {
    const { outcome } = await site.drive(site.process().apply(await site.spec(text)));
    expect(results(outcome).filter((result) => !result.startsWith("applied "))).toEqual([]);
    await site.world.advance(600_000);
    expect(doing(await site.drive(site.process().plan(await site.spec(text))))).toEqual([]);
  };
  await apply(first);
  const before = await read(site);
  const other = new Site(site.world);
  onTestFinished(() => other.close());
  other.dialect = site.dialect;
  const spec = await other.spec(await exported(site));
  const adoption = await other.drive(other.process().plan(spec, { adopt: true }));
  expect(adoption.diagnostics).toEqual([]);
  expect(doing(adoption).filter((change) => !change.startsWith("adopt "))).toEqual([]);
  await apply(second);
  return [before, await read(site)];
}

async function explained(cloud: Cloud, what: string): Promise<string> {
  const context = contextWith({ WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: cloud });
  expect(await runProgram(context, ["explain", what])).toBe(0);
  return context.out();
}

const titled = (cases: readonly Case[]): readonly [string, Case][] =>
  cases.map((each) => [`${each.field} on ${each.cloud}: ${JSON.stringify(each.first).slice(0, 40)}`, each]);

const clusterIn = async (site: Site): Promise<Body> => {
  const { cluster_id } = (await site.world.get("clusters/list")).body.clusters[0];
  return (await site.world.get("clusters/get", { cluster_id })).body;
};
const jobIn = async (site: Site): Promise<Body> =>
  (await site.world.get("/api/2.1/jobs/list", { expand_tasks: true })).body.jobs[0].settings;
const poolIn = async (site: Site): Promise<Body> =>
  (await site.world.get("instance-pools/list")).body.instance_pools[0];
const newClusterIn = async (site: Site): Promise<Body> => {
  const { tasks } = (await jobIn(site)) as { tasks: readonly { new_cluster: Body }[] };
  return tasks[0]?.new_cluster ?? {};
};

describe.each(titled(CLUSTER))("clusters: %s", (_title, { cloud, field, first, second }) => {
  test("is explained, created, exported, adopted, and updated in place", async () => {
    expect(await explained(cloud, `clusters.${field}`)).toContain(field);
    const at = (value: Body | string): string => flow("clusters", { ...SIZE, [field]: value });
    const site = await start(cloud);
    const [before, after] = await lifeOf({ site, first: at(first), second: at(second), read: clusterIn });
    expect(before[field]).toEqual(matching(first));
    expect(after[field]).toEqual(matching(second));
    expect(after.cluster_id).toBe(before.cluster_id);
  });

  test("does the same for the cluster of a job", async () => {
    expect(await explained(cloud, `jobs.new_cluster.${field}`)).toContain(field);
    const at = (value: Body | string): string =>
      flow("jobs", {
        new_cluster: { ...SIZE, [field]: value },
        notebook_task: { notebook_path: "/Shared/a" },
      });
    const site = await start(cloud);
    const [before, after] = await lifeOf({ site, first: at(first), second: at(second), read: newClusterIn });
    expect(before[field]).toEqual(matching(first));
    expect(after[field]).toEqual(matching(second));
  });
});

describe.each(titled(JOB))("jobs: %s", (_title, { cloud, field, first, second }) => {
  test("is explained, created, exported, adopted, and updated in place", async () => {
    expect(await explained(cloud, `jobs.${field}`)).toContain(field);
    const at = (value: Body | string): string =>
      flow("jobs", { new_cluster: SIZE, notebook_task: { notebook_path: "/Shared/a" }, [field]: value });
    const site = await start(cloud);
    const [before, after] = await lifeOf({ site, first: at(first), second: at(second), read: jobIn });
    expect(before[field]).toEqual(first);
    expect(after[field]).toEqual(second);
  });
});

describe.each(titled(POOL))("pools: %s", (_title, { cloud, field, first, second }) => {
  test("is explained, created, exported, adopted, and replaced", async () => {
    expect(await explained(cloud, `pools.${field}`)).toContain("Cannot be changed in place");
    const at = (value: Body | string): string =>
      flow("pools", { node_type_id: "Standard_DS3_v2", [field]: value });
    const site = await start(cloud);
    const [before, after] = await lifeOf({ site, first: at(first), second: at(second), read: poolIn });
    expect(before[field]).toEqual(matching(first));
    expect(after[field]).toEqual(matching(second));
  });
});

test("driver_instance_pool_id is a reference, and survives an export and an adoption", async () => {
  const site = await start("azure");
  const spec = (pool: string): string => `${POLICY}pools:
  workers: { node_type_id: Standard_DS3_v2 }
  drivers: { node_type_id: Standard_DS4_v2 }
clusters:
  it:
    spark_version: 6.4.x-scala2.11
    num_workers: 1
    instance_pool_id: \${pools.workers.instance_pool_id}
    driver_instance_pool_id: \${pools.${pool}.instance_pool_id}
`;
  const [before, after] = await lifeOf({
    site,
    first: spec("drivers"),
    second: spec("workers"),
    read: clusterIn,
  });
  expect(before.driver_instance_pool_id).not.toBe(before.instance_pool_id);
  expect(after.driver_instance_pool_id).toBe(after.instance_pool_id);
});

test("destinations of notifications that this program does not know survive an update of others", async () => {
  const site = await start("azure");
  const at = (on_failure: readonly Body[]): string =>
    flow("jobs", {
      new_cluster: SIZE,
      notebook_task: { notebook_path: "/Shared/a" },
      webhook_notifications: { on_failure },
    });
  await site.drive(site.process().apply(await site.spec(at([{ id: "a" }]))));
  const [{ job_id, settings }] = (await site.world.get("/api/2.1/jobs/list", { expand_tasks: true })).body
    .jobs;
  const unknown = { on_maintenance_start: [{ id: "slow" }] };
  const webhook_notifications = { ...settings.webhook_notifications, ...unknown };
  const { format: _, ...rest } = settings;
  await site.world.post("/api/2.1/jobs/reset", { job_id, new_settings: { ...rest, webhook_notifications } });
  await site.drive(site.process().apply(await site.spec(at([{ id: "b" }]))));
  expect((await jobIn(site)).webhook_notifications).toEqual({ on_failure: [{ id: "b" }], ...unknown });
});

test("a single node is created, exported, and adopted without what the service adds, and gets workers", async () => {
  const site = await start("azure");
  const { num_workers: _, ...rest } = SIZE;
  const single = {
    ...rest,
    kind: "CLASSIC_PREVIEW",
    is_single_node: true,
  };
  const [before, after] = await lifeOf({
    site,
    first: flow("clusters", { ...single, spark_conf: { a: "b" } }),
    second: flow("clusters", {
      ...SIZE,
      kind: "CLASSIC_PREVIEW",
      is_single_node: false,
      use_ml_runtime: true,
    }),
    read: clusterIn,
  });
  expect(before).toMatchObject({
    num_workers: 0,
    spark_conf: { a: "b", "spark.master": "local[*]" },
    custom_tags: { ResourceClass: "SingleNode" },
  });
  expect(after).toMatchObject({ num_workers: 1, use_ml_runtime: true });
  expect(after.spark_conf).toBeUndefined();
});

test.each([
  ["DATA_SECURITY_MODE_STANDARD", "USER_ISOLATION"],
  ["DATA_SECURITY_MODE_DEDICATED", "SINGLE_USER"],
])("the mode %s is the mode %s", async (alias, mode) => {
  const site = await start("azure");
  const at = (data_security_mode: string) => flow("clusters", { ...SIZE, data_security_mode });
  await site.drive(site.process().apply(await site.spec(at(alias))));
  expect((await clusterIn(site)).data_security_mode).toBe(mode);
  for (const word of [alias, mode])
    expect(doing(await site.drive(site.process().plan(await site.spec(at(word)))))).toEqual([]);
});

test("no field of a dialect is without a case", () => {
  const fieldsOf = (kind: string, cloud: Cloud): readonly string[] => {
    const contract = registryIn(registry, CONTRACT_FIELDS).get(kind).fields;
    const own = registryIn(registry, { dialect: "databricks", cloud }).get(kind).fields;
    // Access lists have tests of their own.
    return Object.keys(own).filter(
      (field) => contract[field] === undefined && own[field]?.separateRequest !== true,
    );
  };
  const tested: Readonly<Record<string, readonly Case[]>> = { clusters: CLUSTER, jobs: JOB, pools: POOL };
  const lacking = (["azure", "aws", "gcp"] as const).flatMap((cloud) =>
    Object.entries(tested).flatMap(([kind, cases]) =>
      fieldsOf(kind, cloud)
        .filter((field) => !ELSEWHERE.includes(field))
        .filter((field) => !cases.some((each) => each.field === field))
        .map((field) => `${kind}.${field} on ${cloud}`),
    ),
  );
  expect(lacking).toEqual([]);
});
