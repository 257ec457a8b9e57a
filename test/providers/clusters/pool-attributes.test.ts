// Attributes of the cloud next to a pool: the pool decides all of them but the instance profile, which is the cluster's own.

import { expect, onTestFinished, test } from "vitest";
import { clusterProblems } from "../../../src/providers/clusters/validate.ts";
import { doing, results, Site } from "../../engine/site.ts";

const PROFILE = "arn:aws:iam::1:instance-profile/etl";
const IN_POOL =
  "spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: '${pools.p.instance_pool_id}'";

const spec = (attributes: string, more = ""): string =>
  `pools: { p: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { ${IN_POOL}${attributes}${more} } }
jobs: { j: { new_cluster: { ${IN_POOL}${attributes} }, spark_jar_task: { main_class_name: A }${more === "" ? "" : ", timeout_seconds: 60"} } }
`;

test("a cluster and a job cluster in a pool have the instance profile of the spec, and updates keep it", async () => {
  const site = await Site.start("aws");
  onTestFinished(() => site.close());
  const apply = async (at: Site, text: string) => {
    const { outcome } = await at.drive(at.process().apply(await at.spec(text), { adopt: true }));
    expect(results(outcome).filter((result) => !result.startsWith("applied "))).toEqual([]);
    await at.world.advance(600_000);
    expect(doing(await at.drive(at.process().plan(await at.spec(text))))).toEqual([]);
  };
  const profiles = async () => {
    const { clusters } = (await site.world.get("clusters/list")).body;
    const { jobs } = (await site.world.get("/api/2.1/jobs/list", { expand_tasks: true })).body;
    return [clusters[0], jobs[0].settings.tasks[0].new_cluster].map(
      ({ aws_attributes }) => aws_attributes.instance_profile_arn,
    );
  };
  await apply(site, spec(`, aws_attributes: { instance_profile_arn: "${PROFILE}" }`));
  expect(await profiles()).toEqual([PROFILE, PROFILE]);
  const other = new Site(site.world);
  onTestFinished(() => other.close());
  other.dialect = site.dialect;
  await apply(other, spec("", ", spark_conf: { a: b }"));
  expect(await profiles()).toEqual([PROFILE, PROFILE]);
});

test("the check names the attributes that have no effect next to a pool", () => {
  const warned = (aws_attributes: { readonly [field: string]: string }) =>
    clusterProblems({ num_workers: 1, instance_pool_id: "p", aws_attributes }).map(({ message }) => message);
  expect(warned({ instance_profile_arn: PROFILE })).toEqual([]);
  expect(warned({ instance_profile_arn: PROFILE, zone_id: "auto" })).toEqual([
    "aws_attributes.zone_id has no effect next to instance_pool_id",
  ]);
  expect(warned({ zone_id: "auto" })).toEqual(["aws_attributes has no effect next to instance_pool_id"]);
});
