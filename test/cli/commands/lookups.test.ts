// Values that a plan can check against the workspace: an unknown one is an error of the plan, not of an apply that is half done.

import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "lookup-token";
const BEARER = { authorization: `Bearer ${TOKEN}` };

let emulator: RunningServer;
let folder: string;
beforeEach(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith("");
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: string[]): Promise<{ readonly code: number; readonly text: string }> {
  const context = contextWith({ WORKSPACE_HOST: emulator.url, WORKSPACE_TOKEN: TOKEN }, folder);
  const code = await runProgram(context, words);
  return { code, text: context.out() + context.err() };
}

const write = (spec: string): void => writeFileSync(join(folder, "workspace.yaml"), spec);

async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${emulator.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...BEARER, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

/** The requests of a run, except the lists of the declared kinds. */
async function lookedUp(...words: string[]): Promise<readonly string[]> {
  await fetch(`${emulator.url}/__emulator/requests`, { method: "DELETE", headers: BEARER });
  await run(...words);
  const { requests } = (await call("/__emulator/requests")) as {
    requests: { path: string; query?: object }[];
  };
  return requests
    .map(({ path, query }) =>
      `${path.replace(/^.*\/api\/2\.0\//, "")} ${JSON.stringify(query ?? {})}`.replace(/ ""$/, " {}"),
    )
    .filter((one) => /spark-versions|node-types|workspace\/list|clusters/.test(one))
    .sort();
}

const problems = (text: string): readonly string[] =>
  [...text.matchAll(/^(?:error|warning) (PLAN_\w+: .*)\n(?: {2}at (\S+))?/gm)].map(([, what, at]) =>
    at === undefined ? String(what) : `${what} at ${at}`,
  );

const CLUSTER = "{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }";

test("an unknown Spark version, node type, cluster ID, or notebook path is reported with its place and a suggestion", async () => {
  await call("/api/2.0/workspace/mkdirs", { path: "/Shared" });
  await call("/api/2.0/workspace/import", {
    path: "/Shared/load",
    language: "PYTHON",
    format: "SOURCE",
    content: "",
  });
  write(`clusters:
  a: { spark_version: 6.4.x-scala2.12, node_type_id: Standard_DS3_v3, driver_node_type_id: nothing-like-it, num_workers: 1 }
pools:
  p: { node_type_id: Standard_DS3v2, preloaded_spark_versions: [6.4.x-scala2.11, 6.5.x-scala2.1] }
jobs:
  j:
    existing_cluster_id: 0101-120000-brick1
    notebook_task: { notebook_path: /Shared/laod }
  k:
    new_cluster: { spark_version: 9.9.x, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: /Nowhere/load }
  good:
    new_cluster: ${CLUSTER}
    notebook_task: { notebook_path: /Shared/load }
`);
  const { code, text } = await run("plan");
  expect(code).toBe(1);
  expect(problems(text)).toEqual([
    'PLAN_UNKNOWN_NAME: clusters.a: spark_version "6.4.x-scala2.12" is not a Spark version of the workspace at workspace.yaml:2:23',
    'PLAN_UNKNOWN_NAME: clusters.a: node_type_id "Standard_DS3_v3" is not a node type of the workspace at workspace.yaml:2:54',
    'PLAN_UNKNOWN_NAME: clusters.a: driver_node_type_id "nothing-like-it" is not a node type of the workspace at workspace.yaml:2:92',
    'PLAN_UNKNOWN_NAME: jobs.j: existing_cluster_id "0101-120000-brick1" is not the ID of a cluster in the workspace at workspace.yaml:7:26',
    'PLAN_UNKNOWN_NAME: jobs.j: notebook_task.notebook_path "/Shared/laod" is not a notebook in the workspace at workspace.yaml:8:37',
    'PLAN_UNKNOWN_NAME: jobs.k: new_cluster.spark_version "9.9.x" is not a Spark version of the workspace at workspace.yaml:10:35',
    'PLAN_UNKNOWN_NAME: jobs.k: notebook_task.notebook_path "/Nowhere/load" is not a notebook in the workspace at workspace.yaml:11:37',
    'PLAN_UNKNOWN_NAME: pools.p: node_type_id "Standard_DS3v2" is not a node type of the workspace at workspace.yaml:4:22',
    'PLAN_UNKNOWN_NAME: pools.p: preloaded_spark_versions[1] "6.5.x-scala2.1" is not a Spark version of the workspace at workspace.yaml:4:82',
  ]);
  expect(text).toContain('hint: did you mean "6.4.x-scala2.11"?');
  expect(text).toContain('hint: did you mean "Standard_DS3_v2"?');
  expect(text).toContain('hint: did you mean "/Shared/load"?');
  expect(text).toContain("hint: to list them, run `workspace api clusters/list-node-types`");
  // The service accepts a job without its notebook, which may be created later.
  expect([...text.matchAll(/^warning PLAN_UNKNOWN_NAME: (\S+ \S+)/gm)].map(([, what]) => what)).toEqual([
    "jobs.j: notebook_task.notebook_path",
    "jobs.k: notebook_task.notebook_path",
  ]);
  expect((await run("apply", "--auto-approve")).code).toBe(1);
  expect(await call("/api/2.0/jobs/list")).toEqual({});
});

test("each list is asked for once, and only by a plan that sends such a value", async () => {
  const cluster_id = String(
    (
      await call("/api/2.0/clusters/create", {
        spark_version: "6.4.x-scala2.11",
        node_type_id: "Standard_DS3_v2",
        num_workers: 1,
      })
    ).cluster_id,
  );
  await call("/api/2.0/workspace/mkdirs", { path: "/Shared" });
  for (const name of ["one", "two"])
    await call("/api/2.0/workspace/import", {
      path: `/Shared/${name}`,
      language: "PYTHON",
      format: "SOURCE",
      content: "",
    });
  const spec = (retries: number): string => `jobs:
  a: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Shared/one }, max_retries: ${retries} }
  b: { existing_cluster_id: ${cluster_id}, notebook_task: { notebook_path: /Shared/two } }
`;
  write(spec(0));
  const all = [
    "clusters/list {}",
    "clusters/list-node-types {}",
    "clusters/spark-versions {}",
    'workspace/list "path=%2FShared"',
  ];
  expect(await lookedUp("plan")).toEqual(all);
  expect(await lookedUp("plan", "--offline")).toEqual([]);
  expect((await run("apply", "--auto-approve")).code).toBe(0);
  expect(await lookedUp("plan")).toEqual([]);
  write(spec(1));
  expect(await lookedUp("plan")).toEqual([]);
  write(spec(1).replace("6.4.x", "6.5.x"));
  expect(await lookedUp("plan")).toEqual(["clusters/spark-versions {}"]);
});

describe("--cost", () => {
  const NODE_TYPES = ["clusters/list-node-types {}"];
  const spec = (workers: number, more = "") =>
    write(
      `clusters: { a: ${CLUSTER.replace("num_workers: 1", `num_workers: ${workers}, autotermination_minutes: 60`)} }\n${more}`,
    );
  const lists = async (...words: string[]): Promise<readonly string[]> =>
    (await lookedUp(...words)).filter((request) => request.includes("node-types"));

  test("reads the node types once, and only if the plan changes machines or a rule may add them up", async () => {
    spec(1);
    expect(await lists("plan", "--cost")).toEqual(NODE_TYPES);
    expect((await run("apply", "--auto-approve")).code).toBe(0);
    expect(await lists("plan", "--cost")).toEqual([]);
    spec(5);
    expect(await lists("plan")).toEqual([]);
    expect(await lists("plan", "--cost")).toEqual(NODE_TYPES);
    const { text } = await run("plan", "--cost");
    expect(text).toContain("cost: +16 cores, +56 GB while running (8 cores, 28 GB before)\n");
    expect(text).toContain("Cost of these changes: +16 cores, +56 GB while running.\n");
    spec(1, "rules: [{ name: small, assert: 'plan.changes.map(c, c.cost.max_cores).sum() <= 4.0' }]\n");
    expect(await lists("plan", "--cost")).toEqual(NODE_TYPES);
    expect((await run("plan", "--cost")).text).toContain("error GUARD_RULE: the assertion is false");
  });

  test("says so if the node types were not read", async () => {
    spec(1);
    expect(problems((await run("plan", "--cost", "--offline")).text)).toContain(
      "PLAN_UNCHECKED: node types were not read, so cores and memory are not shown",
    );
  });

  test("is in JSON as the member capacity", async () => {
    spec(1);
    const side = {
      ...{ min_cores: 8, max_cores: 8, always_cores: 0 },
      ...{ min_memory_gb: 28, max_memory_gb: 28, always_memory_gb: 0 },
      ...{ runs_per_month: 0, unknown: [] },
    };
    const { capacity } = JSON.parse(
      (await run("plan", "--cost", "-o", "json")).text.replace(/^Read.*\n/m, ""),
    );
    expect(capacity).toMatchObject({
      after: side,
      changes: [{ address: "clusters.a", before: null, after: side }],
    });
  });
});

test("declared notebooks, references, and values that a pool decides are not looked up", async () => {
  writeFileSync(join(folder, "load.py"), "print(1)\n");
  write(`pools: { p: { node_type_id: Standard_DS3_v2 } }
notebooks: { /Shared/load: { source: load.py } }
clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: no-such-type, instance_pool_id: "\${pools.p.instance_pool_id}", num_workers: 1 } }
jobs: { j: { existing_cluster_id: "\${clusters.c.cluster_id}", notebook_task: { notebook_path: /Shared/load } } }
`);
  const { code, text } = await run("plan");
  expect([code, problems(text)]).toEqual([0, []]);
});

test("a list that the caller may not read is a warning that names the cause", async () => {
  write(`clusters: { a: ${CLUSTER} }\n`);
  const rules = [
    {
      path: "/api/2.0/clusters/list-node-types",
      fate: "status",
      status: 403,
      error_code: "PERMISSION_DENIED",
    },
  ];
  await fetch(`${emulator.url}/__emulator/faults`, {
    method: "PUT",
    headers: { ...BEARER, "content-type": "application/json" },
    body: JSON.stringify({ rules }),
  });
  const { code, text } = await run("plan");
  expect(code, text).toBe(0);
  expect(problems(text)).toEqual([
    "PLAN_UNCHECKED: node types could not be read, so node_type_id of clusters.a is not checked at workspace.yaml:1:64",
  ]);
});

test("a notebook path with the prefix /Workspace names the declared notebook without it, which the job waits for", async () => {
  writeFileSync(join(folder, "n.py"), "print(1)\n");
  write(`notebooks: { /Shared/n: { source: n.py } }
jobs: { j: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Workspace/Shared/n } } }
`);
  const { code, text } = await run("plan");
  expect([code, problems(text)]).toEqual([0, []]);
  const graph = await run("graph", "-o", "json");
  expect(JSON.parse(graph.text).edges).toContainEqual(
    expect.objectContaining({ from: "jobs.j", to: "notebooks./Shared/n" }),
  );
});

test("a folder that cannot be listed leaves the notebooks of other folders checked", async () => {
  write(`jobs:
  a: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Shared/x } }
  b: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Shared/x/../y } }
`);
  const { code, text } = await run("plan");
  expect(code, text).toBe(0);
  const found = problems(text);
  expect(found.filter((one) => one.includes('notebook_path "/Shared/x" is not a notebook'))).toHaveLength(1);
  expect(found.filter((one) => /notebook_path of jobs.b is not checked/.test(one))).toHaveLength(1);
});

test("an untrusted plan checks versions and node types, and tells nothing of clusters and notebooks", async () => {
  write(`jobs:
  j: { new_cluster: { spark_version: 6.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1 }, notebook_task: { notebook_path: /Shared/x } }
  k: { existing_cluster_id: 0101-120000-brick1, notebook_task: { notebook_path: /Shared/y } }
`);
  const asked = await lookedUp("plan", "--untrusted");
  expect(asked).toEqual(["clusters/list-node-types {}", "clusters/spark-versions {}"]);
  const { code, text } = await run("plan", "--untrusted");
  expect(code).toBe(1);
  expect(problems(text).filter((one) => one.startsWith("PLAN_UNKNOWN_NAME"))).toHaveLength(1);
});

test("notebooks of very many folders are checked in some of them, with a warning", async () => {
  const jobs = Array.from(
    { length: 30 },
    (_, at) =>
      `  j${at}: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /F${String(at).padStart(2, "0")}/n } }`,
  );
  write(`jobs:\n${jobs.join("\n")}\n`);
  expect((await lookedUp("plan")).filter((one) => one.startsWith("workspace/list"))).toHaveLength(20);
  const { text } = await run("plan", "-o", "json");
  expect(text.match(/"PLAN_UNKNOWN_NAME"/g)).toHaveLength(20);
  expect(text.match(/"PLAN_UNCHECKED"/g)).toHaveLength(1);
});

test("the first plan looks each value up once", async () => {
  write(`jobs:
  j:
    new_cluster: ${CLUSTER}
    notebook_task: { notebook_path: /Shared/load }
`);
  expect(await lookedUp("plan")).toEqual([
    "clusters/list-node-types {}",
    "clusters/spark-versions {}",
    'workspace/list "path=%2FShared"',
  ]);
});

test("a plan that cannot read the lists looks nothing up", async () => {
  write(`jobs: { j: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Shared/load } } }\n`);
  const requested: string[] = [];
  const refusing = createServer((request, answer) => {
    requested.push(String(request.url).replace(/^.*\/2\.0\/|\?.*/g, ""));
    answer.writeHead(401, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const { port } = refusing.address() as AddressInfo;
  try {
    const { code, text } = await run("plan", "--host", `http://127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(text.match(/^error \w+/gm)).toEqual(["error API_UNAUTHENTICATED"]);
    expect(requested).toEqual(["jobs/list"]);
  } finally {
    refusing.closeAllConnections();
    await new Promise((resolve) => refusing.close(resolve));
  }
});
