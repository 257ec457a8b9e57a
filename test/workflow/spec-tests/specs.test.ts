import { existsSync, readdirSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { folderWith, runTestFile, SPEC, workspaceTest } from "./test-folder.ts";

const TEAM = `inputs: { team: { type: string }, capacity: { type: integer, default: 10 } }
pools:
  shared: { instance_pool_name: "\${input.team}-shared", node_type_id: Standard_DS3_v2, max_capacity: "\${input.capacity}" }
`;

const FLEET = `variables: { env: { default: dev } }
targets:
  dev: { default: true }
  prod: { protected: true, host: "https://prod.example.com", profile: prod, state: "workspace:/x", variables: { env: prod } }
modules:
  team: { source: ./modules/team, for_each: { ads: { capacity: 20 }, web: {} }, with: { team: "\${each.key}", capacity: "\${each.value.?capacity.orValue(5)}" } }
moved: [{ from: pools.old, to: pools.team/ads/shared }]
removed: [{ address: groups.gone, destroy: false }]
import: [{ to: clusters.c, id: 0101-120000-abc }]
clusters:
  c: { spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2 }
groups: { "team-\${var.env}": {} }
`;

const FILES = { "workspace.yaml": FLEET, "modules/team/workspace.yaml": TEAM };

describe("specs of spec tests", () => {
  test("modules, a protected target with a host and a state, and moved, removed, and import entries work", async () => {
    const ran = await runTestFile(
      `world: { clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 2, node_type_id: Standard_DS3_v2 } } }
ids: { clusters.c: 0101-120000-abc }
target: prod
tests:
  t:
    steps:
      - apply:
          spec:
            pools: { old: { instance_pool_name: ads-shared, node_type_id: Standard_DS3_v2, max_capacity: 20 } }
            groups: { gone: {} }
      - plan: { actions: { pools.team/ads/shared: move, pools.team/web/shared: create, clusters.c: update, groups.team-prod: create, groups.gone: forget } }
      - apply:
      - plan: { summary: {} }
      - validate: { diagnostics: [SPEC_STATE_ENTRY, SPEC_STATE_ENTRY, SPEC_STATE_ENTRY] }
      - live: { clusters.c: { num_workers: 1 }, groups.team-prod: {}, groups.gone: {}, pools.team/ads/shared: { max_capacity: 20 }, pools.team/web/shared: { max_capacity: 5 } }
`,
      FILES,
    );
    expect(ran).toMatchObject({ code: 0, err: "" });
  });

  test("targets and variables belong to the spec at their level", async () => {
    const ran = await runTestFile(
      `target: prod
variables: { env: qa }
tests:
  a: { steps: [{ plan: { only: ["groups.*"], actions: { groups.team-qa: create } } }] }
  b: { target: dev, variables: { env: ci }, steps: [{ plan: { only: ["groups.*"], actions: { groups.team-ci: create } } }] }
  c: { steps: [{ plan: { spec: { groups: { x: {} } }, actions: { groups.x: create } } }] }
`,
      FILES,
    );
    expect(ran.out).toBe(
      "passed   a.test.yaml: a\npassed   a.test.yaml: b\npassed   a.test.yaml: c\n3 tests in 1 file: 3 passed.\n",
    );
  });

  test("a variable of a list type is given as YAML", async () => {
    const ran = await runTestFile(
      `variables: { names: [a, b], size: 7 }
spec:
  variables: { names: { type: array }, size: { type: number } }
  pools: { "\${var.names.join('-')}": { node_type_id: Standard_DS3_v2, max_capacity: "\${var.size}" } }
tests: { t: { steps: [{ apply: }, { live: { pools.a-b: { max_capacity: 7 } } }] } }
`.replace("{ apply: }", "apply: "),
    );
    expect(ran).toMatchObject({ code: 0 });
  });

  test("a world can be an export", async () => {
    const ran = await runTestFile(
      `env: { DB_PASSWORD: fake }
world: export
tests:
  t:
    steps:
      - plan: { adopt: true, actions: { pools.shared: adopt, groups.data-eng: adopt, scopes.etl: create, acls.etl/data-eng: create, secrets.etl/db-password: create, clusters.adhoc: create } }
`,
      {
        "export/workspace.yaml":
          "groups: { data-eng: {} }\npools: { shared: { node_type_id: Standard_DS3_v2, max_capacity: 20 } }\n",
      },
    );
    expect(ran).toMatchObject({ code: 0 });
  });

  test("the databricks dialect decides what a spec can contain", async () => {
    const tests = (dialect: string) => `dialect: ${dialect}
spec: { clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2, data_security_mode: SINGLE_USER } } }
tests: { t: { steps: [apply: , live: { clusters.c: { num_workers: 1 } }] } }
`;
    expect(await runTestFile(tests("databricks"))).toMatchObject({ code: 0 });
    expect((await runTestFile(tests("contract"))).out).toContain("error SPEC_UNKNOWN_FIELD");
  });

  test("tests with the same names do not meet, whatever runs at the same time", async () => {
    const one = (name: string, size: number) =>
      `tests: { same: { variables: { size: ${size} }, env: { DB_PASSWORD: ${name} }, steps: [apply: { summary: { create: 6 } }, live: { pools.shared: { max_capacity: ${size} } }] } }\n`;
    const files = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`t${at}.test.yaml`, one(`n${at}`, at + 1)]),
    );
    const folder = folderWith({ "workspace.yaml": SPEC, ...files });
    const ran = await workspaceTest(folder, ["--parallelism", "8"]);
    const lines = Array.from({ length: 8 }, (_, at) => `passed   t${at}.test.yaml: same\n`);
    expect(ran).toEqual({ code: 0, out: `${lines.join("")}8 tests in 8 files: 8 passed.\n`, err: "" });
    expect(existsSync(join(folder, ".workspace"))).toBe(false);
    expect(readdirSync(folder).length).toBe(9);
  });

  test("the output is the same for every number of tests at the same time", async () => {
    const one =
      "{ env: { DB_PASSWORD: x }, steps: [apply: { summary: {} }, live: { clusters.none: {} }, drift: ] }";
    const names = Array.from({ length: 6 }, (_, at) => `t${at}: ${one}`);
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": `tests: { ${names.join(", ")} }\n` });
    const outputs = [];
    for (const number of ["1", "6", "2"])
      outputs.push((await workspaceTest(folder, ["--parallelism", number, "-o", "json"])).out);
    expect(new Set(outputs).size).toBe(1);
    expect(outputs[0]).toContain("instance_pool_id");
  });

  test("no test opens a connection", async () => {
    const connect = vi.spyOn(Socket.prototype, "connect");
    const ran = await runTestFile("env: { DB_PASSWORD: x }\ntests: { t: { steps: [apply: , drift: ] } }\n");
    expect(ran.code).toBe(0);
    expect(connect).not.toHaveBeenCalled();
    connect.mockRestore();
  });

  test("nothing of the process reaches a test: no host, no token, no state, no variable", async () => {
    const folder = folderWith({
      "workspace.yaml": SPEC,
      "a.test.yaml": "tests: { t: { steps: [apply: ] } }\n",
      ".workspacecfg": "[DEFAULT]\nhost = https://real.example.com\ntoken = real\n",
    });
    const env = {
      WORKSPACE_HOST: "https://real.example.com",
      WORKSPACE_TOKEN: "real",
      WORKSPACE_STATE: "postgres://real.example.com/db",
      WORKSPACE_VAR_size: "not a number",
      DB_PASSWORD: "real-password",
    };
    const ran = await workspaceTest(folder, [], env);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("error SPEC_SECRET_SOURCE");
    expect(ran.out).not.toMatch(/real|not a number/);
  });
});
