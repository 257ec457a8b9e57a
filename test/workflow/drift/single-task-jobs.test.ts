// A job with one task, through the real program and a service of the Databricks dialect on loopback: plan, drift, and explain name its fields as the spec writes them.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "admin-token";
const CLUSTER =
  "clusters:\n  c: { spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1 }\n";
const IN_TASKS = `${CLUSTER}jobs:
  etl:
    tasks:
      load: # nightly
        existing_cluster_id: \${clusters.c.cluster_id}
        notebook_task: { notebook_path: /a }
`;
const FLAT = `${CLUSTER}jobs:
  etl:
    task_key: load
    existing_cluster_id: \${clusters.c.cluster_id}
    notebook_task: { notebook_path: /a }
`;

let server: RunningServer | undefined;
afterEach(() => server?.close());

interface Task {
  readonly notebook_task: { readonly notebook_path: string };
  readonly max_retries?: number;
  readonly description?: string;
}

async function applied(spec: string, more: Readonly<Record<string, string>> = {}) {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN, dialect: "databricks" });
  const { url } = server;
  const folder = folderWith(spec);
  const env = {
    WORKSPACE_HOST: url,
    WORKSPACE_STATE: join(folder, "state"),
    WORKSPACE_TOKEN: TOKEN,
    WORKSPACE_DIALECT: "databricks",
    ...more,
  };
  const run = async (...args: readonly string[]) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, [...args]);
    return { code, all: context.out() + context.err() };
  };
  expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const api = async (path: string, body?: object) => {
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/2.2/jobs/${path}`, init);
    expect(answer.status).toBe(200);
    return answer.json() as Promise<{ readonly jobs: readonly { readonly job_id: number }[] }>;
  };
  const { jobs } = await api("list");
  const id = Number(jobs[0]?.job_id);
  const task = async (): Promise<Task> => {
    const answer = (await api(`get?job_id=${id}`)) as unknown as {
      readonly settings: { readonly tasks: readonly [Task] };
    };
    return answer.settings.tasks[0];
  };
  const change = async (more: object): Promise<unknown> =>
    api("update", { job_id: id, new_settings: { tasks: [{ ...(await task()), ...more }] } });
  const path = join(folder, "workspace.yaml");
  const file = {
    read: () => readFileSync(path, "utf8"),
    write: (text: string) => writeFileSync(path, text),
  };
  return { run, change, task, file };
}

describe.each([
  ["in tasks", IN_TASKS, "tasks.load."],
  ["with the fields of the task", FLAT, ""],
])("a job with one task, declared %s,", (_how, spec, prefix) => {
  test("is seen by rules with the fields of the task", async () => {
    const rule = `rules: [{ name: a, kinds: [jobs], assert: 'change.after.notebook_task.notebook_path != "/c"' }]\n`;
    const { run, file } = await applied(spec + rule);
    file.write((spec + rule).replace("path: /a", "path: /c"));
    expect(await run("plan")).toMatchObject({ code: 3, all: expect.stringContaining("GUARD_RULE: ") });
  });

  test("has a warning about its notebook, which does not exist", async () => {
    const { run, file } = await applied(spec);
    file.write(spec.replace("path: /a", "path: /c"));
    expect((await run("plan")).all).toContain(
      `PLAN_UNKNOWN_NAME: jobs.etl: ${prefix}notebook_task.notebook_path`,
    );
  });

  test("has an empty plan after the apply", async () => {
    const { run } = await applied(spec);
    expect((await run("plan")).all).toContain("No changes");
  });

  test("shows drift at the fields of the spec, and accepts it into them", async () => {
    const { run, change, file } = await applied(spec);
    await change({ max_retries: 3, notebook_task: { notebook_path: "/b" } });
    const drift = await run("drift");
    expect(drift.code).toBe(2);
    expect(drift.all).toMatch(`${prefix}notebook_task.notebook_path`);
    expect(drift.all).toMatch(`${prefix}max_retries`);
    expect(await run("drift", "accept", "jobs.etl")).toMatchObject({ code: 0 });
    const accepted = file.read();
    expect(accepted).toContain("notebook_task: { notebook_path: /b }");
    expect(accepted).toMatch(prefix === "" ? /\n {4}max_retries: 3\n/ : /\n {8}max_retries: 3\n/);
    expect(accepted.includes("# nightly")).toBe(spec.includes("# nightly"));
    expect((await run("plan")).all).toContain("No changes");
  });

  test("is explained with the lines that set its fields", async () => {
    const { run, change } = await applied(spec);
    await change({ notebook_task: { notebook_path: "/b" } });
    const { all } = await run("explain", "--plan", "jobs.etl");
    const line = spec.split("\n").findIndex((text) => text.includes("notebook_path")) + 1;
    expect(all).toMatch(new RegExp(`notebook_path {2}/b → /a .*\\n {10}workspace\\.yaml:${line}\\n`));
    expect(all).not.toContain("the spec does not set it");
  });

  test("keeps the live value of a field of the task that it ignores", async () => {
    const ignoring = `${spec}    lifecycle: { ignore_changes: ["${prefix}max_retries"] }\n`;
    const { run, change, task, file } = await applied(ignoring);
    await change({ max_retries: 3 });
    expect((await run("plan")).all).toContain("No changes");
    file.write(ignoring.replace("path: /a", "path: /c"));
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await task()).toMatchObject({ max_retries: 3, notebook_task: { notebook_path: "/c" } });
    expect((await run("plan")).all).toContain("No changes");
  });

  test("has an empty plan when the spec takes the other form", async () => {
    const { run, file } = await applied(spec);
    file.write(spec === FLAT ? IN_TASKS : FLAT);
    expect((await run("plan")).all).toContain("No changes");
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await run("drift")).toMatchObject({ code: 0 });
  });
});

test.each([
  ["in tasks", IN_TASKS],
  ["with the fields of the task", FLAT],
])(
  "a field that only tasks can have differs alone in a job declared %s, and leaves with an apply",
  async (_how, spec) => {
    const { run, change, task } = await applied(spec);
    await change({ description: "by hand" });
    const { all } = await run("plan");

    expect(all).toContain("tasks.load.description");
    expect(all).not.toMatch(/notebook_path|run_if|disabled|timeout_seconds/);
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await task()).toMatchObject({ notebook_task: { notebook_path: "/a" } });
    expect((await task()).description).toBeUndefined();
    expect((await run("plan")).all).toContain("No changes");
  },
);

test.each([
  ["in tasks", IN_TASKS, FLAT],
  ["with the fields of the task", FLAT, IN_TASKS],
])(
  "a rule sees the recorded plain text of a job that was declared %s, also if a secret has the same",
  async (_how, before, after) => {
    const secret = "scopes: { s: { secrets: { k: { env: SECRET } } } }\n";
    const rule = `rules: [{ name: a, kinds: [jobs], assert: 'change.before == null || change.before.notebook_task.base_parameters.owner != "x"' }]\n`;
    const owned = (spec: string, owner: string) =>
      spec.replace("path: /a", `path: /a, base_parameters: { owner: ${owner} }`) + secret + rule;
    const { run, file } = await applied(owned(before, "svc-etl"), { SECRET: "svc-etl" });
    file.write(owned(after, "other"));
    const { code, all } = await run("plan");
    expect([code, all]).toEqual([0, expect.stringContaining("owner")]);
    expect(all).not.toContain("GUARD_RULE_FAILED");
  },
);

describe.each([
  ["in tasks", IN_TASKS, FLAT, "tasks.load.max_retries"],
  ["with the fields of the task", FLAT, IN_TASKS, "max_retries"],
])(
  "drift of a job that was applied %s, when the spec takes the other form,",
  (_how, before, after, field) => {
    const retried = (spec: string) =>
      spec.replace("notebook_task", `max_retries: 1\n${spec === FLAT ? "    " : "        "}notebook_task`);

    test("has the names of the apply, and the plan says that it reverts what is acknowledged", async () => {
      const { run, change, file } = await applied(retried(before));
      await change({ max_retries: 5 });
      const until = ["--until", "2999-12-31", "--reason", "load test"];
      file.write(retried(after));
      const other = field === "max_retries" ? "tasks.load.max_retries" : "max_retries";
      const refused = await run("drift", "acknowledge", `jobs.etl.${other}`, ...until);
      expect(refused).toMatchObject({ code: 1, all: expect.stringContaining(`jobs.etl.${field}`) });
      expect(await run("drift", "acknowledge", `jobs.etl.${field}`, ...until)).toMatchObject({ code: 0 });
      const { all } = await run("plan");
      expect(all).toMatch(/max_retries {2}5 → 1/);
      expect(all).toMatch(/acknowledged until 2999-12-31.*load test/);
    });
  },
);
