// Values from outside the spec that contain a secret or a sensitive value are sensitive themselves, although their variables are not declared so.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const PASSWORD = "CanarySecretPw-1";
const URL = `postgres://u:${PASSWORD}@h/db`;
const spec = (variables: string, fields: string) => `variables: ${variables}
scopes: { s: { secrets: { a: { env: DB_PASSWORD } } } }
clusters:
  c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, ${fields} }
`;
const OPEN = spec("{ url: { default: none } }", 'spark_env_vars: { URL: "${var.url}" }');

function workspace(text: string, files: Readonly<Record<string, string>> = {}) {
  const folder = folderWith(text);
  mkdirSync(join(folder, ".git"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const state = mkdtempSync(join(tmpdir(), "outside-values-"));
  const base = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state };
  const run = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    const context = contextWith({ ...base, ...env }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), err: context.err(), all: context.out() + context.err() };
  };
  const file = (path: string) => readFileSync(join(folder, path), "utf8");
  return { run, file, recorded: () => readFileSync(join(state, "state.json"), "utf8") };
}

describe("the value of an open variable that contains a secret", () => {
  const values = { DB_PASSWORD: PASSWORD, WORKSPACE_VAR_url: URL };

  test("is a digest in the state, and is not shown to a fork", async () => {
    const { run, recorded } = workspace(OPEN);
    const applied = await run("apply --auto-approve", values);
    expect([applied.code, applied.all]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
    expect(applied.err).toContain("warning SPEC_VARIABLE: the value of the variable url contains a secret");
    expect(recorded()).not.toContain(PASSWORD);
    for (const line of ["state show clusters.c", "state pull", "history --diff", "plan --untrusted"])
      expect([line, (await run(line)).all]).toEqual([line, expect.not.stringContaining(PASSWORD)]);
    const again = await run("plan --detailed-exitcode", values);
    expect([again.code, again.all]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
  });

  test("is in no saved plan, which needs it again", async () => {
    const { run, file } = workspace(OPEN);
    const { WORKSPACE_VAR_url: _, ...secret } = values;
    const saved = await run(`plan --var url=${URL} --out s.plan`, secret);
    expect([saved.code, file("s.plan")]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
    const lacking = await run("apply s.plan", secret);
    expect([lacking.code, lacking.all]).toEqual([4, expect.stringContaining("set WORKSPACE_VAR_url as for")]);
    expect((await run("apply s.plan", values)).code).toBe(0);
  });

  test("is recorded in plain text, with a warning, where no sensitive value can be", async () => {
    const text = spec("{ url: { default: none } }", 'spark_env_vars: { "${var.url}": x }');
    const { run } = workspace(text);
    const { code, err } = await run("apply --auto-approve", { ...values, WORKSPACE_VAR_url: `K${PASSWORD}` });
    expect([code, err]).toEqual([0, expect.stringContaining("is not treated as sensitive, because")]);
  });

  test("is a digest also if the name of an object contains the value of another such variable", async () => {
    const named = OPEN.replace("{ url:", "{ team: { default: none }, url:").concat(
      'groups: { "of-${var.team}": {} }\n',
    );
    const { run, recorded } = workspace(named);
    const { code, err } = await run("apply --auto-approve", { ...values, WORKSPACE_VAR_team: PASSWORD });
    expect([code, err]).toEqual([0, expect.stringMatching(/variable url .*so it is treated as sensitive/)]);
    expect(err).toMatch(/variable team .*is not treated as sensitive/);
    expect(recorded()).toContain(`groups.of-${PASSWORD}`);
    expect(recorded()).not.toContain(`u:${PASSWORD}`);
  });

  test.each([
    ["an entry of a list", "{ type: array }", `["l-${PASSWORD}"]`],
    ["a value of a map", "{ type: object }", `{"a":{"b":"m-${PASSWORD}"}}`],
    ["a key of a map", "{ type: object }", `{"k-${PASSWORD}":1}`],
    ["a secret that looks like a reference", "{ type: string }", "u:pa${x.y}word"],
  ])("is in no saved plan: %s", async (_, type, value) => {
    const { run, file } = workspace(spec(`{ url: ${type} }`, 'spark_env_vars: { URL: "${json(var.url)}" }'));
    const secret = value.startsWith("u:") ? value.slice(2) : PASSWORD;
    const saved = await run(`plan --var url=${value} --out s.plan`, { DB_PASSWORD: secret });
    expect([saved.code, file("s.plan")]).toEqual([0, expect.not.stringContaining(secret)]);
  });

  test("is a digest inside a map, of which the keys and other strings stay open", async () => {
    const text = spec("{ all: { type: object } }", 'spark_env_vars: { M: "${var.all.one.mode}" }')
      .concat('pools: { "p-${each.key}": { for_each: "${var.all}", node_type_id: Standard_DS3_v2, ')
      .concat('custom_tags: { mode: "${each.value.mode}", url: "${each.value.url}" } } }\n');
    const { run, recorded } = workspace(text, {
      "v.yaml": `all: { one: { mode: plain-mode, url: "${URL}" } }\n`,
    });
    const { code, err } = await run("apply --auto-approve --var-file v.yaml", { DB_PASSWORD: PASSWORD });
    expect([code, err]).toEqual([0, expect.stringContaining("so it is treated as sensitive")]);
    expect(recorded()).toContain('"mode":"plain-mode"');
    expect(recorded()).not.toContain(PASSWORD);
    expect((await run("state show pools.p-one")).out).toContain("plain-mode");
  });

  test("that the plan did not have makes the plan stale", async () => {
    const { run } = workspace(
      spec(
        "{ all: { type: object, default: {} }, tag: { default: dev } }",
        'spark_env_vars: "${var.all}", custom_tags: { env: "${var.tag}" }',
      ),
    );
    const secret = { DB_PASSWORD: PASSWORD };
    const all = { ...secret, WORKSPACE_VAR_all: JSON.stringify({ URL }) };
    expect((await run("plan --out s.plan", secret)).code).toBe(0);
    expect(await run("apply s.plan", all)).toMatchObject({
      code: 4,
      err: expect.stringContaining("PLAN_STALE"),
    });
    expect((await run("apply --auto-approve", secret)).code).toBe(0);
    await run("plan --var tag=x --out s.plan", secret);
    expect(await run("apply s.plan", all)).toMatchObject({
      code: 4,
      err: expect.stringContaining("PLAN_STALE"),
    });
    await run("plan --out s.plan", secret);
    expect(await run("apply s.plan", all)).toMatchObject({
      code: 4,
      err: expect.stringContaining("PLAN_STALE"),
    });
  });

  test("that only the plan had makes the plan stale, also where the plan does not write it", async () => {
    const { run } = workspace(OPEN);
    expect((await run("apply --auto-approve", values)).code).toBe(0);
    expect((await run("plan --out s.plan", values)).code).toBe(0);
    expect(await run("apply s.plan", { ...values, WORKSPACE_VAR_url: "open" })).toMatchObject({
      code: 4,
      err: expect.stringContaining("clusters.c: spark_env_vars.URL has another sensitive value"),
    });
  });

  test("applies as a plan that was made without the secret, again and again", async () => {
    const { run, recorded } = workspace(
      spec(
        "{ url: { default: none }, tag: { default: dev } }",
        'spark_env_vars: { URL: "${var.url}" }, custom_tags: { env: "${var.tag}" }',
      ),
    );
    const url = { WORKSPACE_VAR_url: URL };
    expect((await run("plan --out s.plan", url)).code).toBe(0);
    const applied = await run("apply s.plan", values);
    expect([applied.code, applied.all]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
    expect(recorded()).not.toContain(PASSWORD);
    const tagged = await run("plan --var tag=x --out s.plan", url);
    expect([tagged.code, tagged.all]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
    const again = await run("apply s.plan", values);
    expect([again.code, again.all]).toEqual([0, expect.stringContaining("1 updated")]);
    await run("plan --var tag=y --out s.plan", url);
    const rotated = await run("apply s.plan", { DB_PASSWORD: PASSWORD, WORKSPACE_VAR_url: `${URL}2` });
    expect([rotated.code, rotated.err]).toEqual([4, expect.stringContaining("PLAN_STALE")]);
    const drift = await run("drift", { ...url, WORKSPACE_VAR_tag: "x" });
    expect([drift.code, drift.all]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
  });
});

test("only the entries of a list from outside that contain a secret are hidden", async () => {
  const { run } = workspace(
    spec(
      "{ args: { type: array, default: [] } }",
      "custom_tags: { env: production }, spark_env_vars: { A: \"${var.args.join(' ')}\" }",
    ),
  );
  const args = JSON.stringify(["--env", "production", "--url", URL]);
  const { code, out, err } = await run("plan", { DB_PASSWORD: PASSWORD, WORKSPACE_VAR_args: args });
  expect([code, out]).toEqual([0, expect.stringMatching(/custom_tags\.env\s+production/)]);
  expect(err).toContain(
    "variable args contains a secret or a sensitive value, so it is treated as sensitive",
  );
  expect(out + err).not.toContain(PASSWORD);
});

test("a value that a module declares as sensitive is in no saved plan", async () => {
  const module = `inputs: { token: { sensitive: true } }
clusters:
  c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, spark_env_vars: { T: "\${input.token}" } }
`;
  const text =
    'variables: { tok: { type: string } }\nmodules: { m: { source: m, with: { token: "${var.tok}" } } }\n';
  const { run, file } = workspace(text, { "m/workspace.yaml": module });
  const { code } = await run("plan --var tok=CanaryToken-123 --out s.plan");
  expect([code, file("s.plan")]).toEqual([0, expect.not.stringContaining("CanaryToken")]);
});
