import { describe, expect, test } from "vitest";
import { runTestFile } from "./test-folder.ts";

const ENV = "env: { DB_PASSWORD: fake, OTHER: fake-too }\n";
const PASSED = { code: 0, out: "passed   a.test.yaml: t\n1 test in 1 file: 1 passed.\n" };

/** A test `t` of one line for each step. */
const steps = (...lines: readonly string[]): string =>
  `${ENV}tests:\n  t:\n    steps:\n${lines.map((line) => `      - ${line}\n`).join("")}`;

describe("steps of a spec test", () => {
  test("validate, plan, apply, and a second plan pass when they find what is expected", async () => {
    const ran = await runTestFile(
      steps(
        "validate:",
        "plan: { summary: { create: 6 }, actions: { groups.data-eng: create, scopes.etl: create, acls.etl/data-eng: create, secrets.etl/db-password: create, pools.shared: create, clusters.adhoc: create } }",
        "apply: { summary: { create: 6 } }",
        "plan: { summary: {}, actions: { pools.shared: noop } }",
        "drift:",
        "live: { pools.shared: { max_capacity: 20 }, clusters.adhoc: { instance_pool_id: '${pools.shared.instance_pool_id}' }, acls.etl/data-eng: READ, jobs.nightly: null }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("change is drift, and the next apply repairs it", async () => {
    const ran = await runTestFile(
      steps(
        "apply:",
        "change: { pools.shared: { max_capacity: 5 }, acls.etl/data-eng: WRITE, clusters.adhoc: { autotermination_minutes: 30 } }",
        "live: { pools.shared: { max_capacity: 5 }, acls.etl/data-eng: WRITE, clusters.adhoc: { autotermination_minutes: 30 } }",
        "drift: { drift: { pools.shared: changed, acls.etl/data-eng: changed, clusters.adhoc: changed } }",
        "apply: { summary: { update: 3 } }",
        "live: { pools.shared: { max_capacity: 20 }, acls.etl/data-eng: READ }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("create and delete are outside of the state", async () => {
    const ran = await runTestFile(
      steps(
        "apply:",
        "create: { pools: { other: { node_type_id: Standard_DS3_v2 } }, users: { eve@example.com: {} } }",
        "delete: [clusters.adhoc, secrets.etl/db-password]",
        "drift: { drift: { clusters.adhoc: deleted, secrets.etl/db-password: deleted } }",
        "plan: { actions: { clusters.adhoc: create, secrets.etl/db-password: create } }",
        "live: { pools.shared: {}, pools.other: {}, users.eve@example.com: {}, clusters.adhoc: null }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("every kind of object can be changed and deleted", async () => {
    const spec = `notebooks: { /Shared/x: { source: x.py } }
jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2 }
    notebook_task: { notebook_path: /Shared/x }
directories: { /Shared/d: {} }
files: { "/x.txt": { source: x.py } }
users: { eve@example.com: {} }
groups: { g: {} }
scopes: { s: { secrets: { k: { env: DB_PASSWORD } } } }
`;
    const all =
      "notebooks./Shared/x, jobs.j, directories./Shared/d, files./x.txt, users.eve@example.com, groups.g, secrets.s/k, scopes.s";
    const ran = await runTestFile(
      steps(
        "apply: { summary: { create: 8 } }",
        "change: { notebooks./Shared/x: { source: y.py }, files./x.txt: { source: y.py }, jobs.j: { max_concurrent_runs: 3 }, users.eve@example.com: { entitlements: [allow-cluster-create] }, secrets.s/k: { env: OTHER } }",
        "drift: { drift: { notebooks./Shared/x: changed, files./x.txt: changed, jobs.j: changed, users.eve@example.com: changed, secrets.s/k: changed } }",
        `delete: [${all}]`,
        "plan: { summary: { create: 8 } }",
        "live: { notebooks.x: null, jobs.j: null, directories.d: null, files.f: null, users.u: null, groups.g: null, scopes.s: null, secrets.s: null }",
      ),
      { "workspace.yaml": spec, "x.py": "print(1)\n", "y.py": "print(2)\n" },
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("destroy, adopt, and only shape a plan like the options", async () => {
    const ran = await runTestFile(
      steps(
        "create: { pools: { shared: { node_type_id: Standard_DS3_v2 } } }",
        "plan: { diagnostics: [{ code: PLAN_ALREADY_EXISTS, address: pools.shared }] , only: [pools.shared] }",
        "apply: { adopt: true, only: [pools.shared], actions: { pools.shared: update } }",
        "plan: { summary: { create: 5 } }",
        "apply:",
        "plan: { destroy: true, summary: { delete: 4, forget: 2 } }",
        "apply: { destroy: true }",
        "live: { pools.shared: null, scopes.etl: null }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("a guard that blocks the plan is an expectation, and nothing is applied", async () => {
    const empty = "{ spec: { policy: { max_deletes: 1 }, groups: { data-eng: {} } }";
    const ran = await runTestFile(
      steps(
        "apply:",
        `plan: ${empty}, guards: [GUARD_MAX_DELETES] }`,
        `apply: ${empty}, guards: [{ code: GUARD_MAX_DELETES }], summary: { delete: 3, forget: 2 } }`,
        "live: { pools.shared: {}, clusters.adhoc: {} }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });

  test("the diagnostics of an invalid spec are expectations", async () => {
    const ran = await runTestFile(
      steps(
        "validate: { spec: { pools: { a: { size: 1 } } }, diagnostics: [{ code: SPEC_UNKNOWN_FIELD, address: pools.a }, SPEC_MISSING_FIELD] }",
        "plan: { spec: { polls: {} }, diagnostics: [SPEC_UNKNOWN_KIND] }",
        "drift: { diagnostics: [STATE_NOT_FOUND] }",
      ),
    );
    expect(ran).toMatchObject(PASSED);
  });
});
