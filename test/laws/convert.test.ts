// The law of conversion: a Terraform state of a workspace becomes a spec whose first plan adopts, and the next is empty.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { yamlText } from "../../src/report/text/yaml.ts";
import { type Conversion, convertTerraform } from "../../src/workflow/convert/convert.ts";
import { terraformState } from "../../src/workflow/convert/terraform-state.ts";
import { doing, results, Site } from "../engine/site.ts";
import { sampleOf } from "../sample-size.ts";
import {
  accessListsOf,
  shownState,
  stateFile,
  terraformInstancesOf,
} from "../workflow/convert/terraform-world.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { POLICY, siteOf } from "./sample-site.ts";
import { type Sample, samples } from "./samples.ts";

const ENV = {
  DB_PASSWORD: "one",
  OTHER_PASSWORD: "two",
  ETL_DB_PASSWORD: "one",
  ETL_CERT: "canary-cert-5b1e",
};

async function siteWith(sample: Sample): Promise<Site> {
  const site = await siteOf(sample, ENV, "azure");
  await site.drive(site.process().apply(await site.spec(POLICY + sample.spec)));
  return site;
}

/** The same workspace seen from another folder, where nothing is recorded. */
function elsewhere(site: Site): Site {
  const other = new Site(site.world);
  onTestFinished(() => other.close());
  other.dialect = site.dialect;
  other.env = site.env;
  return other;
}

function convertInto(text: string, { folder }: Site): { readonly yaml: string; readonly found: Conversion } {
  const found = convertTerraform(terraformState(text, "state"), "azure", {
    configuration: folder,
    spec: folder,
  });
  for (const { path, bytes } of found.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes());
  }
  return { yaml: POLICY + yamlText(found.document, []), found };
}

async function expectToAdopt(site: Site, text: string): Promise<Conversion> {
  const other = elsewhere(site);
  const { yaml, found } = convertInto(text, other);
  expect(yaml).not.toContain("canary");
  expect(found.log.resources).toEqual([]);
  expect(
    found.log.attributes.filter(({ reason }) => !reason.startsWith("the service does not return")),
  ).toEqual([]);
  const spec = await other.spec(yaml);
  const plan = await other.drive(other.process().plan(spec));
  expect(plan.diagnostics).toEqual([]);
  expect(plan.guards).toEqual([]);
  expect(
    doing(plan).filter((one) => !/^(adopt|import) |^update secrets\./.test(one)),
    yaml,
  ).toEqual([]);
  const before = other.writes.length;
  const { outcome } = await other.drive(other.process().apply(spec));
  expect(
    results(outcome).filter((one) => !/^applied (adopt|import|noop) |^applied update secrets\./.test(one)),
  ).toEqual([]);
  expect(other.writes.slice(before).filter((one) => one !== "POST secrets/put")).toEqual([]);
  const after = await other.drive(other.process().plan(await other.spec(yaml)));
  expect(doing(after)).toEqual([]);
  expect(after.drift).toEqual([]);
  return found;
}

describe.each(samples)("$kind", (sample) => {
  test("a Terraform state of them is adopted without a request that changes something, and the plan after it is empty", async () => {
    const site = await siteWith(sample);
    const instances = await terraformInstancesOf(site.world);
    const found = await expectToAdopt(site, stateFile(instances));
    const kinds = new Set(found.converted.map(({ address }) => address.slice(0, address.indexOf("."))));
    expect(kinds).toContain(sample.kind);
    expect(found.resources).toBe(instances.length);
  });

  test("the state and both forms of `terraform show -json` become the same spec, byte for byte", async () => {
    const site = await siteWith(sample);
    const instances = await terraformInstancesOf(site.world);
    const yaml = (text: string) => convertInto(text, elsewhere(site)).yaml;
    const first = yaml(stateFile(instances));
    expect(yaml(shownState(instances))).toBe(first);
    expect(yaml(shownState(instances, true))).toBe(first);
    expect(yaml(stateFile([...instances].reverse()))).toBe(first);
  });
});

/** The path of a type in the requests of access lists, by kind. */
const TYPES: Readonly<Record<string, string>> = {
  clusters: "clusters",
  pools: "instance-pools",
  cluster_policies: "cluster-policies",
  jobs: "jobs",
  warehouses: "sql/warehouses",
  authorizations: "authorization",
  repos: "repos",
};

describe.each(
  databricksSamples
    .filter((sample) => sample.cloud === undefined)
    .map((sample) => [sample.title ?? sample.kind, sample] as const),
)("%s in the Databricks dialect", (_title, sample) => {
  test("a Terraform state of them is adopted with access lists, and the plan after it is empty", async () => {
    const site = await siteOf(sample, ENV, "azure");
    await site.drive(site.process().apply(await site.spec(POLICY + sample.spec)));
    const { records } = await site.state();
    const objects = [...records.values()].flatMap(({ address, id }) => {
      const type = TYPES[address.slice(0, address.indexOf("."))];
      return type === undefined ? [] : [{ type, id }];
    });
    const instances = [
      ...(await terraformInstancesOf(site.world)),
      ...(await accessListsOf(site.world, objects)),
    ];
    const found = await expectToAdopt(site, stateFile(instances));
    const kinds = new Set(found.converted.map(({ address }) => address.slice(0, address.indexOf("."))));
    expect(kinds).toContain(sample.kind);
  });
});

const name = fc.constantFrom(
  "a",
  "a b",
  "x".repeat(60),
  "${var.x}",
  "yes",
  "12",
  "quo\"te'",
  "日本",
  "- d",
  "a: b #c",
);
const pool = fc.record({
  node_type_id: fc.constant("Standard_DS3_v2"),
  min_idle_instances: fc.integer({ min: 0, max: 2 }),
  max_capacity: fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined }),
  custom_tags: fc.option(fc.constant({ team: "", k: "v" }), { nil: undefined }),
});
const cluster = fc.record({
  spark_version: fc.constant("6.4.x-scala2.11"),
  node_type_id: fc.constant("Standard_DS3_v2"),
  num_workers: fc.integer({ min: 1, max: 3 }),
  autotermination_minutes: fc.constantFrom(0, 60),
  spark_conf: fc.option(fc.dictionary(fc.constantFrom("spark.a", "spark.b"), name), { nil: undefined }),
});
const world = fc.record({
  pools: fc.uniqueArray(fc.tuple(name, pool), { maxLength: 3, selector: ([one]) => one }),
  clusters: fc.array(fc.tuple(name, cluster), { maxLength: 3 }),
  jobs: fc.array(fc.tuple(name, cluster, fc.integer({ min: 0, max: 3 })), { maxLength: 3 }),
  groups: fc.uniqueArray(name, { maxLength: 3 }),
});

test("any workspace that a state describes is adopted, and the plan after it is empty", async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ pools, clusters, jobs, groups }) => {
      const site = await Site.start("azure");
      try {
        const tell = async (path: string, body: object) => {
          const { status } = await site.world.post(path, JSON.parse(JSON.stringify(body)));
          expect(status).toBe(200);
        };
        for (const [instance_pool_name, fields] of pools)
          await tell("instance-pools/create", { instance_pool_name, ...fields });
        for (const [cluster_name, fields] of clusters)
          await tell("clusters/create", { cluster_name, ...fields });
        for (const [job, { autotermination_minutes: _, ...new_cluster }, max_retries] of jobs)
          await tell("/api/2.1/jobs/create", {
            name: job,
            tasks: [
              { task_key: "t", max_retries, new_cluster, notebook_task: { notebook_path: "/Shared/x" } },
            ],
          });
        for (const group_name of groups) await tell("groups/create", { group_name });
        await expectToAdopt(site, stateFile(await terraformInstancesOf(site.world)));
      } finally {
        site.close();
      }
    }),
    { numRuns: sampleOf(25), seed: 7 },
  );
}, 120_000);
