// `workspace history`, and what else tells people which run it was: the lock, and the list of older states.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workflowObserver } from "../../../src/cli/output/diagnostics.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { resolveInvocation } from "../../../src/workflow/invocation/invocation.ts";
import { openState } from "../../../src/workflow/session/open-state.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "history-token";
const CI = {
  GITHUB_ACTOR: "ada",
  GITHUB_SHA: "1234567890abcdef1234567890abcdef12345678",
  GITHUB_SERVER_URL: "https://ci.test",
  GITHUB_REPOSITORY: "team/data",
  GITHUB_RUN_ID: "7",
};
const RUN = "https://ci.test/team/data/actions/runs/7";

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

function environment(more: Record<string, string>) {
  return { WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, ...more };
}

async function run(cwd: string, line: string, env: Record<string, string> = CI) {
  const context = contextWith(environment(env), cwd);
  const code = await runProgram(context, line.split(" "));
  return { code, out: context.out(), err: context.err() };
}

async function runs(cwd: string, of = "") {
  return JSON.parse((await run(cwd, `history ${of} -o json`.replace("  ", " "))).out).runs;
}

const POOL = "pools: { p: { node_type_id: Standard_DS3_v2 } }\n";

test("an apply in CI is listed with its actor, user, commit, page, counts and addresses", async () => {
  const folder = folderWith(POOL);
  expect((await run(folder, "apply --auto-approve")).code).toBe(0);
  expect(await runs(folder)).toMatchObject([
    {
      command: "apply",
      outcome: "applied",
      actor: "ada",
      commit: CI.GITHUB_SHA,
      run_url: RUN,
      applied: { create: 1 },
      left: 0,
      changed: ["pools.p"],
      plan: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  const { out } = await run(folder, "history");
  expect(out).toMatch(
    /^\S+Z {2}apply applied: create 1\n {2}by ada\b.*commit 1234567890ab, plan \w{12}, https:/,
  );
});

test("with an address only the applies that changed it are listed, the newest first", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  await run(folder, "destroy --auto-approve", { WORKSPACE_ACTOR: "bo" });
  expect((await runs(folder, "pools.p")).map((one: { actor: string }) => one.actor)).toEqual(["bo", "ada"]);
  expect(await runs(folder, "pools.q")).toEqual([]);
  expect(await run(folder, "history pools")).toMatchObject({
    code: 1,
    err: expect.stringContaining("CLI_USAGE"),
  });
});

test("an apply without changes adds no entry, and a plan that was saved before it still applies", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  expect((await run(folder, "plan --destroy --out p.plan")).code).toBe(0);
  expect((await run(folder, "apply --auto-approve")).code).toBe(0);
  expect(await runs(folder)).toHaveLength(1);
  expect((await run(folder, "apply p.plan")).code).toBe(0);
});

test("a saved plan has the digest of the same plan that is made and applied at once", async () => {
  const [one, other] = [folderWith(POOL), folderWith(POOL)];
  await run(one, "plan --out p.plan");
  await run(one, "apply p.plan");
  const [first] = await runs(one);
  await run(one, "destroy --auto-approve");
  await run(other, "apply --auto-approve");
  const [second] = await runs(other);
  expect(first.plan).toBe(second.plan);
});

test("an apply that fails is listed as failed with what it left", async () => {
  const folder = folderWith(POOL);
  const faults = await fetch(`${server.url}/__emulator/faults`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({
      rules: [{ path: "/api/2.0/instance-pools/create", fate: "status", status: 400 }],
    }),
  });
  expect(faults.ok).toBe(true);
  expect((await run(folder, "apply --auto-approve")).code).toBe(1);
  expect(await runs(folder)).toMatchObject([{ outcome: "failed", applied: {}, left: 1, changed: [] }]);
});

test("a replacement that failed after its new object was made is in the history, and the old object is deleted as a replaced one", async () => {
  const spec = (type: string, most: number) =>
    `policy: { max_deletes: 100%, on_immutable_change: replace }
pools: { p: { node_type_id: ${type}, max_capacity: ${most} } }
clusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.p.instance_pool_id}" } }
`;
  const folder = folderWith(spec("Standard_DS3_v2", 5));
  expect((await run(folder, "apply --auto-approve")).code).toBe(0);
  writeFileSync(join(folder, "workspace.yaml"), spec("Standard_DS4_v2", 9));
  const rules = [{ path: "/api/2.0/clusters/edit", fate: "status", status: 400 }];
  await fetch(`${server.url}/__emulator/faults`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ rules }),
  });
  expect((await run(folder, "apply --auto-approve")).code).toBe(1);
  await fetch(`${server.url}/__emulator/faults`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const [failed] = await runs(folder, "pools.p --diff");
  expect(failed).toMatchObject({ outcome: "failed", changed: ["pools.p"], details: [{ action: "replace" }] });
  expect(failed.details[0].fields).toContainEqual({ path: ["max_capacity"], before: 5, after: 9 });
  expect((await run(folder, "apply --auto-approve")).code).toBe(0);
  const [ended] = await runs(folder, "pools.p --diff");
  expect(ended.details.at(-1)).toMatchObject({ action: "delete", address: "pools.p", deposed: true });
  const { out } = await run(folder, "history pools.p --diff");
  expect(out).toContain("a replaced object of this address");
  expect(out).toMatch(/max_capacity +5 → 9/);
});

test("the history survives pull and push into another state", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  const before = await runs(folder);
  await run(folder, "state pull --out s.json");
  rmSync(join(folder, ".workspace", "default", "state.json"), { force: true });
  expect((await run(folder, "state push s.json --state other --force")).code).toBe(0);
  expect(JSON.parse((await run(folder, "history -o json --state other")).out).runs).toEqual(before);
});

test("`state restore` lists when and by whom each older state was applied", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  await run(folder, "destroy --auto-approve", { WORKSPACE_ACTOR: "bo" });
  const { out } = await run(folder, "state restore");
  expect(out).toMatch(/^ +1 {2}1 resource: pools 1; last apply \d{4}-\S+Z by ada\b/);
  expect(JSON.parse((await run(folder, "state restore -o json")).out).versions).toMatchObject([
    { serial: 1, by: expect.stringMatching(/^ada\b/), last_apply: expect.stringMatching(/Z$/) },
  ]);
});

test("a recorded change has a path and both sides, as a difference of a plan has", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  await run(folder, "destroy --auto-approve");
  const [destroyed, created] = await runs(folder, "--diff");
  const [field] = created.details[0].fields;
  expect(field).toMatchObject({ path: [expect.any(String)], before: null });
  expect(destroyed.details[0].fields).toContainEqual({ path: field.path, before: field.after, after: null });
});

test("a run that waits for the lock names the CI run that holds it", async () => {
  const folder = folderWith(POOL);
  const holder = contextWith(environment(CI), folder);
  const store = openState(resolveInvocation({ ...holder, observer: workflowObserver(holder) }, {}));
  const lease = await store.lock({ timeoutMs: 0 });
  const { code, err } = await run(folder, "apply --auto-approve", {});
  await lease.release();
  await store.close();
  expect([code, err]).toEqual([5, expect.stringContaining(`${RUN}) since`)]);
});

test.each([
  ["javascript:alert(1)", undefined],
  ["https://user:canary@ci.test/1", undefined],
  ["https://ci.test/run/1", "https://ci.test/run/1"],
])("the page of a run %s is recorded as %s", async (said, kept) => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve", { WORKSPACE_RUN_URL: said });
  expect((await runs(folder))[0].run_url).toBe(kept);
});

test("plan, apply, and drift name the actor and the user of the service as the history does", async () => {
  const folder = folderWith(POOL);
  const json = async (line: string) => JSON.parse((await run(folder, line)).out);
  expect(await json("plan -o json")).toMatchObject({ actor: "ada" });
  const events = (await run(folder, "apply --auto-approve -o json")).out.trim().split("\n");
  const summary = JSON.parse(events.at(-1) ?? "");
  const [past] = await runs(folder);
  const { actor, caller } = past;
  expect(caller).toMatch(/@/);
  expect(summary.run).toMatchObject({ actor, caller });
  expect(await json("drift -o json")).toMatchObject({ actor, caller });
  expect((await run(folder, "plan --out saved -o json=plan.json")).code).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, "plan.json"), "utf8"))).toMatchObject({ actor, caller });
  const shown = await run(folder, "show saved -o json", { GITHUB_ACTOR: "bo" });
  expect(JSON.parse(shown.out)).toMatchObject({ actor, caller });
});

test("the history names the user that the service reports, not the one that WORKSPACE_USER names", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  const [{ caller }] = await runs(folder);
  await run(folder, "destroy --auto-approve", { ...CI, WORKSPACE_USER: "robot@example.com" });
  expect((await runs(folder)).map((one: { caller: string }) => one.caller)).toEqual([caller, caller]);
});

test("control characters in the name of an actor are not printed", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve", { WORKSPACE_ACTOR: "ada\u001b[31m\nforged" });
  const { out } = await run(folder, "history");
  expect(out).not.toContain("\u001b");
  expect(out.split("\n")).toHaveLength(3);
});

test("runs are limited to a run, a person, or a commit, and show their fields with --diff", async () => {
  const folder = folderWith(POOL);
  await run(folder, "apply --auto-approve");
  await run(folder, "destroy --auto-approve", { WORKSPACE_ACTOR: "bo" });
  expect(await runs(folder, "last")).toMatchObject([{ command: "destroy" }]);
  expect(await runs(folder, "2 --diff")).toMatchObject([
    { command: "apply", details: [{ address: "pools.p", action: "create" }] },
  ]);
  expect(await runs(folder, "--by bo")).toMatchObject([{ actor: "bo" }]);
  expect(await runs(folder, "--commit 12345678")).toMatchObject([{ actor: "ada" }]);
  expect(await runs(folder, "--commit ffff")).toEqual([]);
  expect((await run(folder, "history 2 --diff")).out).toContain("+ create   pools.p");
});
