// Doubtful locations of a state: a folder on a CI runner, and a workspace folder that everyone reads.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "state-warnings-token";
const GROUPS = "groups: { g: {} }\n";
const SECRETS = "scopes: { s: { secrets: { pin: { env: PIN } } } }\n";
const SHARED = "workspace:/Shared/.states/one";
const FORMS = ["text", "json", "markdown", "html", "junit"] as const;
const APPLY_FORMS = ["text", "json", "markdown", "junit"] as const;

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

type Env = Readonly<Record<string, string>>;
async function run(cwd: string, line: string, env: Env = {}) {
  const base = { WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, PIN: "1234" };
  const context = contextWith({ ...base, ...env }, cwd);
  const code = await runProgram(context, line.split(" "));
  const [out, err] = [context.out(), context.err()];
  return { code, out, err, all: `${out}${err}` };
}

function expectWarning(text: string): void {
  expect(text).toContain("STATE_EPHEMERAL");
  expect(text).toMatch(/--state workspace(:|&#58;)\/FOLDER/);
  expect(text).toContain("PostgreSQL");
}

describe("a folder state that did not exist before, on a CI runner", () => {
  const CI = { CI: "true" };

  test.each(FORMS)("makes plan warn as %s", async (form) => {
    const { code, out, err } = await run(folderWith(GROUPS), `plan -o ${form}`, CI);
    expect(code).toBe(0);
    for (const text of form === "text" ? [err] : [out, err]) expectWarning(text);
  });

  test.each(APPLY_FORMS)("makes apply warn as %s, once", async (form) => {
    const folder = folderWith(GROUPS);
    const first = await run(folder, `apply --auto-approve -o ${form}`, CI);
    expect(first.code).toBe(0);
    for (const text of form === "text" ? [first.err] : [first.out, first.err]) expectWarning(text);
    expect((await run(folder, `apply --auto-approve -o ${form}`, CI)).all).not.toContain("STATE_EPHEMERAL");
  });

  test.each(APPLY_FORMS)("makes apply of a saved plan warn as %s", async (form) => {
    const folder = folderWith(GROUPS);
    expect((await run(folder, "plan --out saved.plan")).code).toBe(0);
    const { code, out, err } = await run(folder, `apply saved.plan -o ${form}`, CI);
    expect(code).toBe(0);
    for (const text of form === "text" ? [err] : [out, err]) expectWarning(text);
  });

  test("makes plan warn on Azure Pipelines, which sets no CI", async () => {
    expectWarning((await run(folderWith(GROUPS), "plan", { TF_BUILD: "True" })).err);
  });

  test.each([
    ["outside CI", {}, "plan"],
    ["when CI is false", { CI: "False" }, "plan"],
    ["when CI is no", { CI: "no" }, "plan"],
    ["for the embedded workspace", { ...CI, WORKSPACE_HOST: "embedded" }, "plan"],
    ["for a state in the workspace", CI, `plan --state ${SHARED}`],
  ])("is not reported %s", async (_, env, line) => {
    const { code, all } = await run(folderWith(GROUPS), line, env);
    expect([code, all]).toEqual([0, expect.not.stringContaining("STATE_EPHEMERAL")]);
  });
});

describe("a state location that is a URL in quotes or spaces, or the words of libpq", () => {
  test.each([
    '"postgres://u:hunter2@db.example/states"',
    " postgres://u:hunter2@db.example/states",
    "'workspace:/Shared/.states/one'",
    "u:hunter2@db://example/states",
    "host=127.0.0.1 password=hunter2",
    "dbname=states user=u password=hunter2",
    "port=5432 sslpassword=hunter2",
    "PASSWORD = hunter2",
  ])("is refused instead of used as a folder: %s", async (place) => {
    const folder = folderWith(GROUPS);
    for (const line of ["plan", "apply --auto-approve", "drift"]) {
      const { code, all } = await run(folder, line, { WORKSPACE_STATE: place });
      expect([line, code, all]).toEqual([line, 1, expect.stringContaining("not a supported state location")]);
      expect(all).not.toContain("hunter2");
    }
    expect(readdirSync(folder)).toEqual(["workspace.yaml"]);
  });

  test("is not a folder whose name has an equals sign", async () => {
    const folder = folderWith(GROUPS);
    const { code, all } = await run(folder, "apply --auto-approve", { WORKSPACE_STATE: "user=ada/states" });
    expect([code, all]).toEqual([0, expect.not.stringContaining("not a supported")]);
    expect(readdirSync(folder)).toContain("user=ada");
  });
});

describe("a state in the workspace without WORKSPACE_STATE_KEY", () => {
  test.each(["plan", "plan --out x.plan", "plan --offline", "apply --auto-approve"])(
    "is refused when the spec has secrets: %s",
    async (line) => {
      const { code, err } = await run(folderWith(SECRETS), `${line} --state ${SHARED}`);
      expect([code, err]).toEqual([1, expect.stringContaining("error STATE_UNENCRYPTED")]);
      expect(err).toMatch(/WORKSPACE_STATE_KEY.*--allow-unencrypted-state/);
    },
  );

  test.each(APPLY_FORMS)("is a warning as %s with --allow-unencrypted-state", async (form) => {
    const line = `apply --auto-approve --allow-unencrypted-state --state ${SHARED} -o ${form}`;
    const { code, out, err } = await run(folderWith(SECRETS), line);
    expect(code).toBe(0);
    expect(err).toContain("warning STATE_UNENCRYPTED");
    if (form === "json" || form === "junit") expect(out).toContain("STATE_UNENCRYPTED");
  });

  test("is a warning when the spec has no secrets, and for commands that make no digests", async () => {
    const folder = folderWith(GROUPS);
    const applied = await run(folder, `apply --auto-approve --state ${SHARED}`);
    expect([applied.code, applied.err]).toEqual([0, expect.stringContaining("warning STATE_UNENCRYPTED")]);
    writeFileSync(join(folder, "workspace.yaml"), `policy: { max_deletes: 100% }\n${SECRETS}`);
    const readers = ["drift", "plan --untrusted", "explain groups.g --plan", "access scopes.s --of plan"];
    for (const line of [...readers, "destroy --auto-approve"]) {
      const { code, err } = await run(folder, `${line} --state ${SHARED}`);
      expect([line, code, err]).toEqual([line, 0, expect.stringContaining("warning STATE_UNENCRYPTED")]);
    }
  });

  test("is not reported with the key, or in a folder", async () => {
    const key = { WORKSPACE_STATE_KEY: "0".repeat(64) };
    for (const [line, env] of [
      [`apply --auto-approve --state ${SHARED}`, key],
      ["apply --auto-approve --adopt", {}],
    ] as const) {
      const { all } = await run(folderWith(SECRETS), line, env);
      expect(all).not.toContain("STATE_UNENCRYPTED");
    }
  });

  test("is refused when a state with secrets comes from elsewhere", async () => {
    const folder = folderWith(SECRETS);
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    expect((await run(folder, "state pull --out s.json")).code).toBe(0);
    const target = `workspace:/Shared/.states/two`;
    for (const line of [`state migrate ${target}`, `state push s.json --state ${target}`]) {
      const { code, err } = await run(folder, line);
      expect([line, code, err]).toEqual([line, 1, expect.stringContaining("error STATE_UNENCRYPTED")]);
      expect((await run(folder, `state list --state ${target}`)).out).not.toContain("secrets.s/pin");
    }
    const { code, err } = await run(folder, `state migrate ${target} --allow-unencrypted-state`);
    expect([code, err]).toEqual([0, expect.stringContaining("warning STATE_UNENCRYPTED")]);
    expect((await run(folder, `state list --state ${target}`)).out).toContain("secrets.s/pin");
  });

  const VARIABLE = "variables: { tag: { type: string, sensitive: true } }\n";
  const POOLS = "pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { t: OPEN } } }\n";
  const SENSITIVE = `${VARIABLE}${POOLS.replace("OPEN", '"${var.tag}"')}`;

  test("is refused by each command that writes digests, with the message of apply, before anything is written", async () => {
    const folder = folderWith(POOLS);
    const here = { WORKSPACE_STATE: SHARED, WORKSPACE_VAR_tag: "1234" };
    expect((await run(folder, "apply --auto-approve", here)).code).toBe(0);
    const pool = JSON.parse((await run(folder, "state show pools.p", here)).out) as { readonly id: string };
    writeFileSync(join(folder, "workspace.yaml"), SENSITIVE);
    const before = (await run(folder, "state pull", here)).out;
    const refusal = (await run(folder, "apply --auto-approve", here)).err;
    expect(refusal).toContain("error STATE_UNENCRYPTED: the spec has sensitive values");
    for (const line of [
      `import pools.p ${pool.id}`,
      "drift acknowledge pools.p --until 5d --reason x",
      "drift --since last",
      "plan --out x.plan",
    ])
      expect([line, await run(folder, line, here)]).toMatchObject([line, { code: 1, err: refusal }]);
    expect((await run(folder, "state pull", here)).out).toBe(before);
    expect((await run(folder, "state rm pools.p", here)).code).toBe(0);
    const imported = await run(folder, `import pools.p ${pool.id} --allow-unencrypted-state`, here);
    expect([imported.code, imported.err]).toEqual([0, expect.stringContaining("warning STATE_UNENCRYPTED")]);
  });

  test("is refused by commands that write again what the state has", async () => {
    const folder = folderWith(SENSITIVE);
    const here = { WORKSPACE_STATE: SHARED, WORKSPACE_VAR_tag: "1234" };
    const allowed = "--allow-unencrypted-state";
    for (const spec of [SENSITIVE, `${SENSITIVE}${GROUPS}`]) {
      writeFileSync(join(folder, "workspace.yaml"), spec);
      const { code } = await run(folder, `apply --auto-approve ${allowed}`, here);
      expect(code).toBe(0);
    }
    const lines = ["state mv pools.p pools.q", "state restore 1"];
    const before = (await run(folder, "state pull", here)).out;
    for (const line of lines) {
      const { code, err } = await run(folder, line, here);
      expect([line, code, err]).toEqual([
        line,
        1,
        expect.stringContaining("error STATE_UNENCRYPTED: the state has sensitive values"),
      ]);
    }
    expect((await run(folder, "state pull", here)).out).toBe(before);
    for (const line of lines) {
      const { code, err } = await run(folder, `${line} ${allowed}`, here);
      expect([line, code, err]).toEqual([line, 0, expect.stringContaining("warning STATE_UNENCRYPTED")]);
    }
    // To remove a record makes the state smaller.
    expect((await run(folder, "state rm pools.p", here)).code).toBe(0);
  });

  test("of another host is refused in the workspace, where no host could use it", async () => {
    const folder = folderWith("groups: { data: {} }\n");
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    expect((await run(folder, "state pull --out s.json")).code).toBe(0);
    const json = readFileSync(join(folder, "s.json"), "utf8").replace(
      /"host": "[^"]*"/,
      '"host": "https://other.example.com"',
    );
    writeFileSync(join(folder, "other.json"), json);
    const push = await run(folder, `state push other.json --force --state ${SHARED}`);
    expect([push.code, push.err]).toEqual([1, expect.stringContaining("error STATE_OTHER_HOST")]);
    expect((await run(folder, "state push other.json --force")).code).toBe(0);
    const migrate = await run(folder, `state migrate ${SHARED} --force`);
    expect([migrate.code, migrate.err]).toEqual([1, expect.stringContaining("error STATE_OTHER_HOST")]);
    expect((await run(folder, "state list")).out).toContain("groups.data");
  });

  test("is refused when rekey would decrypt a state with secrets", async () => {
    const [folder, old] = [folderWith(SECRETS), "0".repeat(64)];
    const key = { WORKSPACE_STATE_KEY: old };
    expect((await run(folder, `apply --auto-approve --state ${SHARED}`, key)).code).toBe(0);
    const line = `state rekey --decrypt --state ${SHARED}`;
    const { code, err } = await run(folder, line, { WORKSPACE_STATE_KEY_OLD: old });
    expect([code, err]).toEqual([1, expect.stringContaining("error STATE_UNENCRYPTED")]);
    expect((await run(folder, `plan --state ${SHARED}`, key)).code).toBe(0);
    const allowed = await run(folder, `${line} --allow-unencrypted-state`, { WORKSPACE_STATE_KEY_OLD: old });
    expect([allowed.code, allowed.out]).toEqual([0, expect.stringContaining("no longer encrypted")]);
  });
});
