// Sensitive values of jobs and clusters that have several forms: numbers, booleans, and short strings are found by their place alone.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { sampleFrom } from "../../../sample-size.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const HEAD = `variables:
  n: { type: string, sensitive: true, default: "1" }
  z: { type: string, sensitive: true, default: none }
  b: { type: string, sensitive: true, default: "no" }
`;
const TASK = `new_cluster:
  spark_version: 15.4.x-scala2.12
  node_type_id: Standard_DS3_v2
  num_workers: "\${int(var.n)}"
  spark_env_vars: { Z: "\${var.z}", OPEN: "77" }
notebook_task: { notebook_path: /Shared/x, base_parameters: { p: "\${var.z}" } }
max_retries: "\${int(var.n)}"
retry_on_timeout: "\${var.b == 'yes'}"
min_retry_interval_millis: 4000
`;
const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, " ".repeat(by));

const TOP = `${HEAD}jobs:\n  j:\n${indented(TASK, 4)}`;
const INSIDE = `${HEAD}jobs:\n  j:\n    tasks:\n      t:\n${indented(TASK, 8)}`;
const SHARED = `${HEAD}jobs:
  j:
    parameters: { q: "\${var.z}" }
    job_clusters:
      k:
        new_cluster:
          spark_version: 15.4.x-scala2.12
          node_type_id: Standard_DS3_v2
          num_workers: "\${int(var.n)}"
          spark_env_vars: { K: "\${var.z}" }
    tasks:
      a:
        job_cluster_key: k
        max_retries: "\${int(var.n)}"
        notebook_task: { notebook_path: /Shared/x, base_parameters: { a: "\${var.z}" } }
      b:
        job_cluster_key: k
        notebook_task: { notebook_path: /Shared/y }
`;

const VALUES = { n: "4321", z: "pin", b: "yes" };
const ROTATED = { n: "9876", z: "cow", b: "yes" };
const LEAK = /\b4321\b|\b9876\b|\bpin\b|\bcow\b|retry_on_timeout +true/;
const leaksIn = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => LEAK.test(line.replaceAll(/\(sensitive [^)]*\)|\d{10,}|sha256:\w+/g, "")));

function site(spec: string) {
  const folder = folderWith(spec);
  const recorded = mkdtempSync(join(tmpdir(), "forms-"));
  const env = {
    WORKSPACE_STATE: recorded,
    WORKSPACE_HOST: "embedded",
    WORKSPACE_DIALECT: "databricks",
    WORKSPACE_CLOUD: "azure",
  };
  const write = (text: string): void => writeFileSync(join(folder, "workspace.yaml"), text);
  const raw = async (line: string, values: Readonly<Record<string, string>> = {}) => {
    const variables = Object.entries(values).map(([name, value]) => [`WORKSPACE_VAR_${name}`, value]);
    const context = contextWith({ ...env, ...Object.fromEntries(variables) }, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  /** Runs a command whose output, and the state after it, must not contain a value. */
  const run = async (line: string, values: Readonly<Record<string, string>> = {}) => {
    const result = await raw(line, values);
    expect([line, leaksIn(result.all)]).toEqual([line, []]);
    expect([line, leaksIn(state())]).toEqual([line, []]);
    return result;
  };
  const state = (): string => {
    const files = readdirSync(recorded, { withFileTypes: true, recursive: true }).filter((file) =>
      file.isFile(),
    );
    return files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1")).join("\n");
  };
  /** Does something with a copy of the state. */
  const elsewhere = async (work: () => Promise<void>) => {
    const copy = mkdtempSync(join(tmpdir(), "forms-copy-"));
    cpSync(recorded, copy, { recursive: true });
    await work();
    rmSync(recorded, { recursive: true });
    cpSync(copy, recorded, { recursive: true });
  };
  return { write, raw, run, recorded, state, elsewhere };
}

const FORMS = sampleFrom(["text", "json", "markdown", "html", "junit"]);

describe.each([
  ["the fields of the job", TOP],
  ["a single task", INSIDE],
  ["tasks and the cluster that they share", SHARED],
])("numbers, booleans, and short strings in %s", (_, spec) => {
  test("are in no output and no state", async () => {
    const { write, run, raw, state } = site(spec);
    for (const form of FORMS) expect((await raw(`plan -o ${form}`, VALUES)).all).not.toMatch(/4321|\bpin\b/);
    const first = await run("apply --auto-approve", VALUES);
    expect([first.code, first.all]).toEqual([0, expect.stringContaining("Applied")]);
    expect(state()).toContain("(sensitive ");
    const again = await run("plan --detailed-exitcode", VALUES);
    expect([again.code, again.all]).toEqual([0, expect.stringContaining("No changes.")]);
    for (const form of FORMS) {
      await run(`plan -o ${form}`, ROTATED);
      await run(`drift -o ${form}`, ROTATED);
      await run(`plan --destroy -o ${form}`, ROTATED);
    }
    await run("plan --out p.plan", ROTATED);
    await run("show p.plan -o json");
    await run("state show jobs.j");
    await run("state pull");
    for (const flags of ["", " --offline"]) {
      const untrusted = await run(`plan --untrusted${flags} --detailed-exitcode`);
      expect([untrusted.code, untrusted.all]).toEqual([0, expect.stringContaining("No changes.")]);
    }
    const guess = async (n: string) => {
      write(spec.replaceAll('"${int(var.n)}"', n));
      return (await raw("plan --untrusted")).all.replaceAll(n, "N").replaceAll(/20\d\d-\S+Z/g, "");
    };
    expect(await guess("4321")).toBe(await guess("1234"));
    write(spec);
    expect((await run("apply --auto-approve", ROTATED)).code).toBe(0);
    await run("history --diff -o json");
    // The spec shows these values, so the state does too.
    write(
      spec
        .replaceAll(/"\$\{int\(var\.n\)\}"/g, "5")
        .replaceAll('"${var.z}"', "open-now")
        .replace(/"\$\{var\.b.*/, "false"),
    );
    expect((await run("apply --auto-approve")).code).toBe(0);
    expect(state()).toMatch(/"max_retries":\s*5/);
    expect(state()).toContain("open-now");
    expect((await raw("plan --detailed-exitcode")).code).toBe(0);
  }, 120_000);
});

describe("a live job of another form than the recorded one", () => {
  test("shows no number, in drift and in plans of trusted and untrusted specs", async () => {
    const { write, raw, run, elsewhere } = site(TOP);
    expect((await run("apply --auto-approve", VALUES)).code).toBe(0);
    // Another state writes the other form, with a second task.
    await elsewhere(async () => {
      write(
        `${INSIDE}${indented(`u: { notebook_task: { notebook_path: /Shared/y }, max_retries: 3 }\n`, 6)}`,
      );
      expect((await raw("apply --auto-approve", VALUES)).all).toContain("1 updated");
    });
    write(TOP);
    for (const form of FORMS) {
      const drift = await run(`drift -o ${form}`);
      expect(drift.all).toContain("(sensitive)");
      await run(`plan -o ${form}`, ROTATED);
    }
    expect((await run("drift")).all).toContain("tasks.t.new_cluster.num_workers");
    const guess = async (n: string) => {
      write(INSIDE.replaceAll('"${int(var.n)}"', n));
      return (await raw("plan --untrusted")).all.replaceAll(n, "N").replaceAll(/20\d\d-\S+Z/g, "");
    };
    const right = await guess("4321");
    expect(right).toBe(await guess("1234"));
    expect(right).toContain("(sensitive)");
    write(TOP);
    expect((await run("plan --untrusted")).all).not.toMatch(LEAK);
    // An apply puts the recorded form back.
    expect((await run("apply --auto-approve", VALUES)).code).toBe(0);
    expect((await run("plan --detailed-exitcode", VALUES)).code).toBe(0);
  }, 60_000);
});

test.each([
  ["task_key", `${TASK}task_key: "\${var.z}"\n`],
  [
    "tasks.t.job_cluster_key",
    `tasks: { t: { job_cluster_key: "\${var.z}", notebook_task: { notebook_path: /x } } }\n`,
  ],
  [
    "tasks.t.environment_key",
    `tasks: { t: { environment_key: "\${var.z}", spark_python_task: { python_file: /x } } }\n`,
  ],
  [
    "tasks.t.depends_on[0].task_key",
    `tasks: { t: { depends_on: [{ task_key: "\${var.z}" }], notebook_task: { notebook_path: /x } } }\n`,
  ],
  [
    "tasks.t.for_each_task.task.task_key",
    `tasks: { t: { for_each_task: { inputs: "[1]", task: { task_key: "\${var.z}", notebook_task: { notebook_path: /x } } } } }\n`,
  ],
])("%s, a key, cannot come from a sensitive value", async (path, job) => {
  const { run } = site(`${HEAD}jobs:\n  j:\n${indented(job, 4)}`);
  const { code, all } = await run("validate", VALUES);
  expect([code, all]).toEqual([
    1,
    expect.stringContaining(`SPEC_SENSITIVE: jobs.j: ${path} is a key and cannot be a sensitive value`),
  ]);
});

describe("answers about a run and a cluster", () => {
  test("show neither present nor former values of tasks and of shared clusters", async () => {
    const { run, raw, recorded } = site(
      SHARED.replaceAll('"${int(var.n)}"', "1").replace("max_retries: 1", 'max_retries: "${int(var.n)}"'),
    );
    expect((await run("apply --auto-approve", VALUES)).code).toBe(0);
    const started = await run("run jobs.j", VALUES);
    expect([started.code, started.all]).toEqual([0, expect.stringContaining("run")]);
    const list = JSON.parse((await raw("api jobs/runs/list")).out);
    const id = list.runs[0].run_id;
    expect((await raw(`api jobs/runs/get run_id=${id}`)).out).toMatch(/"pin"[\s\S]*"pin"/);
    expect((await run("apply --auto-approve", ROTATED)).code).toBe(0);
    const ofJob = ["runs list --job jobs.j", "runs get --job jobs.j", "runs output --job jobs.j"];
    const byId = ["runs list", `runs get ${id}`, `runs output ${id}`];
    for (const line of [...ofJob, ...byId])
      for (const form of ["text", "json"]) {
        await run(`${line} -o ${form}`, ROTATED);
        await run(`${line} -o ${form}`);
      }
    for (const line of ["runs get --job jobs.j -o json", `runs get ${id} -o json`])
      expect((await run(line)).all).toMatch(/"base_parameters": \{\s+"a": "\(sensitive\)"/);
    // With a state that cannot be read, a run is not shown, but can be canceled. The time stands still, so the run does not end.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await run("run jobs.j", ROTATED)).code).toBe(0);
    const { runs } = JSON.parse((await raw("api jobs/runs/list active_only=true")).out);
    const active = runs[0]?.run_id;
    for (const name of readdirSync(recorded).filter((entry) => entry.startsWith("state.json")))
      writeFileSync(join(recorded, name), "damaged");
    const shown = await raw(`runs get ${active}`);
    expect([shown.code, shown.all]).toEqual([1, expect.stringContaining("STATE_")]);
    const cancelled = await raw(`runs cancel ${active}`);
    expect([cancelled.code, cancelled.all]).toEqual([0, expect.stringContaining("is being canceled")]);
  }, 60_000);

  test("show no size of a cluster that is sensitive", async () => {
    const { run } = site(`${HEAD}clusters:
  c: { spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: "\${int(var.n)}" }
`);
    expect((await run("apply --auto-approve", { n: "43" })).code).toBe(0);
    const started = await run("clusters start clusters.c --wait", { n: "43" });
    expect([started.code, started.all]).toEqual([0, expect.stringContaining("(sensitive) workers")]);
    const shown = await Promise.all(
      ["text", "json"].map((form) => run(`clusters events clusters.c -o ${form}`, { n: "43" })),
    );
    for (const { all } of [started, ...shown])
      expect(all.replaceAll(/\d{5,}|\d\d:\d\d\S*/g, "")).not.toMatch(/\b43\b/);
    expect(shown.map(({ all }) => all)).toEqual([
      expect.stringContaining("(sensitive) workers"),
      expect.stringContaining('"current_num_workers": "(sensitive)"'),
    ]);
  }, 60_000);
});
