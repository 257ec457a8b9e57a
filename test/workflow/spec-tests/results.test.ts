import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findTests, runTests } from "../../../src/workflow/spec-tests/run-tests.ts";
import { folderWith, runTestFile, SPEC, workspaceTest } from "./test-folder.ts";

const FAILING = `# Tests of the team's spec.
env: { DB_PASSWORD: fake }

tests:
  capacity:
    steps:
      - apply: { summary: { create: 5 } } # all of it
      - live:
          # The pool that the clusters share.
          pools.shared: { max_capacity: 10 }
  drift:
    steps:
      - apply:
      - change: { pools.shared: { max_capacity: 5 } }
      - drift:
`;

const FAILED = `failed   a.test.yaml: capacity
  step 1 (apply): summary is not as expected (- expected, + found)
    at a.test.yaml:7:18
    - create: 5
    + create: 6
  step 2 (live): live objects are not as expected (- expected, + found)
    at a.test.yaml:8:9
      pools.shared:
    -   max_capacity: 10
    +   max_capacity: 20
failed   a.test.yaml: drift
  step 3 (drift): unexpected drift
    at a.test.yaml:15:9
    + pools.shared: changed
2 tests in 1 file: 2 failed.
`;

describe("results of spec tests", () => {
  test("a failing test shows each step that differs, with its place and a diff", async () => {
    expect(await runTestFile(FAILING)).toEqual({ code: 1, out: FAILED, err: "" });
  });

  test("JUnit has one case for each test, and can be written to a file", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": FAILING });
    const ran = await workspaceTest(folder, ["-o", "junit=tests.xml"]);
    expect(ran.out).toBe(FAILED);
    const xml = readFileSync(join(folder, "tests.xml"), "utf8").replace(/time="[\d.]+"/g, 'time="0"');
    expect(xml).toContain(
      '<testsuites name="workspace test" tests="2" failures="2" errors="0" skipped="0" time="0">',
    );
    expect(xml).toContain(
      '<testcase classname="a.test.yaml" name="drift" time="0"><failure type="TEST_FAILED" message="step 3 (drift): unexpected drift">a.test.yaml:15:9 step 3 (drift): unexpected drift\n  + pools.shared: changed</failure></testcase>',
    );
  });

  test("JSON contains expected and actual values, and no times", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": FAILING });
    const ran = await workspaceTest(folder, ["-o", "json", "--filter", "capacity"]);
    expect(JSON.parse(ran.out)).toEqual({
      format_version: "1.0",
      summary: { passed: 0, updated: 0, failed: 1 },
      tests: [
        {
          file: "a.test.yaml",
          name: "capacity",
          line: 5,
          status: "failed",
          problems: [
            {
              message: "step 1 (apply): summary is not as expected",
              step: 1,
              step_name: "apply",
              at: { file: "a.test.yaml", line: 7, column: 18 },
              expectation: "summary",
              expected: { create: 5 },
              actual: { create: 6 },
              diagnostics: [],
            },
            {
              message: "step 2 (live): live objects are not as expected",
              step: 2,
              step_name: "live",
              at: { file: "a.test.yaml", line: 8, column: 9 },
              expectation: "live",
              expected: { "pools.shared": { max_capacity: 10 } },
              actual: { "pools.shared": { max_capacity: 20 } },
              diagnostics: [],
            },
          ],
        },
      ],
      diagnostics: [],
    });
  });

  test("--update rewrites written expectations, keeps comments, adds none, and does nothing the second time", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": FAILING });
    const path = join(folder, "a.test.yaml");
    const first = await workspaceTest(folder, ["--update"]);
    const updated = FAILING.replace("create: 5", "create: 6").replace("max_capacity: 10", "max_capacity: 20");
    expect(readFileSync(path, "utf8")).toBe(updated);
    expect(first.code).toBe(1);
    expect(first.out).toContain("updated  a.test.yaml: capacity\nfailed   a.test.yaml: drift\n");
    writeFileSync(path, updated.replace("- drift:", "- drift: { drift: {} }"));
    expect((await workspaceTest(folder, ["--update"])).out).toContain(
      "2 tests in 1 file: 1 passed, 1 updated.\n",
    );
    const after = readFileSync(path, "utf8");
    expect(after).toContain("- drift: { drift: { pools.shared: changed } }");
    expect(await workspaceTest(folder, ["--update"])).toMatchObject({
      code: 0,
      out: "passed   a.test.yaml: capacity\npassed   a.test.yaml: drift\n2 tests in 1 file: 2 passed.\n",
    });
    expect(readFileSync(path, "utf8")).toBe(after);
  });

  test("--update keeps a byte order mark, and leaves a file that changed during the run", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": `\ufeff${FAILING}` });
    const path = join(folder, "a.test.yaml");
    const options = { cwd: folder, parallelism: 1, update: true, signal: new AbortController().signal };
    const found = findTests(folder, { folder: undefined, filters: [] });
    writeFileSync(path, `\ufeff${FAILING}# edited\n`);
    const [result] = await runTests(found, options);
    expect(result).toMatchObject({ status: "failed" });
    expect(JSON.stringify(result?.problems.at(-1))).toContain(
      "a.test.yaml are not updated: it changed during",
    );
    expect(readFileSync(path, "utf8")).toBe(`\ufeff${FAILING}# edited\n`);
    writeFileSync(path, `\ufeff${FAILING}`);
    expect((await runTests(found, options))[0]).toMatchObject({ status: "updated" });
    expect(readFileSync(path, "utf8")).toMatch(/^\ufeff[^\ufeff]*create: 6/);
  });

  test("--update fills empty expectations, and removes what is not found with the comment above it", async () => {
    const folder = folderWith({
      "workspace.yaml": SPEC,
      "a.test.yaml": `env: { DB_PASSWORD: fake }
tests:
  t:
    steps:
      - plan: { summary: {}, only: [pools.shared], actions: {} }
      - apply:
      - plan:
          actions:
            # gone
            pools.other: create
            pools.shared: update
          diagnostics: [SPEC_VALUE]
      - live: { pools.none: {}, groups.data-eng: null }
`,
    });
    expect(await workspaceTest(folder, ["--update"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toBe(`env: { DB_PASSWORD: fake }
tests:
  t:
    steps:
      - plan: { summary: { create: 1 }, only: [pools.shared], actions: { pools.shared: create } }
      - apply:
      - plan:
          actions:
            pools.shared: noop
          diagnostics: []
      - live: { groups.data-eng: {}, pools.shared: { node_type_id: Standard_DS3_v2, max_capacity: 20 } }
`);
    expect(await workspaceTest(folder)).toMatchObject({ code: 0 });
  });

  test("--update expects no object where none exists", async () => {
    const folder = folderWith({
      "a.test.yaml":
        "spec: { groups: { a: {} } }\ntests:\n  t:\n    steps:\n      - live: { groups.a: {}, pools.p: { max_capacity: 1 } }\n",
    });
    expect((await workspaceTest(folder, ["--update"])).out).toContain("updated  a.test.yaml: t\n");
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toContain(
      "live: { groups.a: null, pools.p: null }",
    );
    expect(await workspaceTest(folder)).toMatchObject({ code: 0 });
  });

  test("--update keeps the spaces in maps in one line, also inside lists", async () => {
    const folder = folderWith({
      "a.test.yaml":
        "spec: { groups: { a: {} } }\ntests: { t: { steps: [{ plan: { summary: { create: 9 }, actions: {} } }, { validate: {} }] } }\n",
    });
    expect((await workspaceTest(folder, ["--update"])).out).toContain("updated  a.test.yaml: t\n");
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toContain(
      "tests: { t: { steps: [{ plan: { summary: { create: 1 }, actions: { groups.a: create } } }, { validate: {} }] } }\n",
    );
  });

  test("--update quotes a string that would end its member of a map in one line", async () => {
    const folder = folderWith({
      "a.test.yaml":
        'spec: { pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { t: "x, y" } } } }\ntests: { t: { steps: [{ apply: {} }, { live: { pools.p: { custom_tags: { t: old } } } }] } }\n',
    });
    expect((await workspaceTest(folder, ["--update"])).out).toContain("updated  a.test.yaml: t\n");
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toContain(
      'custom_tags: { t: "x, y" } } } }] } }\n',
    );
    expect(await workspaceTest(folder)).toMatchObject({ code: 0 });
  });

  test("--update replaces a key that is written with a question mark", async () => {
    const folder = folderWith({
      "a.test.yaml":
        "spec: { groups: { a: {} } }\ntests:\n  t:\n    steps:\n      - plan:\n          summary:\n            ? create\n            : 9\n",
    });
    expect((await workspaceTest(folder, ["--update"])).out).toContain("updated  a.test.yaml: t\n");
    expect(await workspaceTest(folder)).toMatchObject({ code: 0 });
  });

  test("--update changes no other text of the file: spaces, numbers, comments, and line ends stay", async () => {
    const text = `# top
variables:   {size: 010}   # eight
tests:
    1:   # named by a number
        spec:
            pools: {p: {node_type_id: Standard_DS3_v2, max_capacity: 010}}
            x-big: 123456789012345678901
        steps:
            - plan: {summary: {create: 9},   actions: {pools.q: create}}   # flow

            - apply:
                summary:
                        create: 7   # block


                actions:
                        # a comment of pools.p
                        pools.p: update
            - live: {pools.p: {max_capacity: 5,
                node_type_id: Standard_DS3_v2}}
`.replaceAll("\n", "\r\n");
    const folder = folderWith({
      "workspace.yaml": "variables: { size: 1 }\ngroups: { g: {} }\n",
      "a.test.yaml": text,
    });
    expect((await workspaceTest(folder, ["--update"])).out).toContain("updated  a.test.yaml: 1\n");
    const expected = text
      .replace("create: 9", "create: 1")
      .replace("{pools.q: create}", "{ pools.p: create }")
      .replace("create: 7", "create: 1")
      .replace("pools.p: update", "pools.p: create")
      .replace("max_capacity: 5", "max_capacity: 10");
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toBe(expected);
    expect(await workspaceTest(folder)).toMatchObject({ code: 0 });
  });

  test("--update leaves anchors and aliases alone, and updates other files", async () => {
    const spec = "spec: { groups: { a: {} } }\n";
    const anchored = `${spec}tests: { t: { steps: [plan: { summary: &s {} }, plan: { summary: *s }] } }\n`;
    const folder = folderWith({
      "a.test.yaml": anchored,
      "b.test.yaml": `${spec}tests: { t: { steps: [plan: { summary: {} }] } }\n`,
    });
    const ran = await workspaceTest(folder, ["--update"]);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("has an anchor or an alias, so it is not updated");
    expect(ran.out).toContain("updated  b.test.yaml: t\n");
    expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toBe(anchored);
  });

  test("a filter selects by file and name; * matches any text", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": FAILING, "b/b.test.yaml": FAILING });
    const run = async (...filters: string[]) =>
      (
        await workspaceTest(
          folder,
          filters.flatMap((one) => ["--filter", one]),
        )
      ).out.match(/^failed.*$/gm);
    expect(await run("b.test.yaml: DRIFT")).toEqual(["failed   b/b.test.yaml: drift"]);
    expect(await run("a.test*cap", "b.test*cap")).toEqual([
      "failed   a.test.yaml: capacity",
      "failed   b/b.test.yaml: capacity",
    ]);
  });

  test("no test is an error", async () => {
    const folder = folderWith({ "workspace.yaml": SPEC, "a.test.yaml": FAILING, "empty/x.yaml": "" });
    for (const args of [["empty"], ["--filter", "nothing"]])
      expect(await workspaceTest(folder, args)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining("error TEST_NOT_FOUND"),
      });
    expect((await workspaceTest(folder, ["missing"])).err).toContain(
      "error CLI_FILE: missing does not exist",
    );
  });

  test("sensitive values are not shown", async () => {
    const ran = await runTestFile(`spec:
  variables: { tag: { type: string, sensitive: true } }
  pools: { a: { node_type_id: Standard_DS3_v2, custom_tags: { k: "\${var.tag}" } } }
variables: { tag: very-secret }
tests: { t: { steps: [apply: , live: { pools.a: { custom_tags: { k: other } } }] } }
`);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("k: (sensitive)");
    expect(ran.out).not.toContain("very-secret");
  });

  test("sensitive numbers, booleans, and short strings are not shown, and an update does not write them", async () => {
    const text = `spec:
  variables: { num: { type: string, sensitive: true }, tag: { type: string, sensitive: true } }
  pools:
    a:
      node_type_id: Standard_DS3_v2
      max_capacity: "\${int(var.num) * 3}"
      min_idle_instances: "\${int(var.num) - 25708}"
      enable_elastic_disk: "\${var.num == '25709'}"
      custom_tags: { k: "\${var.tag}", open: o }
variables: { num: "25709", tag: zq }
tests:
  t:
    steps:
      - apply:
      - live:
          pools.a: { max_capacity: 5, min_idle_instances: 2, enable_elastic_disk: false, custom_tags: { k: x } }
  u: { steps: [apply: , live: { pools.a: { custom_tags: { open: x } } }] }
`;
    const folder = folderWith({ "a.test.yaml": text });
    for (const args of [[], ["-o", "json"], ["-o", "junit"], ["--update"]]) {
      const { code, out, err } = await workspaceTest(folder, args);
      expect([args, code]).toEqual([args, 1]);
      expect(out + err).toContain("(sensitive)");
      expect(out + err).not.toMatch(/77127|25709|\bzq\b|min_idle_instances: 1|enable_elastic_disk: true/);
    }
    const updated = readFileSync(join(folder, "a.test.yaml"), "utf8");
    expect(updated).toBe(text.replace("open: x", "open: o"));
  });

  /** A spec with a sensitive number and a sensitive boolean in two objects whose names are not their keys. */
  const DECLARED = `variables: { num: { type: string, sensitive: true, default: "48151" } }
pools: { p: { instance_pool_name: other, node_type_id: Standard_DS3_v2, max_capacity: "\${int(var.num)}" } }
jobs:
  j:
    name: nightly
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, enable_elastic_disk: "\${var.num == '48151'}" }
    notebook_task: { notebook_path: /n }
    max_retries: "\${int(var.num) - 48141}"
`;

  test.each([
    ["in a world", "world: declared.yaml\nspec: empty.yaml\n", ""],
    ["in objects that a step created", "spec: empty.yaml\n", "      - create: { CREATED }\n"],
    [
      "in objects that a spec managed before",
      "spec: declared.yaml\n",
      "      - apply:\n      - apply: { spec: forget.yaml }\n",
    ],
  ])(
    "sensitive values %s under another key are not shown, and an update does not write them",
    async (_, head, steps) => {
      const created = DECLARED.trim()
        .split("\n")
        .map((line) => `          ${line}\n`)
        .join("");
      const text = `${head}tests:
  t:
    steps:
${steps.replace("{ CREATED }\n", `\n${created}`)}      - live:
          pools.other: { max_capacity: 1 }
          jobs.nightly: { max_retries: 1, new_cluster: { enable_elastic_disk: false } }
`;
      const folder = folderWith({
        "declared.yaml": DECLARED,
        "empty.yaml": "groups: { g: {} }\n",
        "forget.yaml":
          "removed: [{ address: pools.p, destroy: false }, { address: jobs.j, destroy: false }]\ngroups: { g: {} }\n",
        "a.test.yaml": text,
      });
      for (const args of [[], ["-o", "json"], ["--update"]]) {
        const { code, out, err } = await workspaceTest(folder, args);
        expect([args, code, out + err]).toEqual([args, 1, expect.stringContaining("(sensitive)")]);
        expect(out + err).not.toMatch(/48151|max_retries"?: 10|elastic_disk"?: true/);
      }
      expect(readFileSync(join(folder, "a.test.yaml"), "utf8")).toBe(text);
    },
  );
});
