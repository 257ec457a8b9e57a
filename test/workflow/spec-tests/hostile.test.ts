import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, runTestFile, SPEC, workspaceTest } from "./test-folder.ts";

/** Steps of a test, with more fields of the file. */
const oneTest = (fields: string, steps = "[plan: ]"): string =>
  `${fields}\ntests: { t: { steps: ${steps} } }\n`;

describe("wrong test files", () => {
  test.each([
    ["tests: {}", "1:8", "SPEC_VALUE", "tests must not be empty"],
    ["test: {}", "1:1", "SPEC_UNKNOWN_FIELD", 'did you mean "tests"?'],
    ["tests: { a: { steps: [] } }", "1:22", "SPEC_VALUE", "must not be empty"],
    ["tests: { a: { steps: [{ plan: , apply: }] } }", "1:23", "SPEC_VALUE", "at most 1 entry"],
    ["tests: { a: { steps: [{ wait: 1h }] } }", "1:25", "SPEC_UNKNOWN_FIELD", "known fields: validate, plan"],
    [
      oneTest("", "[plan: { summary: { creat: 1 } }]"),
      "2:42",
      "SPEC_UNKNOWN_FIELD",
      'did you mean "create"?',
    ],
    [
      oneTest("", "[plan: { actions: { pools: create } }]"),
      "2:42",
      "SPEC_VALUE",
      'cannot have the key "pools"',
    ],
    [oneTest("env: { WORKSPACE_HOST: x }"), "1:8", "SPEC_VALUE", 'cannot have the key "WORKSPACE_HOST"'],
    [oneTest("env: { DATABRICKS_TOKEN: x }"), "1:8", "SPEC_VALUE", "DATABRICKS_TOKEN"],
    [oneTest("timeout: 11m"), "1:10", "SPEC_VALUE", "at most 10m"],
    [oneTest("timeout: 0s"), "1:10", "SPEC_VALUE", "more than 0s"],
    ["tests: [", "1:9", "SPEC_YAML", ""],
    ["tests: { a: { steps: [plan: ] }, a: { steps: [plan: ] } }", "1:34", "SPEC_DUPLICATE_KEY", ""],
    [oneTest("", `[${"plan: , ".repeat(101)}]`), "2:22", "SPEC_VALUE", "at most 100 entries, not 101"],
  ])("%s is rejected with its place", async (text, place, code, words) => {
    const ran = await runTestFile(text);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(`error ${code}`);
    expect(ran.out).toContain(`  at a.test.yaml:${place}\n`);
    expect(ran.out).toContain(words);
  });

  test("an invalid file fails the run, and the tests of other files still run", async () => {
    const folder = folderWith({
      "workspace.yaml": SPEC,
      "a.test.yaml": "tests: 1\n",
      "b.test.yaml": oneTest("env: { DB_PASSWORD: x }"),
    });
    const ran = await workspaceTest(folder);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(
      "passed   b.test.yaml: t\n1 test in 1 file: 1 passed. 1 test file cannot be used.\n",
    );
  });
});

describe("hostile test files", () => {
  test.each([
    ["spec: ../../../etc/passwd", "SPEC_OUTSIDE"],
    ["spec: /etc/passwd", "SPEC_OUTSIDE"],
    ["world: ../../../etc/passwd", "SPEC_OUTSIDE"],
    ["rules: /etc", "SPEC_OUTSIDE"],
    ["spec: .git/config", "SPEC_OUTSIDE"],
    ["world: sub/../.env", "SPEC_OUTSIDE"],
    ["spec: link.yaml", "SPEC_OUTSIDE"],
    ["spec: linked", "SPEC_OUTSIDE"],
    ["rules: rules", "SPEC_OUTSIDE"],
    ["spec: link-to-git.yaml", "SPEC_OUTSIDE"],
    ['spec: "a\\0b"', "SPEC_NOT_FOUND"],
    ["spec: { include: [../*.yaml], groups: { a: {} } }", "SPEC_OUTSIDE"],
    ["spec: { include: [.git/config], groups: { a: {} } }", "SPEC_PRIVATE"],
    ["spec: { scopes: { s: { secrets: { k: { file: ../outside } } } } }", "SPEC_OUTSIDE"],
    ["spec: { notebooks: { /a: { source: /etc/passwd } } }", "SPEC_OUTSIDE"],
    ["spec: { modules: { m: { source: ../outside } } }", "SPEC_OUTSIDE"],
  ])("%s does not reach a file outside of the run", async (field, code) => {
    const folder = folderWith({
      "outside/workspace.yaml": "top-secret: 1\n",
      "run/.env": "TOKEN: top-secret\n",
      "run/.git/config": "top-secret: 1\n",
      "run/rules/a.yaml": "rules: []\n",
      "run/workspace.yaml": "groups: { a: {} }\n",
      "run/a.test.yaml": oneTest(field),
    });
    const run = join(folder, "run");
    symlinkSync(join(folder, "outside/workspace.yaml"), join(run, "link.yaml"));
    symlinkSync(join(folder, "outside"), join(run, "linked"));
    symlinkSync(join(run, ".git/config"), join(run, "link-to-git.yaml"));
    symlinkSync(join(folder, "outside/workspace.yaml"), join(run, "rules/b.yaml"));
    const ran = await workspaceTest(run);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(`error ${code}`);
    expect(ran.out).not.toContain("top-secret");
  });

  test("a spec next to the folder that is tested can be used, but not one above the current folder", async () => {
    const folder = folderWith({
      "workspace.yaml": SPEC,
      "tests/a.test.yaml": oneTest("spec: ../workspace.yaml\nenv: { DB_PASSWORD: x }"),
    });
    expect(await workspaceTest(folder, ["tests"])).toMatchObject({ code: 0 });
    expect((await workspaceTest(join(folder, "tests"))).out).toContain("error SPEC_OUTSIDE");
  });

  test("a test that exceeds its time limit ends, and the others pass", async () => {
    const ran = await runTestFile(
      "spec: { groups: { a: {} } }\ntests: { slow: { timeout: 1ms, steps: [apply: , live: { groups.a: {} }] }, t: { steps: [apply: ] } }\n",
    );
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("error TEST_TIMEOUT: the test did not end within 0.001 s");
    expect(ran.out).toContain("passed   a.test.yaml: t\n");
  });

  test("pauses of the service take virtual time, not real time", async () => {
    const cluster = "{ spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2 }";
    const ran = await runTestFile(
      oneTest(
        `spec: { clusters: { c: ${cluster} } }\ntimeout: 20s`,
        `[${"apply: , delete: [clusters.c], ".repeat(40)}]`,
      ),
    );
    expect(ran).toMatchObject({ code: 0 });
  });

  test("worlds and specs have the limits of specs", async () => {
    const bomb = `x0: &x0 { a: 1 }\n${Array.from({ length: 30 }, (_, at) => `x${at + 1}: &x${at + 1} [*x${at}, *x${at}]\n`).join("")}`;
    expect((await runTestFile(`${bomb}${oneTest("")}`)).out).toContain("error SPEC_TOO_LARGE");
    const modules = "spec: { modules: { m: { source: ./m, for_each: { a: {}, b: {}, c: {} } } } }";
    const m = "modules: { m: { source: ., for_each: { a: {}, b: {}, c: {} } } }\n";
    expect((await runTestFile(oneTest(modules), { "m/workspace.yaml": m })).out).toContain(
      "error SPEC_MODULE",
    );
    const many = `world: { pools: { ${Array.from({ length: 5000 }, (_, at) => `p${at}: { node_type_id: Standard_DS3_v2 }`).join(", ")} } }\ntimeout: 50ms`;
    const ran = await runTestFile(oneTest(many));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("error TEST_TIMEOUT: the test did not end within 0.05 s");
  });

  test("--update does not write through a symbolic link", async () => {
    const folder = folderWith({
      "real.yaml": "spec: { groups: { a: {} } }\ntests: { t: { steps: [plan: { summary: {} }] } }\n",
      "run/workspace.yaml": "groups: { a: {} }\n",
    });
    const before = readFileSync(join(folder, "real.yaml"), "utf8");
    symlinkSync(join(folder, "real.yaml"), join(folder, "run/a.test.yaml"));
    const ran = await workspaceTest(join(folder, "run"), ["a.test.yaml", "--update"]);
    expect(ran.code).toBe(1);
    expect(readFileSync(join(folder, "real.yaml"), "utf8")).toBe(before);
  });

  test("names with control characters cannot steer a terminal or a CI service", async () => {
    const ran = await runTestFile(
      'spec: { groups: { a: {} } }\ntests: { "\\e[2J::error::x": { steps: [plan: { actions: { "groups.\\e]0;x": create } }] } }\n',
    );
    expect(ran.code).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(ran.out).not.toMatch(/[\u001b]|::error::/);
  });

  test("a report is not written through a symbolic link", async () => {
    const folder = folderWith({ "a.test.yaml": oneTest("spec: { groups: { a: {} } }") });
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "victim"), "kept");
    symlinkSync(join(folder, "victim"), join(folder, "out/tests.xml"));
    const ran = await workspaceTest(folder, ["-o", "junit=out/tests.xml"]);
    expect(ran.code).toBe(1);
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("kept");
  });
});

describe("rules in spec tests", () => {
  const RULES = `rules:
  - { name: small, kinds: [pools], assert: "change.after.max_capacity <= 50", message: too large }
  - { name: tagged, kinds: [pools], assert: "has(change.after.custom_tags)", message: no tags, enforcement: warn }
`;
  const pools = "pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 60 } }";

  test("violations are expectations, and an unexpected one fails the test", async () => {
    const steps =
      "[plan: { rules: [tagged, { rule: small, address: pools.a, enforcement: error }] }, apply: { rules: [small, tagged] }, live: { pools.a: null }]";
    const files = { "workspace.yaml": `${RULES}${pools}\n` };
    expect(await runTestFile(oneTest("", steps), files)).toMatchObject({ code: 0 });
    const ran = await runTestFile(oneTest("", "[plan: { summary: { create: 1 } }]"), files);
    expect(ran.out).toContain("step 1 (plan): unexpected rules");
    expect(ran.out).toContain("GUARD_RULE: pools.a: too large");
  });

  test("a folder of rules applies in addition to the spec", async () => {
    const files = { "workspace.yaml": `${pools}\n`, "policy/a.yaml": RULES };
    expect(
      await runTestFile(oneTest("rules: policy", "[plan: { rules: [small, tagged] }]"), files),
    ).toMatchObject({ code: 0 });
    expect((await runTestFile(oneTest("rules: missing"), files)).out).toContain("error SPEC_RULE");
  });
});
