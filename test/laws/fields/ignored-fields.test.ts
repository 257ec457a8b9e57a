// Fields that a spec ignores keep what others set, and the other fields are compared with that in mind.

import { expect, onTestFinished, test } from "vitest";
import { doing, Site } from "../../engine/site.ts";

const RUNTIME = "6.4.x-scala2.11";
const NODE = "Standard_DS3_v2";

test("a cluster that others moved into a pool takes its node type from the pool when instance_pool_id is ignored", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const spec = await site.spec(`
clusters:
  adhoc:
    spark_version: ${RUNTIME}
    node_type_id: ${NODE}
    num_workers: 1
    lifecycle: { ignore_changes: [instance_pool_id] }
`);
  const { outcome } = await site.drive(site.process().apply(spec));
  expect(outcome.changes.map(({ result }) => result)).toEqual(["applied"]);
  await site.clock.advance(60_000);
  const made = await site.world.post("instance-pools/create", {
    instance_pool_name: "theirs",
    node_type_id: NODE,
  });
  const { body } = await site.world.get("clusters/list", {});
  const [{ cluster_id } = { cluster_id: "" }] = body.clusters as { cluster_id: string }[];
  const moved = await site.world.post("clusters/edit", {
    cluster_id,
    spark_version: RUNTIME,
    node_type_id: NODE,
    num_workers: 1,
    cluster_name: "adhoc",
    ...made.body,
  });
  expect(moved.status).toBe(200);
  await site.clock.advance(60_000);
  const plan = await site.drive(site.process().plan(spec));
  expect(doing(plan)).toEqual([]);
  expect(plan.drift).toEqual([]);
});

test("an update of other fields does not write an ignored reference to an object that the same plan creates", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const yaml = (pools: readonly string[], minutes: number) => `
pools: { ${pools.map((name) => `${name}: { node_type_id: ${NODE} }`).join(", ")} }
clusters:
  adhoc:
    spark_version: ${RUNTIME}
    instance_pool_id: "\${pools.${pools.at(-1)}.instance_pool_id}"
    num_workers: 1
    autotermination_minutes: ${minutes}
    lifecycle: { ignore_changes: [instance_pool_id] }
`;
  const pool = async () => (await site.world.get("clusters/list", {})).body.clusters;
  await site.drive(site.process().apply(await site.spec(yaml(["cold"], 60))));
  await site.clock.advance(60_000);
  const [before] = (await pool()) as { instance_pool_id: string }[];
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml(["cold", "warm"], 90))));
  expect(outcome.changes.map(({ result, address }) => `${result} ${address}`)).toEqual([
    "applied pools.warm",
    "applied clusters.adhoc",
  ]);
  const [after] = (await pool()) as { instance_pool_id: string }[];
  expect(after?.instance_pool_id).toBe(before?.instance_pool_id);
});

test.each<readonly [string, string, string, string]>([
  ["num_workers", "num_workers: 1", "autoscale: { min_workers: 1, max_workers: 4 }", "autoscale"],
  ["instance_pool_id", "num_workers: 1", "num_workers: 1", "node_type_id"],
])(
  "an ignored %s that contradicts the rest of the spec is an error of the plan",
  async (ignored, before, after, other) => {
    const site = await Site.start();
    onTestFinished(() => site.close());
    const lifecycle = `lifecycle: { ignore_changes: [${ignored}] }`;
    const yaml = (node: string, size: string) =>
      `pools: { p: { node_type_id: ${NODE} } }\nclusters:\n  k: { spark_version: ${RUNTIME}, ${node}, ${size}, ${lifecycle} }\n`;
    const own = `node_type_id: ${NODE}`;
    await site.drive(site.process().apply(await site.spec(yaml(own, before))));
    await site.clock.advance(60_000);
    const pooled = 'instance_pool_id: "${pools.p.instance_pool_id}"';
    const next = await site.spec(yaml(ignored === "instance_pool_id" ? pooled : own, after));
    const { diagnostics } = await site.drive(site.process().plan(next));
    expect(diagnostics).toMatchObject([{ severity: "error", address: "clusters.k" }]);
    expect(diagnostics[0]?.message).toContain(other);
    expect(diagnostics[0]?.message).toContain(`ignore_changes keeps the live ${ignored}`);
  },
);
