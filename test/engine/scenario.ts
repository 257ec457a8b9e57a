// Two specs of every kind and the way between them, and what a workspace then holds.

import type { Site } from "./site.ts";

export const FIRST = `
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
export const SECOND = FIRST.replace("max_capacity: 50", "max_capacity: 50, enable_elastic_disk: false")
  .replace("num_workers: 2", "num_workers: 3")
  .replace("data-eng: READ", "data-eng: WRITE")
  .replace("0 30 2", "0 45 2")
  .replace("DB_PASSWORD }", "OTHER_PASSWORD }")
  .replace("[allow-cluster-create]", "[]");
export const NOTHING = "policy: { max_deletes: 100% }\nusers: {}\n";

/** Names of all live managed objects, sorted; duplicates appear twice. */
export async function inventory(site: Site): Promise<readonly string[]> {
  // Objects that the service removes in the background are deleted by then.
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
