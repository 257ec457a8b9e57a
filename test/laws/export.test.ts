// The law of export: an exported workspace that is adopted with an empty state has no changes.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { recordFromLive } from "../../src/engine/apply/record-values.ts";
import { listKinds } from "../../src/engine/observe/list-kinds.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import { registry } from "../../src/providers/index.ts";
import { yamlText } from "../../src/report/text/yaml.ts";
import { registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { type ExportInput, exportSpec } from "../../src/spec/export/document.ts";
import { fetchSources } from "../../src/workflow/transfer/export.ts";
import { doing, results, Site } from "../engine/site.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { samples } from "./samples.ts";

const sites: Site[] = [];
afterEach(() => {
  for (const site of sites.splice(0)) site.close();
});

const ENV = { DB_PASSWORD: "canary-db-71c9", OTHER_PASSWORD: "canary-other-2f80" };
const POLICY = "policy: { max_deletes: 100% }\n";

async function siteWith(
  yaml: string,
  files: Readonly<Record<string, string>> = {},
  cloud?: FieldDialect["cloud"],
): Promise<Site> {
  const site = await Site.start(cloud);
  sites.push(site);
  site.env = { ...ENV };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(site.folder, path)), { recursive: true });
    writeFileSync(join(site.folder, path), text);
  }
  await site.drive(site.process().apply(await site.spec(POLICY + yaml)));
  return site;
}

/** The same workspace seen from another folder, where nothing is recorded. */
function elsewhere(site: Site): Site {
  const other = new Site(site.world);
  other.dialect = site.dialect;
  sites.push(other);
  return other;
}

async function exportInto(site: Site, to: Site, options: Partial<ExportInput> = {}): Promise<string> {
  const { reader } = site.process().client;
  const described = registryIn(registry, site.dialect);
  const kinds = new Set(described.kinds.map(({ kind }) => kind));
  const live = await site.drive(listKinds({ registry: described, reader, kinds, parallelism: 10 }));
  const found = exportSpec({
    registry: described,
    live,
    kinds,
    builtIn: false,
    full: false,
    secrets: false,
    ...options,
  });
  expect(found.diagnostics).toEqual([]);
  const fetched = await site.drive(
    fetchSources(found.sources, { folder: to.folder, reader, parallelism: 4, force: false }),
  );
  expect([...fetched]).toEqual([]);
  return yamlText(found.document, []);
}

/** Gives the folder that was written. */
async function expectNothingToChange(site: Site, options: Partial<ExportInput>, least = 1): Promise<string> {
  const other = elsewhere(site);
  const yaml = POLICY + (await exportInto(site, other, options));
  const spec = await other.spec(yaml);
  const plan = await other.drive(other.process().plan(spec, { adopt: true }));
  expect(plan.diagnostics).toEqual([]);
  expect(plan.guards).toEqual([]);
  expect(doing(plan).length).toBeGreaterThanOrEqual(least);
  expect(
    doing(plan).filter((one) => !one.startsWith("adopt ")),
    yaml,
  ).toEqual([]);
  const before = other.writes.length;
  const { outcome } = await other.drive(other.process().apply(spec, { adopt: true }));
  expect(results(outcome).filter((one) => !/^applied (adopt|noop) /.test(one))).toEqual([]);
  expect(other.writes.slice(before)).toEqual([]);
  const after = await other.drive(other.process().plan(await other.spec(yaml)));
  expect(doing(after)).toEqual([]);
  expect(after.drift).toEqual([]);
  return other.folder;
}

const everySample = [
  ...samples.map((sample) => [sample.kind, sample, undefined] as const),
  ...databricksSamples.map(
    (sample) => [sample.title ?? sample.kind, sample, sample.cloud ?? "azure"] as const,
  ),
];

describe.each(everySample)("%s", (_title, sample, cloud) => {
  test("an export is adopted elsewhere without a request that changes something, and the plan after it is empty", async () => {
    const site = await siteWith(sample.spec, sample.files, cloud);
    await expectNothingToChange(site, {});
  });

  test("so is a full export with defaults and built-in objects", async () => {
    const site = await siteWith(sample.spec, sample.files, cloud);
    await expectNothingToChange(site, { full: true, builtIn: true });
  });

  test("its resources, imported one by one, leave nothing to plan", async () => {
    const site = await siteWith(sample.spec, sample.files, cloud);
    const other = elsewhere(site);
    const spec = await other.spec(POLICY + (await exportInto(site, other)));
    const { input } = await other.drive(other.process().look(spec, await other.state(), { adopt: true }));
    const records = [...spec.resources.values()].flatMap((resource) => {
      const found = input.live.get(resource.kind);
      const live =
        found?.readable === true ? found.objects.find((one) => one.name === resource.name) : undefined;
      return live === undefined ? [] : [recordFromLive(registry.get(resource.kind), resource, live)];
    });
    expect(records).toHaveLength(spec.resources.size);
    const state = { ...input.state, records: new Map(records.map((one) => [one.address, one])) };
    const plan = makePlan({ ...input, state, adopt: false });
    expect(plan.diagnostics).toEqual([]);
    expect(doing(plan)).toEqual([]);
    expect(plan.drift).toEqual([]);
  });

  test("two exports of the same workspace are the same, byte for byte", async () => {
    const site = await siteWith(sample.spec, sample.files, cloud);
    const first = await exportInto(site, elsewhere(site));
    expect(await exportInto(site, elsewhere(site))).toBe(first);
  });
});

describe("unusual names", () => {
  const NAMES = [
    "a b",
    "a.b.c",
    "\u202eevil",
    "::warning::x",
    "${pools.x.instance_pool_id}",
    "$${x}",
    "- dash",
    "yes",
    "12",
    "a: b #c",
    "quo\"te'",
    "}{",
    "*&!|>%@`",
    "日本 語",
    "x".repeat(90),
    "line\nbreak",
  ];
  /** Names on which git, a shell, an editor or Windows acts. */
  const ACTED_ON = [
    ".git",
    ".GIT",
    ".gitattributes",
    ".workspace",
    ".envrc",
    "git~1",
    "HEAD",
    "nul.txt",
    "dot.",
  ];
  const list = (names: readonly string[], fields: object) =>
    JSON.stringify(
      Object.fromEntries(names.map((name, at) => [`k${at}`, { ...fields, ...nameIn(name, fields) }])),
    );
  const nameIn = (name: string, fields: object) => {
    const field = (fields as { nameField?: string }).nameField ?? "";
    return { [field]: name.replaceAll("${", () => "$${"), nameField: undefined };
  };

  test("are unchanged in an export", async () => {
    const cluster = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
    const conf = Object.fromEntries(
      NAMES.map((name, at) => [`spark.${at}`, name.replaceAll("${", () => "$${")]),
    );
    const site = await siteWith(`
groups: ${list(NAMES, { nameField: "displayName" })}
pools: ${list(NAMES, { nameField: "instance_pool_name", node_type_id: "Standard_DS3_v2" })}
clusters: ${list(NAMES, { nameField: "cluster_name", ...cluster, spark_conf: conf })}
jobs: ${list(NAMES, { nameField: "name", new_cluster: cluster, spark_jar_task: { main_class_name: "A", parameters: Object.values(conf) } })}
`);
    await expectNothingToChange(site, {}, 4 * NAMES.length);
    await expectNothingToChange(site, { full: true, builtIn: true }, 4 * NAMES.length);
  });

  test("are paths that stay in the folder", async () => {
    const site = await siteWith("users: {}\n");
    const ways = ["..x", "...", "%2E%2E", "UPPER", "upper"];
    const names = [...NAMES.filter((name) => !name.includes("\n")), ...ways, ...ACTED_ON];
    for (const name of names) {
      await site.world.post("workspace/mkdirs", { path: `/Shared/${name}` });
      await site.world.post("workspace/import", {
        path: `/Shared/${name}/n ${name}`,
        language: "SQL",
        content: Buffer.from(`select '${name}'`).toString("base64"),
      });
      await site.world.post("fs/put", {
        path: `/data/${name}`,
        contents: Buffer.from(name).toString("base64"),
      });
    }
    const folder = await expectNothingToChange(site, {}, 3 * names.length);
    const written = readdirSync(folder, { recursive: true, encoding: "utf8" });
    expect(written.length).toBeGreaterThan(3 * names.length);
    const parts = written.flatMap((path) => path.split(sep));
    expect(parts.filter((part) => /^\.|~\d|^(head|nul\..*)$|[. ]$/i.test(part))).toEqual([]);
  });
});
