// References to warehouses, notification destinations, and instance profiles from jobs and clusters in the Databricks dialect.

import { expect, onTestFinished, test } from "vitest";
import { listKinds } from "../../src/engine/observe/list-kinds.ts";
import { registry } from "../../src/providers/index.ts";
import { registryIn } from "../../src/resource/dialect-view.ts";
import { exportSpec } from "../../src/spec/export/document.ts";
import { doing, results, Site } from "../engine/site.ts";

async function start(cloud: "azure" | "aws"): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  return site;
}

async function apply(site: Site, yaml: string) {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
}

async function exported(site: Site, kinds: readonly string[]): Promise<string> {
  const described = registryIn(registry, site.dialect);
  const all = new Set(kinds);
  const { reader } = site.process().client;
  const live = await site.drive(listKinds({ registry: described, reader, kinds: all, parallelism: 2 }));
  const options = { builtIn: false, full: false, secrets: false };
  return JSON.stringify(exportSpec({ registry: described, live, kinds: all, ...options }).document);
}

const REFERENCES = ["${warehouses.queries.id}", "${notification_destinations.on-call.id}"] as const;

const JOB = `
warehouses: { queries: { cluster_size: Small } }
notification_destinations: { on-call: { destination_type: EMAIL, addresses: [ada@example.com] } }
jobs:
  report:
    webhook_notifications: { on_failure: [{ id: "${REFERENCES[1]}" }] }
    tasks:
      sql: { sql_task: { warehouse_id: "${REFERENCES[0]}", file: { path: /Shared/a.sql } } }
      notebook: { notebook_task: { notebook_path: /a, warehouse_id: "${REFERENCES[0]}" }, webhook_notifications: { on_start: [{ id: "${REFERENCES[1]}" }] } }
      board: { dashboard_task: { dashboard_id: d, warehouse_id: "${REFERENCES[0]}", subscription: { subscribers: [{ destination_id: "${REFERENCES[1]}" }] } } }
`;

test("a job refers to warehouses and destinations of the same apply, and an export writes the references", async () => {
  const site = await start("azure");
  expect(await apply(site, JOB)).toHaveLength(3);
  const after = await site.drive(site.process().plan(await site.spec(JOB)));
  expect([doing(after), after.drift]).toEqual([[], []]);
  const document = await exported(site, ["warehouses", "notification_destinations", "jobs"]);
  for (const [reference, places] of [
    [REFERENCES[0], 3],
    [REFERENCES[1], 3],
  ] as const)
    expect(document.split(reference)).toHaveLength(places + 1);
});

test("a plan that deletes a warehouse names the jobs that run on it", async () => {
  const site = await start("azure");
  await apply(site, JOB);
  const records = [...(await site.state()).records.values()];
  const warehouse_id = records.find(({ name }) => name === "queries")?.id;
  const task = { task_key: "t", sql_task: { warehouse_id, file: { path: "/a" } } };
  await site.world.post("/api/2.1/jobs/create", { name: "others", tasks: [task] });
  const spec = await site.spec("policy: { max_deletes: 100% }\nusers: {}\n");
  const { changes } = await site.drive(site.process().plan(spec));
  const deletion = changes.find(({ kind }) => kind === "warehouses");
  expect(deletion).toMatchObject({
    action: "delete",
    consequences: ["the warehouse is running, and its queries stop", "jobs that run on it: others"],
  });
});

const ARN = "arn:aws:iam::123456789012:instance-profile/etl";

test.each([
  ["etl", `{ instance_profile_arn: "${ARN}", skip_validation: true }`],
  [ARN, "{ skip_validation: true }"],
])("a cluster refers to the instance profile %s of the same apply", async (key, profile) => {
  const site = await start("aws");
  const yaml = `
instance_profiles: { "${key}": ${profile} }
clusters:
  c: { spark_version: 15.4.x-scala2.12, node_type_id: i3.xlarge, num_workers: 1, aws_attributes: { instance_profile_arn: "\${instance_profiles.${key}.instance_profile_arn}" } }
`;
  expect(await apply(site, yaml)).toEqual([
    `applied create instance_profiles.${key}`,
    "applied create clusters.c",
  ]);
  expect(doing(await site.drive(site.process().plan(await site.spec(yaml))))).toEqual([]);
  expect(await exported(site, ["instance_profiles", "clusters"])).toMatch(
    /\$\{instance_profiles\.[^}]*instance_profile_arn\}/,
  );
});

test("a name where an ID belongs is reported", async () => {
  const site = await start("azure");
  const yaml = JOB.replaceAll(REFERENCES[0], "${warehouses.queries.name}");
  await expect(site.spec(yaml)).rejects.toThrow("must be the ID of a SQL warehouse");
});
