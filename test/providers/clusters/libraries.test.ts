// Libraries of clusters in the Databricks dialect: installed, uninstalled, read for all clusters at once, and their states.

import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { listKinds } from "../../../src/engine/observe/list-kinds.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import { registry } from "../../../src/providers/index.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import { exportSpec } from "../../../src/spec/export/document.ts";
import { doing, results, Site } from "../../engine/site.ts";

let site: Site;
beforeEach(async () => {
  site = await Site.start("azure");
  onTestFinished(() => site.close());
});

const BASE = "spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1";
const withLibraries = (libraries: string, more = ""): string =>
  `clusters: { etl: { ${BASE}, libraries: ${libraries}${more} } }\n`;

const apply = async (yaml: string) => {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
};
const plan = async (yaml: string) => site.drive(site.process().plan(await site.spec(yaml)));

const steps = ({ changes }: Plan) =>
  changes.flatMap((change) =>
    change.action === "update" ? change.steps.map(({ operation }) => operation) : [],
  );

const recordedId = async () => [...(await site.state()).records.values()][0]?.id ?? "";
const statuses = async (): Promise<unknown[]> => {
  const { body } = await site.world.get("libraries/cluster-status", { cluster_id: await recordedId() });
  return (body.library_statuses ?? []).map(({ library, status }: { library: unknown; status: string }) => [
    library,
    status,
  ]);
};

const SIX = { pypi: { package: "six" } };
const JAR = { jar: "dbfs:/a.jar" };

describe("libraries of a cluster", () => {
  test("are installed with a new cluster, and each change sends only the difference", async () => {
    await apply(withLibraries("[{ pypi: { package: six } }]"));
    await site.world.advance(600_000);
    expect(await statuses()).toEqual([[SIX, "INSTALLED"]]);
    const next = withLibraries('[{ pypi: { package: six } }, { jar: "dbfs:/a.jar" }]');
    expect(steps(await plan(next))).toEqual(["install-libraries"]);
    site.writes.length = 0;
    await apply(next);
    expect(site.writes.filter((write) => !write.endsWith("/events"))).toEqual(["POST libraries/install"]);
    expect(await statuses()).toEqual([
      [SIX, "INSTALLED"],
      [JAR, "INSTALLED"],
    ]);
    expect(doing(await plan(next))).toEqual([]);
  });

  test("that are removed stay on a running cluster, and the plan says so", async () => {
    await apply(withLibraries('[{ pypi: { package: six } }, { jar: "dbfs:/a.jar" }]'));
    await site.world.advance(600_000);
    const next = withLibraries("[]");
    const [change] = (await plan(next)).changes.filter(({ action }) => action === "update");
    expect(change?.consequences).toEqual([
      "libraries that stay in use until the cluster restarts, which this plan does not do: six and dbfs:/a.jar",
    ]);
    await apply(next);
    expect(await statuses()).toEqual([
      [SIX, "UNINSTALL_ON_RESTART"],
      [JAR, "UNINSTALL_ON_RESTART"],
    ]);
    const after = await plan(next);
    expect([doing(after), after.drift]).toEqual([[], []]);
  });

  test("that are removed leave with the restart of an edit in the same plan", async () => {
    await apply(withLibraries("[{ pypi: { package: six } }]"));
    await site.world.advance(600_000);
    const next = withLibraries("[]", ", autotermination_minutes: 30");
    const planned = await plan(next);
    expect(steps(planned)).toEqual(["uninstall-libraries", "edit"]);
    expect(JSON.stringify(planned.changes)).not.toContain("stay in use");
    await apply(next);
    await site.world.advance(600_000);
    expect(await statuses()).toEqual([]);
  });

  test("of others are drift, and are uninstalled with the members that a spec does not have", async () => {
    const yaml = withLibraries("[{ pypi: { package: six } }]");
    await apply(yaml);
    await site.world.advance(600_000);
    const odd = { maven: { coordinates: "g:a:1", x_unknown: true } };
    await site.world.post("libraries/install", { cluster_id: await recordedId(), libraries: [odd] });
    const drifted = await plan(yaml);
    expect(drifted.drift.map(({ address, diffs }) => [address, diffs.map(({ path }) => path)])).toEqual([
      ["clusters.etl", [["libraries"]]],
    ]);
    await apply(yaml);
    expect(await statuses()).toEqual([
      [SIX, "INSTALLED"],
      [odd, "UNINSTALL_ON_RESTART"],
    ]);
  });

  test("are read once for all clusters, and only if a cluster declares them", async () => {
    const two = (libraries: string) =>
      `clusters: { a: { ${BASE}${libraries} }, b: { ${BASE}${libraries} }, c: { ${BASE}${libraries} } }\n`;
    await apply(two(", libraries: [{ pypi: { package: six } }]"));
    site.reads.length = 0;
    await plan(two(", libraries: [{ pypi: { package: six } }]"));
    expect(site.reads.filter((read) => read.includes("libraries"))).toEqual([
      "GET libraries/all-cluster-statuses",
    ]);
    site.reads.length = 0;
    await plan(two(""));
    expect(site.reads.filter((read) => read.includes("libraries"))).toEqual([]);
  });

  test("that failed are a warning of each plan, and those of a stopped cluster are installed at its start", async () => {
    const yaml = withLibraries('[{ egg: "dbfs:/old.egg" }]');
    await apply(yaml);
    await site.world.advance(600_000);
    const running = await plan(yaml);
    expect(doing(running)).toEqual([]);
    expect(running.diagnostics.map(({ code, severity, message }) => [code, severity, message])).toEqual([
      [
        "PLAN_NOT_READY",
        "warning",
        "clusters.etl: the library dbfs:/old.egg is not installed (FAILED): Libraries of type egg cannot be installed on 15.4.x-scala2.12.",
      ],
    ]);
    await site.world.post("clusters/delete", { cluster_id: await recordedId() });
    await site.world.advance(600_000);
    const [change] = (await plan(withLibraries("[{ pypi: { package: six } }]"))).changes;
    expect(change?.consequences).toEqual(["libraries that are installed when the cluster starts: six"]);
  });

  test("have exactly one form each", async () => {
    await expect(site.spec(withLibraries("[{ jar: dbfs:/a.jar, whl: dbfs:/b.whl }]"))).rejects.toThrow(
      "a library is one of jar, egg, whl, requirements, pypi, maven, cran",
    );
  });
});

describe("libraries of a cluster policy", () => {
  const withPolicy = (ofPolicy: string, ofCluster: string, more = ""): string =>
    `policy: { max_deletes: 100% }
cluster_policies: { q: { definition: {}, libraries: ${ofPolicy} } }
clusters: { etl: { ${BASE}, policy_id: "\${cluster_policies.q.policy_id}", libraries: ${ofCluster}${more} } }\n`;
  const PANDAS = { pypi: { package: "pandas" } };
  const ofCluster = async () => {
    const id = [...(await site.state()).records.values()].find(({ name }) => name === "etl")?.id ?? "";
    const { body } = await site.world.get("libraries/cluster-status", { cluster_id: id });
    return (body.library_statuses ?? []).map(({ library }: { library: unknown }) => library);
  };

  test("are installed by the service, and no difference or drift of the cluster", async () => {
    const yaml = withPolicy("[{ pypi: { package: pandas } }]", "[{ pypi: { package: six } }]");
    await apply(yaml);
    await site.world.advance(600_000);
    expect(await ofCluster()).toEqual([PANDAS, SIX]);
    const unchanged = await plan(yaml);
    expect([doing(unchanged), unchanged.drift]).toEqual([[], []]);
    const none = withPolicy("[{ pypi: { package: pandas } }]", "[]");
    expect(steps(await plan(none))).toEqual(["uninstall-libraries"]);
    await apply(none);
    expect(doing(await plan(none))).toEqual([]);
    const both = withPolicy("[{ pypi: { package: pandas } }]", "[{ pypi: { package: pandas } }]");
    await apply(both);
    expect(doing(await plan(both))).toEqual([]);
  });

  test("that leave the policy stay installed, and are then drift of the cluster", async () => {
    const yaml = withPolicy("[{ pypi: { package: pandas } }]", "[]");
    await apply(yaml);
    await site.world.advance(600_000);
    const changed = withPolicy("[]", "[]");
    await apply(changed);
    const after = await plan(changed);
    expect(after.drift.map(({ address }) => address)).toEqual(["clusters.etl"]);
    expect(steps(after)).toEqual(["uninstall-libraries"]);
  });

  test("are changed with the cluster in one apply, and come at its next start", async () => {
    await apply(withPolicy("[]", "[]"));
    await site.world.advance(600_000);
    const next = withPolicy("[{ pypi: { package: pandas } }]", "[{ pypi: { package: six } }]");
    await apply(next);
    expect(await ofCluster()).toEqual([SIX]);
    const restarted = next.replace("num_workers: 1", "num_workers: 1, spark_conf: { a: b }");
    await apply(restarted);
    await site.world.advance(600_000);
    expect(await ofCluster()).toEqual([SIX, PANDAS]);
    expect(doing(await plan(restarted))).toEqual([]);
  });

  test("are exported with the policy, and not with the cluster", async () => {
    await apply(withPolicy("[{ pypi: { package: pandas } }]", "[]"));
    await site.world.advance(600_000);
    const kinds = new Set(["clusters", "cluster_policies"]);
    const { reader } = site.process().client;
    const described = registryIn(registry, site.dialect);
    const live = await site.drive(listKinds({ registry: described, reader, kinds, parallelism: 2 }));
    const found = exportSpec({
      registry: described,
      live,
      kinds,
      builtIn: false,
      full: false,
      secrets: false,
    });
    expect(JSON.stringify(found.document).match(/pandas/g)).toHaveLength(1);
  });
});

test("an export has the libraries of each cluster, read with one request", async () => {
  await apply(`clusters: { a: { ${BASE}, libraries: [{ pypi: { package: six } }] }, b: { ${BASE} } }\n`);
  site.reads.length = 0;
  const kinds = new Set(["clusters"]);
  const { reader } = site.process().client;
  const described = registryIn(registry, site.dialect);
  const live = await site.drive(listKinds({ registry: described, reader, kinds, parallelism: 2 }));
  const found = exportSpec({ registry: described, live, kinds, builtIn: false, full: false, secrets: false });
  expect(JSON.stringify(found.document)).toContain(
    '{"key":"libraries","value":[{"pypi":{"package":"six"}}]}',
  );
  expect(JSON.stringify(found.document).match(/libraries/g)).toHaveLength(1);
  expect(site.reads.filter((read) => read.includes("libraries"))).toEqual([
    "GET libraries/all-cluster-statuses",
  ]);
});

test("a job takes a library of the form requirements", async () => {
  const done =
    await apply(`jobs: { j: { new_cluster: { ${BASE} }, notebook_task: { notebook_path: /n }, libraries: [{ requirements: /Workspace/Shared/r.txt }] } }
`);
  expect(done).toEqual(["applied create jobs.j"]);
  const { body } = await site.world.get("jobs/get", { job_id: await recordedId() });
  expect(JSON.stringify(body)).toContain("/Workspace/Shared/r.txt");
});
