// Crashes of a whole apply at each of its steps: the next run finishes the work, with nothing double, lost or left open.

import { afterEach, expect, test } from "vitest";
import { doom } from "./crashing.ts";
import { doing, Site } from "./site.ts";

const FIRST = `
policy: { on_immutable_change: replace, max_deletes: 100% }
users:
  ada@example.com: { entitlements: [allow-cluster-create] }
groups:
  data-eng: { members: { users: [ada@example.com] } }
scopes:
  etl:
    acls: { data-eng: READ }
    secrets:
      db-password: { env: DB_PASSWORD }
pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: 50 }
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: 2
    pinned: true
jobs:
  nightly:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, instance_pool_id: "\${pools.shared.instance_pool_id}" }
    notebook_task: { notebook_path: /Shared/etl/nightly }
    schedule: { quartz_cron_expression: "0 30 2 * * ?", timezone_id: Europe/Paris }
`;
const SECOND = FIRST.replace("max_capacity: 50", "max_capacity: 50, enable_elastic_disk: false")
  .replace("num_workers: 2", "num_workers: 3")
  .replace("data-eng: READ", "data-eng: WRITE")
  .replace("0 30 2", "0 45 2")
  .replace("DB_PASSWORD }", "OTHER_PASSWORD }")
  .replace("[allow-cluster-create]", "[]");
const NOTHING = "policy: { max_deletes: 100% }\nusers: {}\n";

const sites: Site[] = [];
afterEach(() => {
  for (const site of sites.splice(0)) site.close();
});

async function siteAt(before: string | undefined): Promise<Site> {
  const site = await Site.start();
  sites.push(site);
  site.env = { DB_PASSWORD: "first", OTHER_PASSWORD: "second" };
  if (before !== undefined) await site.drive(site.process().apply(await site.spec(before)));
  return site;
}

/** Names of everything of ours that is live, sorted; a thing made twice shows twice. */
async function inventory(site: Site): Promise<readonly string[]> {
  // What the service removes in the background is gone by then.
  await site.world.advance(10 * 60_000);
  const list = async (path: string, key: string, name: (item: never) => string) =>
    ((await site.world.get(path)).body[key] ?? []).map((item: never) => `${path} ${name(item)}`);
  return [
    ...(await list(
      "preview/scim/v2/Users",
      "Resources",
      (one: { userName: string; active?: boolean }) => `${one.userName} ${one.active}`,
    )),
    ...(await list("preview/scim/v2/Groups", "Resources", (one: { displayName: string }) => one.displayName)),
    ...(await list("secrets/scopes/list", "scopes", (one: { name: string }) => one.name)),
    ...(await list(
      "instance-pools/list",
      "instance_pools",
      (one: { instance_pool_name: string }) => one.instance_pool_name,
    )),
    ...(await list("clusters/list", "clusters", (one: { cluster_name: string }) => one.cluster_name)),
    ...(await list("jobs/list", "jobs", (one: { settings: { name: string } }) => one.settings.name)),
  ].sort();
}

async function crashEverywhere(
  before: string | undefined,
  after: string,
  powerCut: boolean,
): Promise<number> {
  const calm = await siteAt(before);
  const counted = doom();
  await calm.drive(calm.process({ ...counted.options, parallelism: 1 }).apply(await calm.spec(after)));
  const wanted = await inventory(calm);
  const failures: string[] = [];
  for (let at = 0; at < counted.points.length; at++) {
    const site = await siteAt(before);
    const spec = await site.spec(after);
    const end = doom(at);
    const dying = site
      .process({ ...end.options, parallelism: 1 })
      .apply(spec)
      .then(() => undefined);
    await site.drive(Promise.race([dying, end.stopped]));
    if (powerCut) site.disk.powerCut();
    const where = `${at} ${end.points.at(-1)}`;
    try {
      const second = site.process({ pid: 2 });
      await site.drive(second.apply(spec));
      const plan = await site.drive(second.plan(spec));
      const state = await site.state();
      const found = {
        again: doing(plan),
        diagnostics: plan.diagnostics,
        open: state.open,
        live: await inventory(site),
        deposed: [...state.records.values()].filter(
          (one) => one.deposed !== undefined || one.status !== "ready",
        ),
      };
      const good = { again: [], diagnostics: [], open: [], live: wanted, deposed: [] };
      if (JSON.stringify(found) !== JSON.stringify(good)) failures.push(`${where}: ${JSON.stringify(found)}`);
    } catch (failure) {
      failures.push(`${where}: ${String(failure)}`);
    }
    site.close();
    sites.splice(sites.indexOf(site), 1);
  }
  expect(failures).toEqual([]);
  return counted.points.length;
}

for (const powerCut of [false, true]) {
  const how = powerCut ? "power cut" : "kill";
  test(`a ${how} at any step of creating everything is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(undefined, FIRST, powerCut)).toBeGreaterThan(50);
  });
  test(`a ${how} at any step of updating and replacing is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(FIRST, SECOND, powerCut)).toBeGreaterThan(50);
  });
  test(`a ${how} at any step of deleting everything is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(FIRST, NOTHING, powerCut)).toBeGreaterThan(50);
  });
}
