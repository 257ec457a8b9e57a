// Jobs of several tasks: applied, planned empty, exported, adopted, changed task by task, and never compared by order.

import { describe, expect, onTestFinished, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { listKinds } from "../../../src/engine/observe/list-kinds.ts";
import { registry } from "../../../src/providers/index.ts";
import { yamlText } from "../../../src/report/text/yaml.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import { exportSpec } from "../../../src/spec/export/document.ts";
import { doing, results, Site } from "../../engine/site.ts";

type Body = Readonly<Record<string, unknown>>;

const POLICY = "policy: { max_deletes: 100% }\n";
const CLUSTER = "{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }";

const ETL = `${POLICY}clusters:
  shared: ${CLUSTER}
jobs:
  other: { existing_cluster_id: "\${clusters.shared.cluster_id}", notebook_task: { notebook_path: /other } }
  etl:
    parameters: { day: today, region: eu }
    job_clusters:
      small: { new_cluster: ${CLUSTER} }
    environments:
      py: { client: "1", dependencies: [six] }
    git_source: { git_url: https://example.com/etl.git, git_provider: gitHub, git_branch: main }
    tasks:
      extract:
        notebook_task: { notebook_path: nightly/extract, source: GIT, base_parameters: { a: 1 } }
        job_cluster_key: small
        timeout_seconds: 600
      check:
        depends_on: [{ task_key: extract }]
        condition_task: { op: GREATER_THAN, left: "{{tasks.extract.values.rows}}", right: "0" }
      load:
        depends_on: [{ task_key: check, outcome: "true" }]
        python_wheel_task: { package_name: etl, entry_point: load, named_parameters: { mode: full } }
        libraries: [{ whl: dbfs:/etl.whl }]
        existing_cluster_id: "\${clusters.shared.cluster_id}"
        email_notifications: { on_failure: [ada@example.com] }
      each:
        depends_on: [{ task_key: load }]
        for_each_task:
          inputs: "[1, 2]"
          concurrency: 2
          task: { task_key: each_one, run_job_task: { job_id: "\${jobs.other.job_id}" } }
      serve:
        depends_on: [{ task_key: extract }, { task_key: load }]
        run_if: ALL_DONE
        spark_python_task: { python_file: serve.py, source: GIT }
        environment_key: py
`;

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

async function apply(site: Site, text: string): Promise<readonly string[]> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(text)));
  await site.world.advance(600_000);
  return results(outcome);
}

const plan = async (site: Site, text: string) => site.drive(site.process().plan(await site.spec(text)));

async function settingsOf(site: Site, name: string): Promise<Body> {
  const { jobs } = (await site.world.get("/api/2.2/jobs/list", { name, expand_tasks: true })).body;
  return jobs[0].settings;
}

async function exported(site: Site): Promise<string> {
  const { reader } = site.process().client;
  const kinds = new Set(["clusters", "jobs"]);
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

describe("a job of several tasks", () => {
  test("is created with lists, and the next plan is empty", async () => {
    const site = await start();
    expect((await apply(site, ETL)).filter((result) => !result.startsWith("applied "))).toEqual([]);
    const settings = await settingsOf(site, "etl");
    const tasks = settings.tasks as readonly Body[];
    expect(tasks.map((task) => task.task_key)).toEqual(["check", "each", "extract", "load", "serve"]);
    expect(settings.parameters).toEqual([
      { name: "day", default: "today" },
      { name: "region", default: "eu" },
    ]);
    expect(settings.environments).toEqual([
      { environment_key: "py", spec: { client: "1", dependencies: ["six"] } },
    ]);
    expect(tasks[1]).toMatchObject({
      for_each_task: { task: { run_job_task: { job_id: expect.any(Number) } } },
    });
    expect(doing(await plan(site, ETL))).toEqual([]);
  });

  test("does not change with the order of its tasks, here and there", async () => {
    const site = await start();
    await apply(site, ETL);
    const [{ job_id, settings }] = (
      await site.world.get("/api/2.2/jobs/list", { name: "etl", expand_tasks: true })
    ).body.jobs;
    const { format: _, tasks, ...rest } = settings;
    const reversed = { ...rest, tasks: [...tasks].reverse() };
    await site.world.post("/api/2.2/jobs/reset", { job_id, new_settings: reversed });
    expect(doing(await plan(site, ETL))).toEqual([]);
  });

  test("shows one task when one is inserted, and nothing else", async () => {
    const site = await start();
    await apply(site, ETL);
    const more = ETL.replace(
      "      check:\n",
      "      audit: { sql_task: { warehouse_id: w, query: { query_id: q } } }\n      check:\n",
    );
    const { changes } = await plan(site, more);
    const paths = changes.flatMap((change) =>
      "diffs" in change ? change.diffs.map(({ path }) => path) : [],
    );
    expect(paths).toEqual([["tasks", "audit"]]);
    await apply(site, more);
    expect((await settingsOf(site, "etl")).tasks as readonly Body[]).toHaveLength(6);
    expect(doing(await plan(site, more))).toEqual([]);
  });

  test("is exported and adopted without a change", async () => {
    const site = await start();
    await apply(site, ETL);
    const other = new Site(site.world);
    onTestFinished(() => other.close());
    other.dialect = site.dialect;
    const adoption = await other.drive(
      other.process().plan(await other.spec(await exported(site)), { adopt: true }),
    );
    expect(adoption.diagnostics).toEqual([]);
    expect(doing(adoption).filter((change) => !change.startsWith("adopt "))).toEqual([]);
  });

  test("becomes a job with one task and back", async () => {
    const site = await start();
    const single = `${POLICY}jobs:\n  etl: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /a } }\n`;
    const keyed = `${POLICY}jobs:\n  etl: { tasks: { main: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /a } } } }\n`;
    await apply(site, single);
    expect(doing(await plan(site, keyed))).toEqual([]);
    const two = keyed.replace(
      "main:",
      "first: { existing_cluster_id: c, notebook_task: { notebook_path: /b } }, main:",
    );
    await apply(site, two);
    expect(doing(await plan(site, two))).toEqual([]);
    await apply(site, single);
    expect(doing(await plan(site, single))).toEqual([]);
    expect((await settingsOf(site, "etl")).tasks as readonly Body[]).toHaveLength(1);
  });

  test("whose only task gets another key is updated", async () => {
    const site = await start();
    const keyed = (key: string) =>
      `${POLICY}jobs:\n  etl: { tasks: { ${key}: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /a } } } }\n`;
    await apply(site, keyed("first"));
    await apply(site, keyed("second"));
    expect((await settingsOf(site, "etl")).tasks).toMatchObject([{ task_key: "second" }]);
    expect(doing(await plan(site, keyed("second")))).toEqual([]);
  });

  test("of 250 tasks is read page by page", async () => {
    const site = await start();
    const tasks = Array.from(
      { length: 250 },
      (_, at) => `      t${at}: { notebook_task: { notebook_path: /n${at} } }`,
    );
    const spec = `${POLICY}jobs:\n  etl:\n    tasks:\n${tasks.join("\n")}\n`;
    await apply(site, spec);
    const requests = (await site.world.control("GET", "requests")).body.requests as readonly Body[];
    const before = Number(requests.at(-1)?.seq);
    expect(doing(await plan(site, spec))).toEqual([]);
    const later = (await site.world.control("GET", "requests")).body.requests as readonly Body[];
    const pages = later.filter(({ seq, path }) => Number(seq) > before && path === "/api/2.2/jobs/get");
    expect(pages).toHaveLength(3);
  });
});

describe("a spec is refused with", () => {
  const wrong = async (tasks: string, more = ""): Promise<readonly string[]> => {
    const site = await start();
    const failure = (await site
      .spec(`${POLICY}jobs:\n  etl:\n    tasks: ${tasks}\n${more}`)
      .catch((problem: unknown) => problem)) as Error;
    return (JSON.parse(failure.message) as readonly Body[]).map(({ code, message }) => `${code}: ${message}`);
  };

  test.each([
    [
      "{ a: { notebook_task: { notebook_path: /a }, depends_on: [{ task_key: b }] } }",
      'SPEC_REFERENCE: jobs.etl: the job has no task "b"',
    ],
    [
      "{ a: { notebook_task: { notebook_path: /a }, depends_on: [{ task_key: b }] }, b: { notebook_task: { notebook_path: /a }, depends_on: [{ task_key: a }] } }",
      "SPEC_CYCLE: jobs.etl: tasks depend on each other: a → b → a",
    ],
    ["{ a: {} }", "SPEC_MISSING_FIELD: jobs.etl: a task needs what it runs"],
    [
      "{ a: { notebook_task: { notebook_path: /a }, sql_task: { warehouse_id: w } } }",
      "SPEC_COMBINATION: jobs.etl: a task runs one of these, not notebook_task and sql_task",
    ],
    [
      "{ a: { notebook_task: { notebook_path: /a }, job_cluster_key: k } }",
      'SPEC_REFERENCE: jobs.etl: job_clusters has no key "k"',
    ],
    [
      "{ a: { spark_python_task: { python_file: dbfs:/a.py } } }",
      "SPEC_MISSING_FIELD: jobs.etl: a spark_python_task needs a cluster or an environment_key",
    ],
    [
      "{ a: { condition_task: { op: EQUAL_TO, left: a, right: b }, existing_cluster_id: c } }",
      "SPEC_COMBINATION: jobs.etl: a condition_task runs without a cluster",
    ],
    [
      "{ a: { for_each_task: { inputs: '[]', task: { task_key: i, for_each_task: {} } } } }",
      'SPEC_UNKNOWN_FIELD: jobs.etl has no field "tasks.a.for_each_task.task.for_each_task"',
    ],
  ])("tasks %s", async (tasks, expected) => {
    expect(await wrong(tasks)).toContain(expected);
  });

  test("a field of a single task next to tasks", async () => {
    const tasks = "{ a: { notebook_task: { notebook_path: /a } } }";
    expect(await wrong(tasks, "    libraries: [{ jar: dbfs:/a.jar }]\n")).toContain(
      "SPEC_COMBINATION: jobs.etl: libraries and tasks cannot be used together",
    );
  });

  test("two ways to start", async () => {
    const tasks = "{ a: { notebook_task: { notebook_path: /a } } }";
    expect(
      await wrong(
        tasks,
        "    continuous: { pause_status: PAUSED }\n    trigger: { periodic: { interval: 1, unit: DAYS } }\n",
      ),
    ).toContain("SPEC_COMBINATION: jobs.etl: trigger and continuous cannot be used together");
  });
});

describe("a job with one task that refers to what the same apply creates", () => {
  const POOL = "pools: { p: { node_type_id: Standard_DS3_v2 } }\n";
  const NOTEBOOK = "notebook_task: { notebook_path: /n }";
  const onCluster = `${POLICY}clusters: { c: ${CLUSTER} }\n`;
  const inPool =
    'new_cluster: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "${pools.p.instance_pool_id}" }';
  const CASES = [
    [
      "a cluster",
      `${onCluster}jobs: { j: { tasks: { t: { ${NOTEBOOK}, existing_cluster_id: "\${clusters.c.cluster_id}" } } } }\n`,
    ],
    ["a pool", `${POLICY}${POOL}jobs: { j: { tasks: { t: { ${NOTEBOOK}, ${inPool} } } } }\n`],
    [
      "a cluster, and its ID in parameters twice",
      `${onCluster}jobs: { j: { tasks: { t: { notebook_task: { notebook_path: /n, base_parameters: { a: "\${clusters.c.cluster_id}", b: "is \${clusters.c.cluster_id}" } }, existing_cluster_id: "\${clusters.c.cluster_id}" } } } }\n`,
    ],
  ] as const;

  test.each(CASES)("%s, has the task whole, and again after that was deleted", async (_what, text) => {
    const site = await start();
    for (let round = 0; round < 2; round++) {
      expect((await apply(site, text)).filter((result) => !/^applied /.test(result))).toEqual([]);
      const { tasks } = (await settingsOf(site, "j")) as { tasks: readonly Body[] };
      expect(tasks).toHaveLength(1);
      expect(tasks[0]).toMatchObject({ task_key: "t", notebook_task: { notebook_path: "/n" } });
      expect(JSON.stringify(tasks)).not.toContain("${");
      expect(doing(await plan(site, text))).toEqual([]);
      const { records } = await site.state();
      for (const [address, operation, field] of [
        ["clusters.c", "clusters/permanent-delete", "cluster_id"],
        ["pools.p", "instance-pools/delete", "instance_pool_id"],
      ] as const) {
        const record = records.get(address as Address);
        if (record !== undefined) await site.world.post(`/api/2.0/${operation}`, { [field]: record.id });
      }
      await site.world.advance(600_000);
    }
  });
});
