// Sensitive values that were applied: the state has digests of them, and whatever a spec says later, no output has the values.

import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { sampleFrom } from "../../../sample-size.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "SENSITIVE-VALUE-123";
const HEAD = "variables: { apikey: { type: string, sensitive: true } }\n";
const CLUSTER = `clusters:
  c:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: 1
`;
const DECLARED = `${HEAD}${CLUSTER}    custom_tags: { k: "\${var.apikey}" }
    spark_env_vars: { K: "pre-\${var.apikey}", open: o }
`;
const REWRITTEN = `${CLUSTER}    custom_tags: { k: x }
    spark_env_vars: { K: y, open: o }
`;
const REMOVED = `${CLUSTER}    spark_env_vars: { open: o }\n`;

/** A folder whose cluster was applied with the value. */
async function applied(
  more: Readonly<Record<string, string>> = {},
  spec = DECLARED,
  files: Readonly<Record<string, string>> = {},
) {
  const folder = folderWith(spec);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const state = mkdtempSync(join(tmpdir(), "sensitive-state-"));
  const run = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    const context = contextWith(
      { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, ...more, ...env },
      folder,
    );
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  const write = (text: string): void => writeFileSync(join(folder, "workspace.yaml"), text);
  const first = await run("apply --auto-approve", { WORKSPACE_VAR_apikey: VALUE });
  expect([first.code, first.all]).toEqual([0, expect.stringContaining("Applied")]);
  return { folder, state, run, write };
}

describe("a value that was applied as sensitive", () => {
  test.each(sampleFrom(["text", "json", "markdown", "html", "junit", "sarif", "github"]))(
    "is not shown as %s by a plan of a spec without the variable",
    async (form) => {
      const { run, write } = await applied();
      for (const spec of [REWRITTEN, REMOVED, "groups: { g: {} }\n"]) {
        write(spec);
        for (const line of ["plan --untrusted", "plan", "plan --offline", "plan --destroy"]) {
          const { code, all } = await run(`${line} -o ${form}`);
          expect([line, code === 0 || code === 3, all]).toEqual([
            line,
            true,
            expect.not.stringContaining(VALUE),
          ]);
        }
      }
    },
  );

  test("is masked on both sides of a difference", async () => {
    const { run, write } = await applied();
    write(REWRITTEN);
    for (const line of ["plan --untrusted", "plan"]) {
      const { all } = await run(line);
      expect(all).toContain("spark_env_vars.K  (sensitive) → (sensitive)");
      expect(all).toContain("custom_tags.k     (sensitive) → (sensitive)");
    }
    write(REMOVED);
    expect((await run("plan")).all).toContain("spark_env_vars.K  (sensitive) → (none)");
  });

  test("is masked at other places of the resource", async () => {
    const { run, write } = await applied();
    write(REWRITTEN.replace("open: o", `open: "got ${VALUE}"`));
    const { all } = await run("plan");
    expect(all).toContain('spark_env_vars.open  o → "got (sensitive)"');
    expect(all).not.toContain(VALUE);
  });

  test("is not shown by drift, whether the variable is unset, rotated, or dropped", {
    timeout: 60_000,
  }, async () => {
    const { folder, run, write } = await applied();
    const [cluster] = JSON.parse((await run("api clusters/list")).out).clusters;
    const { cluster_id, cluster_name, spark_version, node_type_id, num_workers, custom_tags } = cluster;
    const same = { cluster_id, cluster_name, spark_version, node_type_id, num_workers, custom_tags };
    const spark_env_vars = { ...cluster.spark_env_vars, K: `pre-${VALUE}-changed` };
    writeFileSync(join(folder, "edit.json"), JSON.stringify({ ...same, spark_env_vars }));
    // A cluster that is still starting cannot be edited.
    const edit = async () => (await run("api clusters/edit --input edit.json")).code;
    await expect.poll(edit, { timeout: 20_000, interval: 500 }).toBe(0);
    const variables: readonly Record<string, string>[] = [
      {},
      { WORKSPACE_VAR_apikey: "rotated-value-9" },
      { WORKSPACE_VAR_apikey: VALUE },
    ];
    for (const env of variables)
      for (const form of sampleFrom(["text", "json", "markdown", "html", "junit", "sarif"])) {
        const { all } = await run(`drift -o ${form}`, env);
        expect(all).not.toMatch(/SENSITIVE-VALUE|rotated-value/);
      }
    const { code, all } = await run("drift", { WORKSPACE_VAR_apikey: "rotated-value-9" });
    expect([code, all]).toEqual([2, expect.stringContaining("spark_env_vars.K  (sensitive) → (sensitive)")]);
    write(REWRITTEN);
    expect((await run("drift")).all).not.toMatch(/SENSITIVE-VALUE/);
  });

  test("shows no change while the variable has the value, and one when it has another", async () => {
    const { run } = await applied();
    const same = await run("plan --detailed-exitcode", { WORKSPACE_VAR_apikey: VALUE });
    expect([same.code, same.all]).toEqual([0, expect.stringContaining("No changes.")]);
    const other = await run("plan --detailed-exitcode", { WORKSPACE_VAR_apikey: "rotated-value-9" });
    expect([other.code, other.all]).toEqual([2, expect.stringContaining("(sensitive) → (sensitive)")]);
    expect(other.all).not.toContain("rotated-value-9");
    expect((await run("apply --auto-approve", { WORKSPACE_VAR_apikey: "rotated-value-9" })).code).toBe(0);
    const after = await run("plan --detailed-exitcode", { WORKSPACE_VAR_apikey: "rotated-value-9" });
    expect(after.code).toBe(0);
  });

  test("is shown as sensitive by `state show`, and is not in `state pull`", async () => {
    const { run } = await applied();
    const shown = await run("state show clusters.c");
    expect(shown.all).toContain("(sensitive)");
    expect(shown.all).not.toMatch(/SENSITIVE-VALUE|sensitive [0-9a-f]/);
    expect((await run("state pull")).all).toMatch(/"k": "\(sensitive [0-9a-f]{16}-[0-9a-f]{32}\)"/);
  });

  test("keeps its digest when its record is moved to another address", async () => {
    const { run, write } = await applied();
    write(
      `moved: [{ from: clusters.c, to: clusters.d }]\n${DECLARED.replace("  c:", "  d:\n    cluster_name: c")}`,
    );
    const { code, all } = await run("apply --auto-approve", { WORKSPACE_VAR_apikey: VALUE });
    expect([code, all]).toEqual([
      0,
      expect.stringContaining("0 created, 0 updated, 0 replaced, 0 deleted, 1 moved"),
    ]);
    const after = await run("plan --detailed-exitcode", { WORKSPACE_VAR_apikey: VALUE });
    expect([after.code, after.all]).toEqual([0, expect.stringContaining("No changes.")]);
  });

  test("is stored by an import as a digest", async () => {
    const { run, state } = await applied();
    await run("state rm clusters.c");
    const [{ cluster_id }] = JSON.parse((await run("api clusters/list")).out).clusters;
    const imported = await run(`import clusters.c ${cluster_id}`, { WORKSPACE_VAR_apikey: VALUE });
    expect([imported.code, imported.all]).toEqual([0, expect.not.stringContaining(VALUE)]);
    const text = readFileSync(join(state, "state.json"), "utf8");
    expect(text).not.toContain(VALUE);
    expect(text).toMatch(/"custom_tags":\{"k":"\(sensitive /);
  });
});

describe("a pull request that guesses a sensitive value", () => {
  const RULE = `rules:
  - name: probe
    when: 'true'
    assert: 'change.before == null || change.before.custom_tags.k != "GUESS"'
    message: probe
`;
  const declares = (apikey: string): string =>
    `${DECLARED.replace("sensitive: true", `sensitive: true, default: "${apikey}"`)}`;
  const guesses: readonly (readonly [string, (guess: string) => string])[] = [
    ["in the field", (guess) => REWRITTEN.replace("k: x", `k: "${guess}"`)],
    ["as a default of the variable", declares],
    [
      "as a default of a variable that is not sensitive",
      (guess) => declares(guess).replace("sensitive: true, ", ""),
    ],
    ["in another field", (guess) => REWRITTEN.replace("open: o", `open: "${guess}"`)],
    ["in a key", (guess) => REWRITTEN.replace("open: o", `"${guess.replaceAll("-", "_")}": o`)],
    ["in a rule", (guess) => `${RULE.replace("GUESS", guess)}${REWRITTEN}`],
    ["of a part of the value", (guess) => REWRITTEN.replace("open: o", `open: "${guess.slice(0, 12)}"`)],
  ];

  test.each(guesses)("learns nothing from `plan --untrusted` when it guesses %s", async (_, spec) => {
    const { run, write } = await applied();
    const told = async (guess: string, line: string) => {
      write(spec(guess));
      const { code, all } = await run(line);
      const text = all
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
        .replaceAll(guess.replaceAll("-", "_"), "GUESS")
        .replaceAll(guess, "GUESS")
        .replaceAll(guess.slice(0, 12), "GUE");
      return { code, text };
    };
    for (const line of [
      "plan --untrusted",
      "plan --untrusted -o json",
      "plan --untrusted --offline",
      "plan --untrusted -o html",
    ]) {
      const right = await told(VALUE, line);
      expect(right).toEqual(await told("SENSITIVE-VALUE-999", line));
    }
  });
});

test.each(["plan --untrusted", "plan --untrusted --offline"])(
  "an unchanged resource with a sensitive value is not resolved by the change when `%s` has a base",
  async (line) => {
    const spec = DECLARED.replace("sensitive: true", "sensitive: true, default: none");
    const { run } = await applied({}, spec);
    const { code, all } = await run(`${line} --base ${folderWith(spec)} --detailed-exitcode`);
    expect([code, all]).toEqual([0, expect.stringContaining("No changes.")]);
    expect(all).not.toContain("Resolved by this change");
  },
);

test("an unknown name that is sensitive has no suggestion, because that would be close to the value", async () => {
  const spec = `variables: { node: { sensitive: true } }
${CLUSTER.replace("node_type_id: Standard_DS3_v2", 'node_type_id: "${var.node}"')}`;
  const folder = folderWith(spec);
  for (const line of ["plan", "plan -o json"]) {
    const env = { WORKSPACE_HOST: "embedded", WORKSPACE_VAR_node: "Standard_DS3_v" };
    const context = contextWith(env, folder);
    expect(await runProgram(context, line.split(" "))).toBe(1);
    const all = context.out() + context.err();
    expect(all).toContain("PLAN_UNKNOWN_NAME");
    expect(all).not.toContain("did you mean");
    expect(all).not.toContain("Standard_DS3_v");
  }
});

describe("commands that show what the service returned about a recorded resource", () => {
  test("hide the value in a cluster and in its events, also a former one", async () => {
    const { run, folder } = await applied();
    const [cluster] = JSON.parse((await run("api clusters/list")).out).clusters;
    const { cluster_id, cluster_name, spark_version, node_type_id, num_workers, custom_tags } = cluster;
    const same = { cluster_id, cluster_name, spark_version, node_type_id, num_workers, custom_tags };
    const spark_env_vars = { ...cluster.spark_env_vars, K: "changed-by-hand", open: `copy of pre-${VALUE}` };
    writeFileSync(join(folder, "edit.json"), JSON.stringify({ ...same, spark_env_vars }));
    const edit = async () => (await run("api clusters/edit --input edit.json")).code;
    await expect.poll(edit, { timeout: 20_000, interval: 500 }).toBe(0);
    for (const line of ["clusters events clusters.c", "clusters start clusters.c"])
      for (const form of ["json", "text"]) {
        const { code, all } = await run(`${line} -o ${form}`);
        expect([line, form, code]).toEqual([line, form, 0]);
        expect(all).not.toContain(VALUE);
        expect(all).not.toContain("changed-by-hand");
        if (form === "json") expect(all).toContain("(sensitive)");
      }
  });

  test("hide the value of a secret that is set, wherever it is in a cluster and its events, also if the spec has errors", async () => {
    const secret = { SECRET_P: "pass-word-of-the-secret" };
    const spec = `scopes: { s: { secrets: { p: { env: SECRET_P } } } }\n${CLUSTER}`;
    const { run, folder, write } = await applied(secret, spec);
    const [cluster] = JSON.parse((await run("api clusters/list")).out).clusters;
    const { cluster_id, cluster_name, spark_version, node_type_id, num_workers } = cluster;
    const spark_env_vars = { OPEN: `copy of ${secret.SECRET_P}` };
    const edited = { cluster_id, cluster_name, spark_version, node_type_id, num_workers, spark_env_vars };
    writeFileSync(join(folder, "edit.json"), JSON.stringify(edited));
    const edit = async () => (await run("api clusters/edit --input edit.json")).code;
    await expect.poll(edit, { timeout: 20_000, interval: 500 }).toBe(0);
    const lines = ["clusters events clusters.c -o json", "clusters start clusters.c -o json"];
    for (const line of lines) {
      const { code, all } = await run(line);
      expect([line, code, all]).toEqual([line, 0, expect.stringContaining("copy of (sensitive)")]);
      expect(all).not.toContain(secret.SECRET_P);
    }
    const unset = `variables: { tags: { type: string } }\n${spec}    custom_tags: { t: "\${var.tags}" }\n`;
    for (const invalid of [`${spec}    autotermination_minutes: often\n`, unset]) {
      write(invalid);
      expect((await run("validate")).code).toBe(1);
      for (const line of lines) {
        const { code, all } = await run(line);
        expect([line, code, all]).toEqual([line, 0, expect.stringContaining("copy of (sensitive)")]);
      }
    }
  });

  test("hide the value of a variable that is set in runs of jobs that are not recorded", async () => {
    const { run, folder } = await applied({ WORKSPACE_VAR_apikey: VALUE }, `${HEAD}groups: { g: {} }\n`);
    const task = { notebook_path: "/n", base_parameters: { a: `copy of ${VALUE}` } };
    const new_cluster = {
      spark_version: "6.4.x-scala2.11",
      node_type_id: "Standard_DS3_v2",
      num_workers: 1,
    };
    const job = { name: "j", new_cluster, notebook_task: task };
    writeFileSync(join(folder, "job.json"), JSON.stringify(job));
    const { job_id } = JSON.parse((await run("api jobs/create --input job.json")).out);
    const { run_id } = JSON.parse((await run(`api jobs/run-now job_id=${job_id}`)).out);
    for (const line of ["runs list -o json", `runs get ${run_id} -o json`]) {
      const { code, all } = await run(line);
      expect([line, code, all]).toEqual([line, 0, expect.stringContaining("copy of (sensitive)")]);
      expect(all).not.toContain(VALUE);
    }
  });

  test("hide the value of a variable that another resource uses inside a longer text of a run of a recorded job", async () => {
    const spec = `${HEAD}groups: { g: {} }
users: { ada@example.com: { displayName: "\${var.apikey}" } }
notebooks: { /n: { source: n.py } }
jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: /n, base_parameters: { p: x } }
`;
    const { run, folder } = await applied({ WORKSPACE_VAR_apikey: VALUE }, spec, { "n.py": "print(1)\n" });
    const begun = await run(`run jobs.j --param p=see-${VALUE}-there`);
    expect([begun.code, begun.all]).toEqual([0, expect.not.stringContaining(VALUE)]);
    const { code, all } = await run("runs get --job jobs.j -o json");
    expect([code, all]).toEqual([0, expect.stringContaining("see-(sensitive)-there")]);
    expect(all).not.toContain(VALUE);
    const exported = await run("runs export --job jobs.j --out r.html");
    expect([exported.code, exported.all]).toEqual([0, expect.not.stringContaining(VALUE)]);
    expect(readFileSync(join(folder, "r.html"), "utf8")).not.toContain(VALUE);
  });

  test.each(["ID", "--job jobs.j"])(
    "hide a value of the job that is not set in an exported page: runs export %s",
    async (which) => {
      const { run, folder } = await applied(
        {},
        `${HEAD}notebooks: { /n: { source: n.py } }
jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: /n, base_parameters: { p: "\${var.apikey}" } }
`,
        { "n.py": `print("${VALUE}")\n` },
      );
      await run("run jobs.j");
      const [{ run_id }] = JSON.parse((await run("runs list -o json")).out).runs;
      const { code, all } = await run(`runs export ${which.replace("ID", run_id)} --out page.html`);
      expect([code, all]).toEqual([0, expect.not.stringContaining(VALUE)]);
      const page = readFileSync(join(folder, "page.html"), "utf8");
      const decoded = page.replaceAll(/[\w+/=]{40,}/g, (text) => Buffer.from(text, "base64").toString());
      expect(decoded).toContain("html");
      expect(page + decoded).not.toContain(VALUE);
    },
  );

  test("hide the value in runs of a job", async () => {
    const { run } = await applied(
      {},
      `${HEAD}notebooks: { /Shared/n: { source: n.py } }
jobs:
  j:
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, spark_env_vars: { K: "pre-\${var.apikey}" } }
    notebook_task: { notebook_path: /Shared/n, base_parameters: { a: "\${var.apikey}", b: open } }
`,
      { "n.py": "print(1)\n" },
    );
    for (const line of [
      "run jobs.j -o json",
      `run jobs.j --param a=${VALUE} -o json`,
      "runs list --job jobs.j -o json",
      "runs get --job jobs.j -o json",
      "runs get --job jobs.j --wait -o json",
      "runs output --job jobs.j -o json",
    ]) {
      const { all } = await run(line);
      expect([line, all]).toEqual([line, expect.not.stringContaining(VALUE)]);
    }
    expect((await run("runs list --job jobs.j -o json")).out).toContain('"b": "open"');
  });
});

describe("a saved plan with a sensitive value", () => {
  test.each([
    ["is unset", {}, 1],
    ["is another one", { WORKSPACE_VAR_apikey: "rotated-value-9" }, 4],
  ])("is refused before the first write when the variable %s", async (_, env, expected) => {
    const { run, folder } = await applied();
    const planned = await run("plan --out p.plan", { WORKSPACE_VAR_apikey: `${VALUE}-next` });
    expect(planned.code).toBe(0);
    expect(readFileSync(join(folder, "p.plan"), "utf8")).not.toContain(VALUE);
    const { code, all } = await run("apply p.plan", env);
    expect(code).toBe(expected);
    expect(all).not.toMatch(/SENSITIVE-VALUE|rotated-value/);
    expect((await run("api clusters/list")).out).toContain(`pre-${VALUE}"`);
    const right = await run("apply p.plan", { WORKSPACE_VAR_apikey: `${VALUE}-next` });
    expect([right.code, right.all]).toEqual([0, expect.stringContaining("Applied")]);
    expect((await run("api clusters/list")).out).toContain(`pre-${VALUE}-next"`);
  });
});

test("an old state with a plain value is upgraded by the next apply, and plans hide the value before that", async () => {
  const { run, write, state } = await applied(
    {},
    DECLARED.replace(/\$\{var\.apikey\}/g, VALUE).replace(HEAD, ""),
  );
  expect(readFileSync(join(state, "state.json"), "utf8")).toContain(VALUE);
  write(DECLARED);
  const rotated = await run("plan", { WORKSPACE_VAR_apikey: "rotated-value-9" });
  expect(rotated.all).toContain("(sensitive) → (sensitive)");
  expect(rotated.all).not.toContain(VALUE);
  const { code, all } = await run("apply --auto-approve", { WORKSPACE_VAR_apikey: VALUE });
  expect([code, all]).toEqual([0, expect.stringContaining("No changes.")]);
  expect(readFileSync(join(state, "state.json"), "utf8")).not.toContain(VALUE);
  write(REWRITTEN);
  expect((await run("plan --untrusted")).all).toContain("(sensitive) → (sensitive)");
});

describe("a state in the workspace without WORKSPACE_STATE_KEY", () => {
  const SHARED = "workspace:/Shared/.states/one";

  test("is refused for a spec with sensitive values, because its readers can test guesses", async () => {
    const folder = folderWith(DECLARED);
    const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: SHARED, WORKSPACE_VAR_apikey: VALUE };
    for (const line of ["plan", "apply --auto-approve"]) {
      const context = contextWith(env, folder);
      expect(await runProgram(context, line.split(" "))).toBe(1);
      expect(context.err()).toContain(
        `error STATE_UNENCRYPTED: the spec has sensitive values, and readers of ${SHARED} can test guesses of them`,
      );
    }
  });

  test("has no sensitive value in any of its files when it is allowed", async () => {
    const folder = folderWith(DECLARED);
    const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: SHARED, WORKSPACE_VAR_apikey: VALUE };
    const run = async (line: string) => {
      const context = contextWith(env, folder);
      expect([await runProgram(context, line.split(" ")), line, context.err()]).toEqual([
        0,
        line,
        expect.anything(),
      ]);
      return context.out();
    };
    await run("apply --auto-approve --allow-unencrypted-state");
    const texts: string[] = [];
    const visit = async (path: string): Promise<void> => {
      for (const { path: inner, is_dir } of JSON.parse(await run(`api fs/list path=${path}`)).files ?? [])
        if (is_dir) await visit(inner);
        else
          texts.push(
            Buffer.from(JSON.parse(await run(`api fs/read path=${inner}`)).data, "base64").toString(),
          );
    };
    await visit("/Shared/.states/one");
    expect(texts.join("\n")).toContain("(sensitive ");
    expect(texts.join("\n")).not.toContain(VALUE);
  });
});

test("a key of a live map that contains a sensitive value is not in the state after `import`, and no untrusted plan shows it", async () => {
  const spec = `variables: { apikey: { type: string, sensitive: true, default: d } }
${CLUSTER}    custom_tags: { k: "\${var.apikey}", open: o }
`;
  const { folder, state, run } = await applied({}, spec);
  expect((await run("state rm clusters.c")).code).toBe(0);
  const input = {
    cluster_name: "c",
    spark_version: "6.4.x-scala2.11",
    node_type_id: "Standard_DS3_v2",
    num_workers: 1,
    custom_tags: { k: VALUE, open: "o", [`of-${VALUE}`]: "live-1" },
  };
  writeFileSync(join(folder, "create.json"), JSON.stringify(input));
  const { cluster_id } = JSON.parse((await run("api clusters/create --input create.json")).out);
  const imported = await run(`import clusters.c ${cluster_id}`, { WORKSPACE_VAR_apikey: VALUE });
  expect(imported).toMatchObject({ code: 0, all: expect.stringContaining("live-1") });
  const stored = readdirSync(state)
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => readFileSync(join(state, name), "utf8"))
    .join("\n");
  expect(stored).toContain("custom_tags");
  expect(stored).not.toMatch(new RegExp(`${VALUE}|live-1`));
  for (const line of ["state show clusters.c", "state pull", "plan --untrusted", "drift"])
    expect((await run(line)).all).not.toMatch(new RegExp(VALUE));
});

test("a sensitive value that is a word in the name of a field hides nothing of a record, so that the next plan has no changes", async () => {
  const spec = `variables: { db_user: { type: string, sensitive: true } }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { u: "\${var.db_user}" } } }
`;
  const databricks = { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: "azure" };
  const { run } = await applied({ ...databricks, WORKSPACE_VAR_db_user: "spot" }, spec);
  expect(await run("plan --detailed-exitcode")).toMatchObject({
    code: 0,
    all: expect.stringContaining("No changes"),
  });
});
