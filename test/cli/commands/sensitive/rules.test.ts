// Rules and sensitive values: a rule sees what the spec writes in plain text, and cannot be evaluated on what comes from a sensitive value.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const TYPE = "Standard_NC6s_v3";
const RULES = `rules:
  - { name: no-gpu, kinds: [pools], assert: 'change.after.node_type_id != "${TYPE}"', message: "no {{change.after.node_type_id}}" }
`;
const POOL = `pools: { p: { node_type_id: ${TYPE} } }\n`;
const VARIABLE = `variables: { k: { type: string, sensitive: true, default: ${TYPE} } }\n`;

function site(spec: string, rules = RULES) {
  const folder = folderWith(spec);
  const outside = folderWith("");
  mkdirSync(join(folder, ".git"));
  const writeRules = (text: string) => writeFileSync(join(outside, "rules.yaml"), text);
  writeRules(rules);
  const start = async (words: readonly string[], env: Readonly<Record<string, string>>) => {
    const fixed = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: join(outside, "state") };
    const context = contextWith({ ...fixed, ...env }, folder);
    const code = await runProgram(context, words);
    return { code, all: context.out() + context.err() };
  };
  const run = (line: string, env: Readonly<Record<string, string>> = {}) =>
    start([...line.split(" "), "--rules", outside], env);
  return { folder, run, call: (line: string) => start(`api ${line}`.split(" "), {}), rules: writeRules };
}

describe.each(["plan", "plan --untrusted", "apply --auto-approve"])(
  "%s is blocked by a rule of a folder",
  (line) => {
    test.each([
      ["about a field in plain text", POOL, "GUARD_RULE"],
      ["also if an unused sensitive variable has the value", VARIABLE + POOL, "GUARD_RULE"],
      [
        "also if a secret of a file has the value",
        `${POOL}scopes: { s: { secrets: { k: { file: value.txt } } } }\n`,
        "GUARD_RULE",
      ],
      [
        "that cannot be evaluated, if the field comes from a sensitive variable",
        `${VARIABLE}pools: { p: { node_type_id: "\${var.k}" } }\n`,
        "GUARD_RULE_FAILED",
      ],
    ])("%s", async (_what, spec, code) => {
      const { folder, run } = site(spec);
      writeFileSync(join(folder, "value.txt"), TYPE);
      const result = await run(line);
      expect(result).toMatchObject({ code: 3, all: expect.stringContaining(`error ${code}: `) });
      if (code === "GUARD_RULE_FAILED") expect(result.all).not.toContain(`no ${TYPE}`);
    });
  },
);

test("a rule gives the same verdict in a job with the value of a secret and in one without", async () => {
  const { run } = site(
    `pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { env: production } } }
scopes: { s: { secrets: { db: { env: DB } } } }
`,
    `rules: [{ name: env, kinds: [pools], assert: 'change.after.custom_tags.env in ["production"]' }]\n`,
  );
  const DB = JSON.stringify({ environment: "production" });
  expect(await run("plan --out saved.json")).toMatchObject({ code: 0 });
  expect(await run("plan", { DB })).toMatchObject({ code: 0 });
  expect(await run("apply saved.json", { DB })).toMatchObject({ code: 0 });
});

test("a saved plan is checked again, by the rules of the apply, with what its spec writes in plain text", async () => {
  const { run, rules } = site(VARIABLE + POOL, "rules: []\n");
  expect(await run("plan --out saved.json")).toMatchObject({ code: 0 });
  rules(RULES);
  const { code, all } = await run("apply saved.json");
  expect([code, all]).toEqual([3, expect.stringContaining("error GUARD_RULE: ")]);
});

test("a rule may pass a sensitive value on, and test whether a field is set", async () => {
  const { run } = site(
    `variables: { k: { type: string, sensitive: true, default: Value-1234 } }
pools: { p: { node_type_id: ${TYPE}, custom_tags: { owner: "\${var.k}" } } }
`,
    `rules: [{ name: owner, kinds: [pools], assert: 'has(change.after.custom_tags.owner) && size(change.after.custom_tags) == 1' }]\n`,
  );
  expect(await run("plan")).toMatchObject({ code: 0 });
});

describe("a rule is evaluated next to a sensitive value", () => {
  const spec = `variables: { k: { type: string, sensitive: true, default: Value-1234 } }
pools: { p: { node_type_id: ${TYPE}, custom_tags: { env: prod, owner: "\${var.k}" } } }
`;
  test.each([
    '"env" in change.after.custom_tags',
    "change.after != null",
    "change.after.custom_tags != {}",
    "change.before == null || change.after != null",
    'change.after.custom_tags.env == "prod"',
    "plan.changes.all(c, c.after != null)",
  ])("%s", async (assertion) => {
    const { run } = site(spec, `rules: [{ name: a, kinds: [pools], assert: '${assertion}' }]\n`);
    expect(await run("plan")).toMatchObject({ code: 0 });
  });

  test.each([
    'change.after.custom_tags.owner == "x"',
    '"x" in change.after.custom_tags.map(k, change.after.custom_tags[k])',
  ])("unless it reads that: %s", async (assertion) => {
    const { run } = site(spec, `rules: [{ name: a, kinds: [pools], assert: '${assertion}' }]\n`);
    expect(await run("plan")).toMatchObject({ code: 3, all: expect.stringContaining("GUARD_RULE_FAILED") });
  });
});

describe("a rule cannot read a live map", () => {
  const VALUE = "Qwer7890Zed";
  const CLUSTER = "spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2";
  const spec = (tags: string) =>
    `variables: { k: { type: string, sensitive: true, default: ${VALUE} } }\nclusters: { c: { ${CLUSTER}, custom_tags: { ${tags} } } }\n`;
  const rule = (expression: string) =>
    `rules: [{ name: a, kinds: [clusters], assert: "false", enforcement: warn, message: 'tags {{${expression}}}' }]\n`;

  test.each(["plan", "plan --untrusted"])(
    "one of whose keys contains a sensitive value, unless the spec writes the key: %s",
    async (line) => {
      const { run, call, rules, folder } = site(spec("t: x"), "rules: []\n");
      expect(await run("apply --auto-approve")).toMatchObject({ code: 0 });
      const [, id] = /"cluster_id": "(.*?)"/.exec((await call("clusters/list")).all) ?? [];
      const edit = `cluster_id=${id} cluster_name=c spark_version=6.4.x-scala2.11 num_workers=1`;
      // A cluster that is about to start cannot be edited.
      const edited = async () =>
        expect(
          await call(`clusters/edit ${edit} node_type_id=Standard_DS3_v2 custom_tags.pre-${VALUE}=y`),
        ).toMatchObject({ code: 0 });
      await vi.waitFor(edited, { timeout: 20_000, interval: 100 });
      for (const expression of [
        "change.before.custom_tags.map(k, k.lowerAscii())",
        "change.before.custom_tags.map(k, k.substring(0, k.size() - 1))",
        "change.before.custom_tags.transformMapEntry(k, v, {k.reverse(): v})",
        `"pre-${VALUE}" in change.before.custom_tags`,
      ]) {
        rules(rule(expression));
        const { all } = await run(line);
        expect([expression, all]).toEqual([expression, expect.stringContaining("PLAN_RULE")]);
        expect(all).toContain("sensitive");
        expect(all).not.toMatch(/qwer7890|deZ0987|tags.*(Qwer7890|true|\b[\da-f]{16}\b)/);
      }
      writeFileSync(join(folder, "workspace.yaml"), spec(`pre-${VALUE}: z`));
      rules(rule(`"pre-${VALUE}" in change.after.custom_tags`));
      expect((await run(line)).all).toContain("tags true");
    },
  );
});

describe("a rule gives the same verdict with and without the value of a secret", () => {
  const SECRET = "svc-etl";
  const secret = "scopes: { s: { secrets: { k: { env: SECRET } } } }\npolicy: { max_deletes: 100% }\n";
  const pool = (owner: string) =>
    `clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { owner: ${owner} } } }\n`;
  const rule = 'change.before == null || change.before.custom_tags.owner != "x"';

  test.each([
    ["about the recorded value of a changed field", pool(SECRET), pool("other"), rule],
    ["about a deleted object", `${pool(SECRET)}groups: { g: {} }\n`, "groups: { g: {} }\n", rule],
    [
      "about a reference to an object of this name",
      "",
      `pools: { ${SECRET}: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.${SECRET}.instance_pool_id}" } }
`,
      'kind != "clusters" || change.after.?instance_pool_id.orValue("") != ""',
    ],
  ])("%s", async (_what, before, after, assertion) => {
    const { folder, run } = site(
      secret + before,
      `rules: [{ name: a, kinds: [clusters], when: "true", assert: '${assertion}' }]\n`,
    );
    expect(await run("apply --auto-approve", { SECRET })).toMatchObject({ code: 0 });
    writeFileSync(join(folder, "workspace.yaml"), secret + after);
    expect(await run("plan")).toMatchObject({ code: 0 });
    expect(await run("plan", { SECRET })).toMatchObject({ code: 0 });
  });
});
