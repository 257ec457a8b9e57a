// `plan --untrusted` and `plan --offline`: what an untrusted spec cannot make the program print, read, or send.

import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "untrusted-token";
/** In every live unmanaged object. */
const FOREIGN = "foreign-canary";
/** In the environment, in hidden files and in the values of secrets. */
const SECRET = "secret-canary";

const USER = ["urn:ietf:params:scim:schemas:core:2.0:User"];
const GROUP = ["urn:ietf:params:scim:schemas:core:2.0:Group"];

const OURS = `
pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }
scopes: { ours: { acls: { admins: READ }, secrets: { k: { env: KEY } } } }
directories: { /Shared/ours: {} }
notebooks: { /Shared/ours/n: { source: n.py } }
`;
const THEIRS = `
variables: { name: { default: plain } }
policy: { authoritative: [users, groups, pools, jobs] }
users: { eve@example.com: { displayName: Eve } }
groups:
  ${FOREIGN}-group: { members: { users: [eve@example.com] } }
  admins: { members: { users: [] } }
pools:
  a: { node_type_id: Standard_DS3_v2, max_capacity: 9, custom_tags: { name: "\${var.name}" } }
  theirs: { instance_pool_name: taken, node_type_id: Standard_DS3_v2 }
clusters:
  c: { spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: "\${pools.theirs.node_type_id}", custom_tags: { t: "\${pools.theirs.max_capacity}" } }
jobs: { j: { name: taken, new_cluster: { spark_version: x, num_workers: 1, node_type_id: y }, notebook_task: { notebook_path: /x } } }
scopes:
  ours: { acls: {}, secrets: { k: { env: KEY }, new: { file: .hidden/key } } }
  foreign: { acls: {}, secrets: { k: { env: KEY } } }
directories: { /Shared/ours: {}, /Shared/foreign: {} }
notebooks: { /Shared/ours/n: { source: n.py }, /Shared/foreign/n: { source: n.py } }
`;

let server: RunningServer;
let cwd: string;
/** Outside the untrusted tree. */
const STATE = mkdtempSync(join(tmpdir(), "state-"));

beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  cwd = folderWith(OURS);
  write("n.py", `print("${SECRET}-lines")\n`);
  expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
  await api("preview/scim/v2/Users", {
    schemas: USER,
    userName: "eve@example.com",
    displayName: FOREIGN,
  });
  await api("preview/scim/v2/Users", {
    schemas: USER,
    userName: `${FOREIGN}@example.com`,
  });
  await api("preview/scim/v2/Groups", {
    schemas: GROUP,
    displayName: `${FOREIGN}-other`,
  });
  await api("instance-pools/create", {
    instance_pool_name: "taken",
    node_type_id: "Standard_DS3_v2",
    max_capacity: 77,
  });
  await api("instance-pools/create", { instance_pool_name: FOREIGN, node_type_id: "Standard_DS4_v2" });
  const new_cluster = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };
  await api("jobs/create", { name: "taken", new_cluster, notebook_task: { notebook_path: `/${FOREIGN}` } });
  await api("secrets/scopes/create", { scope: "foreign" });
  await api("secrets/acls/put", {
    scope: "foreign",
    principal: `${FOREIGN}@example.com`,
    permission: "WRITE",
  });
  await api("secrets/acls/put", { scope: "ours", principal: `${FOREIGN}@example.com`, permission: "WRITE" });
  await api("secrets/put", { scope: "foreign", key: FOREIGN, string_value: "x" });
  await api("workspace/mkdirs", { path: "/Shared/foreign" });
  await api("workspace/import", { path: "/Shared/foreign/n", language: "PYTHON", content: btoa(FOREIGN) });
  write("workspace.yaml", THEIRS);
  write("n.py", `print("${SECRET}-lines-2")\n`);
});
afterAll(() => server.close());

function write(name: string, text: string, folder = cwd): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

async function api(path: string, body: object): Promise<void> {
  const answer = await fetch(`${server.url}/api/2.0/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
}

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}, folder = cwd) {
  const context = contextWith(
    {
      WORKSPACE_HOST: server.url,
      WORKSPACE_TOKEN: TOKEN,
      KEY: SECRET,
      WORKSPACE_VAR_name: SECRET,
      ...(folder === cwd ? { WORKSPACE_STATE: STATE } : {}),
      ...env,
    },
    folder,
  );
  const code = await runProgram(context, words);
  return { code, out: context.out(), all: `${context.out()}${context.err()}` };
}

async function requests(): Promise<readonly { path: string; write: boolean; query: string }[]> {
  const answer = await fetch(`${server.url}/__emulator/requests`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  return ((await answer.json()) as { requests: { path: string; write: boolean; query: string }[] }).requests;
}

/** The names of the untrusted spec are in the output; no other value of unmanaged objects may be. */
const withoutOwnWords = (text: string): string => text.replaceAll(`${FOREIGN}-group`, "");

describe("plan --untrusted", () => {
  test.each(["text", "json", "markdown"])(
    "shows no unmanaged value, secret, or environment variable as %s",
    async (form) => {
      const { code, all, out } = await run(["plan", "--untrusted", "--output", form]);
      expect(code).toBe(1);
      expect(withoutOwnWords(all)).not.toContain(FOREIGN);
      expect(all).not.toContain(SECRET);
      expect(all).not.toMatch(/\b77\b|Standard_DS4_v2|CLI_INTERNAL/);
      expect(out).toContain("PLAN_ALREADY_EXISTS");
      expect(out).toContain("PLAN_MODE");
    },
  );

  test("without --untrusted the same spec would tell all of it", async () => {
    mkdirSync(join(cwd, ".hidden"), { recursive: true });
    write(".hidden/key", "a value that nothing shows");
    // A plan hides the values of the secrets that it declares.
    const { all } = await run(["plan", "--adopt", "--output", "json"], { KEY: "another such value" });
    expect(withoutOwnWords(all)).toContain(FOREIGN);
    expect(all).toContain(SECRET);
    expect(all).toMatch(/\b77\b/);
  });

  test("shows what the state manages, with digests in the place of lines", async () => {
    write("mine/workspace.yaml", OURS.replace("5", "9"));
    write("mine/n.py", `print("${SECRET}-lines-3")\n`);
    const { code, out } = await run([
      "plan",
      "--untrusted",
      "--detailed-exitcode",
      "-f",
      "mine/workspace.yaml",
    ]);
    expect(out).toMatch(/max_capacity +5 → 9/);
    expect(out).toMatch(/~ update +notebooks/);
    expect(out).not.toContain(SECRET);
    expect(code).toBe(2);
  });

  test("contents of what is not managed are not even read", async () => {
    const before = (await requests()).length;
    await run(["plan", "--untrusted"]);
    const sent = (await requests()).slice(before);
    expect(
      sent.some(
        (one) => one.path.includes("workspace/export") && JSON.stringify(one.query).includes("foreign"),
      ),
    ).toBe(false);
    expect(sent.some((one) => one.path.includes("workspace/export"))).toBe(true);
    expect(sent.filter((one) => one.write)).toEqual([]);
  });

  test("a spec that asks for more reads than its budget is refused, and no more are sent", async () => {
    const folder = folderWith(
      `notebooks:\n${Array.from({ length: 800 }, (_, at) => `  /d${at}/n: { source: n.py }\n`).join("")}`,
    );
    write("n.py", "1\n", folder);
    const before = (await requests()).length;
    const { code, all } = await run(["plan", "--untrusted"], {}, folder);
    expect([code, all]).toEqual([1, expect.stringContaining("PLAN_BUDGET")]);
    expect((await requests()).length - before).toBeLessThanOrEqual(500);
    expect(await run(["plan", "--untrusted", "--max-reads", "2000"], {}, folder)).toMatchObject({ code: 0 });
  });

  test.each([
    ["include: [.git/config]\n", "SPEC_PRIVATE"],
    ["include: [l.yaml]\n", "SPEC_PRIVATE"],
    ["files: { /x: { source: .git/config } }\n", "SPEC_PRIVATE"],
    ["files: { /x: { source: l.yaml } }\n", "SPEC_PRIVATE"],
    ["files: { /x: { source: .workspace/default/key } }\n", "SPEC_PRIVATE"],
    ["files: { /x: { source: .env } }\n", "SPEC_OUTSIDE"],
    [`# ${"x".repeat(2 << 20)}\n`, "SPEC_TOO_LARGE"],
    ["pools: { p: { node_typ: x } }\n", "SPEC_UNKNOWN_FIELD"],
    ["include: [creds.yaml]\n", "SPEC_"],
  ])("hidden files and lines of files stay hidden: %.60s", async (spec, code) => {
    const folder = folderWith(spec);
    write(".git/config", `[http]\n\textraheader = ${SECRET}\n`, folder);
    write("creds.yaml", `private_key: ${SECRET}\n`, folder);
    symlinkSync(".git/config", join(folder, "l.yaml"));
    const found = await run(["plan", "--untrusted"], {}, folder);
    expect([found.code, found.all]).toEqual([1, expect.stringContaining(code)]);
    expect(found.all).not.toContain(SECRET);
    expect(found.all).not.toContain("> 1 |");
  });

  test.each([["--out", "x.plan"], ["--adopt"]])("with %s is refused", async (...words) => {
    const { code, all } = await run(["plan", "--untrusted", ...words]);
    expect([code, all]).toEqual([1, expect.stringContaining("CLI_USAGE")]);
    expect(existsSync(join(cwd, "x.plan"))).toBe(false);
  });
});

describe("plan --offline", () => {
  const calm = (words: readonly string[]) =>
    run(["plan", "--offline", "-f", "calm/workspace.yaml", ...words], {
      WORKSPACE_HOST: "",
    });

  test("sends no request and needs no host; what was applied plans to nothing, what moved in the spec shows", async () => {
    write("calm/workspace.yaml", OURS);
    write("calm/n.py", `print("${SECRET}-lines")\n`);
    const before = (await requests()).length;
    const same = await calm(["--detailed-exitcode"]);
    expect(same.out).toContain("No changes");
    expect(same).toMatchObject({ code: 0 });
    write(
      "calm/workspace.yaml",
      OURS.replace("5", "6").replace("pools:", "policy: { max_deletes: 0 }\npools:"),
    );
    const moved = await calm(["--detailed-exitcode", "--output", "json"]);
    const plan = JSON.parse(moved.out);
    expect(plan.modes).toEqual(["offline"]);
    expect(plan.drift).toEqual([]);
    expect(plan.summary).toMatchObject({ update: 1, create: 0, delete: 0 });
    expect(plan.diagnostics[0].message).toContain("planned offline");
    expect(moved.code).toBe(2);
    expect((await requests()).length).toBe(before);
  });

  test("guards refuse offline as well", async () => {
    write("calm/workspace.yaml", "policy: { max_deletes: 0 }\n");
    const { code, out } = await calm([]);
    expect([code, out]).toEqual([3, expect.stringContaining("GUARD_MAX_DELETES")]);
  });

  test("another host than the state's is refused without asking it", async () => {
    const { code, all } = await run(["plan", "--offline", "--host", "https://other.example"]);
    expect([code, all]).toEqual([1, expect.stringContaining("STATE_OTHER_HOST")]);
  });
});
