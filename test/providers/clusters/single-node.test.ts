// Single-node clusters in the Databricks dialect: what a spec must say, and that they converge.

import { describe, expect, onTestFinished, test } from "vitest";
import { singleNodeProblems } from "../../../src/providers/clusters/validate.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import { doing, results, Site } from "../../engine/site.ts";

const CONF = { "spark.databricks.cluster.profile": "singleNode", "spark.master": "local[*]" };
const TAGS = { ResourceClass: "SingleNode" };
const SINGLE = { num_workers: 0, spark_conf: CONF, custom_tags: TAGS };

const problems = (values: Values) =>
  singleNodeProblems(values).map(({ severity = "error", path, message, hint }) => [
    severity,
    path.join("."),
    message,
    hint,
  ]);

describe("the check of a single node", () => {
  test.each<[string, Values]>([
    ["the whole profile", SINGLE],
    ["another local master", { ...SINGLE, spark_conf: { ...CONF, "spark.master": "local[*, 4]" } }],
    ["references", { ...SINGLE, spark_conf: { ...CONF, "spark.master": "${var.master}" } }],
    ["a policy that may set the profile", { num_workers: 0, policy_id: "ABC" }],
    ["workers", { num_workers: 1 }],
    ["a range", { autoscale: { min_workers: 1, max_workers: 2 } }],
  ])("accepts %s", (_what, values) => {
    expect(problems(values)).toEqual([]);
  });

  test("names the settings that are missing", () => {
    const [message, workers] = [
      "num_workers is 0 without the settings of a single-node cluster",
      "; or set num_workers to 1 or more",
    ];
    expect(problems({ ...SINGLE, custom_tags: { team: "data" } })).toEqual([
      ["warning", "num_workers", message, `set custom_tags ResourceClass: SingleNode${workers}`],
    ]);
    expect(problems({ num_workers: 0 })).toEqual([
      [
        "warning",
        "num_workers",
        message,
        `set spark_conf spark.databricks.cluster.profile: singleNode, spark_conf spark.master: "local[*]" and custom_tags ResourceClass: SingleNode${workers}`,
      ],
    ]);
  });

  test.each<[string, Values]>([
    ["num_workers", { ...SINGLE, num_workers: 2 }],
    ["autoscale", { spark_conf: CONF, autoscale: { min_workers: 1, max_workers: 2 } }],
  ])("refuses the profile with %s", (path, values) => {
    expect(problems(values)).toEqual([
      [
        "error",
        path,
        "spark.databricks.cluster.profile: singleNode cannot be used with workers",
        "set num_workers: 0, or remove the settings of a single node",
      ],
    ]);
  });
});

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

const cluster = (more: string, size = "num_workers: 0"): string =>
  `{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, ${size}${more} }`;
const PROFILE =
  ', spark_conf: { spark.databricks.cluster.profile: singleNode, spark.master: "local[*]" }, custom_tags: { ResourceClass: SingleNode }';
const spec = (one: string): string => `
clusters: { solo: ${one} }
jobs: { nightly: { new_cluster: ${one}, notebook_task: { notebook_path: /Shared/a } } }
`;

test("a single-node cluster, and one of a job, converge and become larger in place", async () => {
  const site = await start();
  const apply = async (text: string) =>
    results((await site.drive(site.process().apply(await site.spec(text)))).outcome);
  const planned = async (text: string) => doing(await site.drive(site.process().plan(await site.spec(text))));
  const single = spec(cluster(PROFILE));
  await apply(single);
  await site.world.advance(600_000);
  expect(await planned(single)).toEqual([]);
  const [live] = (await site.world.get("clusters/list")).body.clusters;
  expect(live).toMatchObject({
    num_workers: 0,
    spark_conf: CONF,
    custom_tags: expect.objectContaining(TAGS),
  });
  const larger = spec(cluster("", "num_workers: 2"));
  expect((await apply(larger)).toSorted()).toEqual([
    "applied update clusters.solo",
    "applied update jobs.nightly",
  ]);
  await site.world.advance(600_000);
  expect(await planned(larger)).toEqual([]);
});

test("a spark_conf setting that the service adds causes no change, unless the spec sets another value", async () => {
  const site = await start();
  const plain =
    "clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }\n";
  await site.drive(site.process().apply(await site.spec(plain)));
  await site.world.advance(600_000);
  const [live] = (await site.world.get("clusters/list")).body.clusters;
  const { cluster_id, cluster_name, custom_tags } = live;
  await site.world.post("clusters/edit", {
    cluster_id,
    cluster_name,
    custom_tags,
    spark_version: "6.4.x-scala2.11",
    node_type_id: "Standard_DS3_v2",
    num_workers: 1,
    spark_conf: { "spark.databricks.delta.preview.enabled": "true" },
  });
  await site.world.advance(600_000);
  expect(doing(await site.drive(site.process().plan(await site.spec(plain))))).toEqual([]);
  const off = plain.replace(
    "num_workers: 1",
    "num_workers: 1, spark_conf: { spark.databricks.delta.preview.enabled: false }",
  );
  expect(doing(await site.drive(site.process().plan(await site.spec(off))))).toEqual(["update clusters.c"]);
});
