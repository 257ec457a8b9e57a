// Sensitive variables through the real commands: the value is in no output.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const SPEC = `variables:
  license: { type: string, sensitive: true, pattern: "^[a-z0-9&-]+$" }
locals: { header: "key \${var.license.upperAscii()}" }
pools:
  shared:
    node_type_id: Standard_DS3_v2
    custom_tags: { license: "\${var.license}", header: "\${local.header}", json: "\${json(local.header)}" }
`;
const VALUE = "hunter2&swordfish";

async function run(folder: string, words: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ WORKSPACE_VAR_license: VALUE, ...env }, folder);
  const code = await runProgram(context, words.split(" "));
  return { code, all: context.out() + context.err() };
}

async function runOut(folder: string, words: string, env: Readonly<Record<string, string>>) {
  const context = contextWith(env, folder);
  await runProgram(context, words.split(" "));
  return context.out();
}

const shows = (text: string): boolean => /hunter2|HUNTER2|swordfish/i.test(text);

test("a sensitive value is in no form of a plan, an apply, or drift, and the API gets it", async () => {
  const folder = folderWith(SPEC);
  const forms = ["text", "json", "markdown", "html", "junit", "sarif", "github"];
  for (const form of forms) {
    const { code, all } = await run(folder, `plan --host embedded -o ${form}`);
    expect({ code, leaks: shows(all) }, form).toEqual({ code: 0, leaks: false });
  }
  expect((await run(folder, "plan --host embedded")).all).toContain("(sensitive)");
  for (const form of ["text", "json", "html"]) {
    const { code, all } = await run(folder, `apply --host embedded --auto-approve -o ${form}`);
    expect({ code, leaks: shows(all) }, form).toEqual({ code: 0, leaks: false });
    writeFileSync(join(folder, "workspace.yaml"), `${SPEC}groups: { after-${form}: {} }\n`);
  }
  expect(shows((await run(folder, "api instance-pools/list --host embedded")).all)).toBe(true);
  const other = { WORKSPACE_VAR_license: "other-value" };
  const { all } = await run(folder, "plan --host embedded", other);
  expect(all).not.toContain("other-value");
  expect(all).toContain("PLAN_IMMUTABLE");
  // The value before is one of the same variable.
  expect(shows(all)).toBe(false);
});

test("a sensitive value is in no form of the access that a plan changes, and in no message of a rule", async () => {
  const folder = folderWith(`variables: { right: { type: string, sensitive: true } }
users: { ada@example.com: { entitlements: ["\${var.right}"] } }
rules:
  - name: none
    assert: access.gained.size() == 0
    message: "{{access.gained}}"
`);
  const right = { WORKSPACE_VAR_right: VALUE };
  for (const form of ["text", "json", "markdown", "html"])
    for (const by of ["principal", "object"]) {
      const { code, all } = await run(folder, `plan --host embedded -o ${form} --access-by ${by}`, right);
      expect({ code, leaks: shows(all) }, form).toEqual({ code: 3, leaks: false });
    }
  const { access, guards } = JSON.parse(
    (await runOut(folder, "plan --host embedded -o json", right)) || "{}",
  );
  expect(access.gained).toMatchObject([{ principal: "ada@example.com", object: "(sensitive)" }]);
  expect(guards[0].message).toContain('"object":"(sensitive)"');
});

test.each([
  ["user", 'users: { "${var.license}": {} }'],
  ["group", 'groups: { "${var.license}": {} }'],
  ["principal", 'scopes: { etl: { acls: { "${var.license}": READ } } }'],
  ["member", 'groups: { g: { members: { users: ["${var.license}"] } } }'],
  [
    "service principal by its application ID",
    'service_principals: { bot: { applicationId: "${var.license}" } }',
  ],
])("a sensitive value cannot name a %s", async (_what, section) => {
  const folder = folderWith(`variables: { license: { type: string, sensitive: true } }\n${section}\n`);
  const dialect = section.startsWith("service") ? " --dialect databricks" : "";
  const { code, all } = await run(folder, `plan --host embedded${dialect}`);
  expect({ code, leaks: shows(all) }).toEqual({ code: 1, leaks: false });
  expect(all).toContain("SPEC_SENSITIVE");
});

test("a sensitive value is refused as a key of for_each, because keys are part of addresses", async () => {
  const folder = folderWith(
    `variables: { pw: { type: string, sensitive: true, default: hunter2-swordfish } }
modules: { m: { source: m, for_each: "\${var.pw.split('-')}" } }
`,
  );
  mkdirSync(join(folder, "m"));
  writeFileSync(join(folder, "m/workspace.yaml"), "groups: { g: {} }\n");
  const { code, all } = await run(folder, "plan --host embedded");
  expect({ code, leaks: shows(all) }).toEqual({ code: 1, leaks: false });
  expect(all).toContain("modules.m: a key of for_each cannot contain a sensitive value");
});

test("a sensitive value that is refused is in no diagnostic", async () => {
  const folder = folderWith(SPEC);
  for (const words of ["validate", "validate -o json", `validate --var license=${VALUE}!`]) {
    const { code, all } = await run(folder, words, { WORKSPACE_VAR_license: `${VALUE}!` });
    expect({ code, leaks: shows(all) }, words).toEqual({ code: 1, leaks: false });
  }
  writeFileSync(join(folder, "values.yaml"), `license: ${VALUE}!\n`);
  const { code, all } = await run(folder, "validate --var-file values.yaml");
  expect({ code, leaks: shows(all) }).toEqual({ code: 1, leaks: false });
});

test.each([
  ["the variable is of another type", "type: number, sensitive: true, default: 48151623"],
  ["the value is a number", "type: string, sensitive: true, default: 48151623"],
])("a sensitive value is in no diagnostic when %s", async (_, declared) => {
  const folder = folderWith(`variables: { pin: { ${declared} } }
pools: { shared: { node_type_id: Standard_DS3_v2, custom_tags: { pin: "\${var.pin}" } } }
`);
  for (const form of ["text", "json"]) {
    const { code, all } = await run(folder, `plan --host embedded -o ${form}`);
    expect([code, all]).toEqual([1, expect.not.stringContaining("48151623")]);
  }
});

test("a sensitive value cannot be part of a key", async () => {
  const folder = folderWith(
    "variables: { v: { default: hunter2, sensitive: true } }\nusers: { 'a-${var.v}@example.com': {} }\n",
  );
  const { code, all } = await run(folder, "validate");
  expect({ code, leaks: shows(all.replace(/ {2}.*\|.*/g, "")) }).toEqual({ code: 1, leaks: false });
  expect(all).toContain("a key cannot contain a sensitive value");
});

test("a sensitive value cannot decide which files of a folder are included, or where a file is", async () => {
  const folder = folderWith(`variables: { v: { default: hunter2, sensitive: true } }
notebooks:
  /Shared/a: { source: "\${var.v}.py" }
  /Shared/b: { source_dir: m, include: ["\${var.v}*"], exclude: ["\${var.v}"] }
files: { /data: { source_dir: "\${var.v}" } }
`);
  mkdirSync(join(folder, "m"));
  writeFileSync(join(folder, "m/hunter2.py"), "x\n");
  const { code, all } = await run(folder, "validate");
  expect({ code, leaks: shows(all) }).toEqual({ code: 1, leaks: false });
  expect(all.match(/^error SPEC_\w+: .*$/gm)).toEqual([
    "error SPEC_SENSITIVE: notebooks./Shared/a: source is the source of a value and cannot be a sensitive value",
    "error SPEC_SENSITIVE: notebooks./Shared/b: include cannot contain a sensitive value",
    "error SPEC_SENSITIVE: notebooks./Shared/b: exclude cannot contain a sensitive value",
    "error SPEC_SENSITIVE: files./data: source_dir cannot contain a sensitive value",
  ]);
});

describe("a saved plan", () => {
  test("does not contain a sensitive value, shows none, and is applied with the value of the run", async () => {
    const folder = folderWith(SPEC);
    expect((await run(folder, "plan --host embedded --out p.plan")).code).toBe(0);
    expect(shows(readFileSync(join(folder, "p.plan"), "utf8"))).toBe(false);
    for (const form of ["text", "json", "markdown", "html", "junit", "sarif", "github"]) {
      const { code, all } = await run(folder, `show p.plan -o ${form}`);
      expect({ code, leaks: shows(all), marks: /sensitive [0-9a-f]{8}/.test(all) }, form).toEqual({
        code: 0,
        leaks: false,
        marks: false,
      });
    }
    expect((await run(folder, "show p.plan")).all).toContain("(sensitive)");
    const { code, all } = await run(folder, "apply p.plan --host embedded");
    expect({ code, leaks: shows(all) }).toEqual({ code: 0, leaks: false });
    const tags = (await run(folder, "api instance-pools/list --host embedded")).all;
    expect(tags).toContain(VALUE);
    expect(tags).toContain(`key ${VALUE.toUpperCase()}`);
    expect((await run(folder, "plan --host embedded --detailed-exitcode")).code).toBe(0);
  });

  test("is stale where the run has another value", async () => {
    const folder = folderWith(SPEC);
    await run(folder, "plan --host embedded --out p.plan");
    const { code, all } = await run(folder, "apply p.plan --host embedded", {
      WORKSPACE_VAR_license: "other",
    });
    expect(code).toBe(4);
    expect(all).toContain(
      "pools.shared: custom_tags.license has another sensitive value than when the plan was made",
    );
  });

  test("names the variables that the run does not set, or all if it sets each", async () => {
    const sensitive = (name: string) => `${name}: { type: string, sensitive: true, default: none }`;
    const folder = folderWith(`variables: { ${sensitive("one")}, ${sensitive("two")} }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { a: "\${var.one}", b: "\${var.two}" } } }
`);
    const both = { WORKSPACE_VAR_one: "canary-one", WORKSPACE_VAR_two: "canary-two" };
    await run(folder, "plan --host embedded --out p.plan", both);
    const lacking = await run(folder, "apply p.plan --host embedded", { WORKSPACE_VAR_one: "canary-one" });
    expect(lacking.all).toContain("hint: set WORKSPACE_VAR_two as for the plan, or make a new plan");
    const other = await run(folder, "apply p.plan --host embedded", { ...both, WORKSPACE_VAR_two: "other" });
    expect(other.all).toContain("set WORKSPACE_VAR_one and WORKSPACE_VAR_two as for the plan");
  });

  test("is not stale where the run has another value of an ignored field", async () => {
    const folder = folderWith(`${SPEC}    lifecycle: { ignore_changes: [custom_tags] }\n`);
    expect((await run(folder, "apply --host embedded --auto-approve")).code).toBe(0);
    expect((await run(folder, "plan --host embedded --out p.plan")).code).toBe(0);
    const { code, all } = await run(folder, "apply p.plan --host embedded", {
      WORKSPACE_VAR_license: "other",
    });
    expect(code, all).toBe(0);
  });

  test("has no SHA-256 of a file of the spec, by which guesses of a sensitive default could be tested, and is stale if it changes", async () => {
    const spec = SPEC.replace("sensitive: true", `default: ${VALUE}, sensitive: true`);
    const folder = folderWith(spec);
    await run(folder, "plan --host embedded --out p.plan");
    const digest = createHash("sha256").update(spec).digest("hex");
    expect(readFileSync(join(folder, "p.plan"), "utf8")).not.toContain(digest);
    writeFileSync(join(folder, "workspace.yaml"), `${spec}# more\n`);
    const { code, all } = await run(folder, "apply p.plan --host embedded");
    expect({ code, all }).toEqual({
      code: 4,
      all: expect.stringContaining("PLAN_STALE: workspace.yaml changed after the plan was made"),
    });
  });

  test("does not contain the value of --var, so apply needs it in a variable", async () => {
    const folder = folderWith(
      `${SPEC}groups: { "\${var.env}": {} }\n`.replace("variables:", "variables:\n  env: {}"),
    );
    const words = `plan --host embedded --var license=${VALUE} --var env=dev --out p.plan`;
    const saved = await run(folder, words, { WORKSPACE_VAR_license: "other" });
    expect(saved.code, saved.all).toBe(0);
    expect(shows(readFileSync(join(folder, "p.plan"), "utf8"))).toBe(false);
    expect((await run(folder, "apply p.plan --host embedded")).code).toBe(0);
  });
});

test("a value that is a word of plans, or of the mark, hides values only", async () => {
  const folder =
    folderWith(`variables: { a: { type: string, sensitive: true }, b: { type: string, sensitive: true } }
pools: { shared: { node_type_id: Standard_DS3_v2, custom_tags: { a: "\${var.a}", b: "\${var.b} \${var.a}" } } }
`);
  for (const a of ["create", "pools", "sensitive", "other", "before"]) {
    const env = { WORKSPACE_VAR_a: a, WORKSPACE_VAR_b: "sens" };
    const { code, all } = await run(folder, "plan --host embedded -o json --out p.plan", env);
    expect(code, all).toBe(0);
    const [change] = JSON.parse(all.slice(all.indexOf("{"), all.lastIndexOf("}") + 1)).resource_changes;
    expect(change.action, a).toBe("create");
    expect(JSON.stringify(change.after?.custom_tags ?? change), a).toContain('"b":"(sensitive)"');
    expect((await run(folder, "show p.plan", env)).code, a).toBe(0);
  }
});

test("the lines around an error show a path to a sensitive variable, and no sensitive value", async () => {
  const folder =
    folderWith(`variables: { license: { type: string, sensitive: true }, unset: { type: string, sensitive: true } }
modules:
  a: { source: ./m, with: { key: "\${var.unset}", other: '\${var.license}' } }
  b: { source: ./m, with: { key: hunter2-in-the-clear, other: "\${'swordfish' + var.license}", more: 1 } }
pools:
  p: { node_type_id: x, max_capacity: 1, custom_tags: { pw: "pw=\${var.unset}", id: "\${pools.q.instance_pool_id}", n: 1 } }
`);
  mkdirSync(join(folder, "m"));
  writeFileSync(
    join(folder, "m/workspace.yaml"),
    `inputs: { key: { type: string, sensitive: true }, other: { type: string, sensitive: true } }
pools: { p: { node_type_id: x, max_capacity: 1, custom_tags: { k: "\${input.key}", o: "\${input.other}" } } }
`,
  );
  const { code, all } = await run(folder, "validate");
  expect({ code, leaks: shows(all) }, all).toEqual({ code: 1, leaks: false });
  for (const source of ["key: \"${var.unset}\", other: '${var.license}'", 'pw: "pw=${var.unset}"'])
    expect(all).toContain(source);
});

test("a sensitive entry of a list does not hide the other entries in the rest of an output", async () => {
  const spec = (env: string): string => `variables: { license: { sensitive: true } }
groups: { data-eng: { members: { users: [] } } }
users: { bo@example.com: {} }
jobs:
  load:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { env: ${env} } }
    spark_submit_task: { parameters: [--env, prod, delete, data-eng, bo@example.com, "\${var.license}"] }
`;
  const folder = folderWith(spec("prod"));
  const env = { WORKSPACE_HOST: "embedded" };
  expect((await run(folder, "apply --auto-approve", env)).code).toBe(0);
  await run(folder, "api groups/add-member user_name=bo@example.com parent_name=data-eng", env);
  writeFileSync(join(folder, "workspace.yaml"), spec("dev"));
  expect((await run(folder, "plan", env)).all).toMatch(/custom_tags\.env +prod → dev/);
  expect((await run(folder, "drift", env)).all).toContain("bo@example.com");
  const { all } = await run(folder, "access data-eng", env);
  expect(all).toContain("data-eng (group, 1 person)");
  writeFileSync(join(folder, "workspace.yaml"), "{}\n");
  const removed = await run(folder, "plan", { ...env, WORKSPACE_VAR_license: "" });
  expect(removed.all).toContain("plan deletes");
  expect(shows(removed.all)).toBe(false);
});
