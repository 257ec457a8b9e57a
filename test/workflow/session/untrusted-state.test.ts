// `plan --untrusted` with a state that the spec's own tree contains: refused unless the caller's key opens it.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "untrusted-state-token";
const SPEC = "pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }\n";
const KEY = "a long passphrase for the state";
/** Only a plan that believes the state prints the live value. */
const LIVE = /max_capacity +5 → 9/;

let server: RunningServer;
let trusted: string;
beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  trusted = folderWith(SPEC);
  expect(await run(trusted, "apply --auto-approve")).toMatchObject({ code: 0 });
});
afterAll(() => server.close());

async function run(cwd: string, line: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, ...env }, cwd);
  const code = await runProgram(context, line.split(" "));
  return { code, all: `${context.out()}${context.err()}` };
}

/** A pull request that changes the spec and commits a state as `path`. */
function checkoutWith(path: string, spec = "workspace.yaml"): string {
  const folder = folderWith("");
  mkdirSync(dirname(join(folder, spec)), { recursive: true });
  writeFileSync(join(folder, spec), SPEC.replace("5", "9"));
  cpSync(join(trusted, ".workspace/default"), join(folder, path), { recursive: true });
  return folder;
}

async function expectRefused(folder: string, line: string): Promise<void> {
  const { code, all } = await run(folder, `plan --untrusted ${line}`.trim());
  expect([code, all]).toEqual([1, expect.stringContaining("STATE_UNTRUSTED")]);
  expect(all).not.toMatch(LIVE);
}

describe("an unsigned state is refused for an untrusted spec when it is", () => {
  test.each(["", "--state .workspace/default", "--state ./x/../.workspace/default", "--offline"])(
    "inside the spec's tree: %s",
    (line) => expectRefused(checkoutWith(".workspace/default"), line),
  );

  test("inside the spec's tree by an absolute path, or by WORKSPACE_STATE", async () => {
    const folder = checkoutWith("states/one");
    await expectRefused(folder, `--state ${join(folder, "states/one")}`);
    const { code, all } = await run(folder, "plan --untrusted", { WORKSPACE_STATE: "states/one" });
    expect([code, all]).toEqual([1, expect.stringContaining("STATE_UNTRUSTED")]);
  });

  test("inside the tree behind a link from outside", async () => {
    const folder = checkoutWith("states/one");
    const link = join(mkdtempSync(join(tmpdir(), "link-")), "state");
    symlinkSync(join(folder, "states/one"), link);
    await expectRefused(folder, `--state ${link}`);
  });

  test("outside the tree behind a link inside it", async () => {
    const folder = checkoutWith("unused");
    symlinkSync(join(trusted, ".workspace"), join(folder, ".workspace"));
    await expectRefused(folder, "");
    symlinkSync(".workspace", join(folder, "again"));
    await expectRefused(folder, "--state again/default");
  });

  test("next to the spec's folder in the same checkout", async () => {
    const folder = checkoutWith("state", "deep/down/workspace.yaml");
    mkdirSync(join(folder, ".git"));
    await expectRefused(folder, "-f deep/down/workspace.yaml --state state");
  });

  test("in the checkout around the submodule that has the spec", async () => {
    const folder = checkoutWith("state", "deep/down/workspace.yaml");
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, "deep/down/.git"), "gitdir: ../../.git/modules/down\n");
    await expectRefused(folder, "-f deep/down/workspace.yaml --state state");
  });
});

describe("a state is used for an untrusted spec when it is", () => {
  test("outside the spec's tree", async () => {
    const folder = checkoutWith("unused");
    const { code, all } = await run(
      folder,
      `plan --untrusted --state ${join(trusted, ".workspace/default")}`,
    );
    expect([code, all]).toEqual([0, expect.stringMatching(LIVE)]);
  });

  test("inside the tree and opens under the caller's key", async () => {
    const folder = folderWith("pools: { b: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }\n");
    const env = { WORKSPACE_STATE_KEY: KEY };
    expect((await run(folder, "apply --auto-approve", env)).code).toBe(0);
    writeFileSync(join(folder, "workspace.yaml"), SPEC.replace("a:", "b:").replace("5", "9"));
    const opened = await run(folder, "plan --untrusted", env);
    expect([opened.code, opened.all]).toEqual([0, expect.stringMatching(LIVE)]);
    const forged = checkoutWith(".workspace/default");
    expect(await run(forged, "plan --untrusted", env)).toMatchObject({
      code: 1,
      all: expect.stringContaining("STATE_KEY"),
    });
  });

  test("not there at all, with a warning about its location", async () => {
    const folder = checkoutWith("unused");
    const { code, all } = await run(folder, "plan --untrusted --only pools.none*", {});
    expect([code, all]).toEqual([1, expect.stringContaining("CLI_UNKNOWN_ADDRESS")]);
    rmSync(join(folder, "unused"), { recursive: true });
    writeFileSync(join(folder, "workspace.yaml"), "groups: { fresh: {} }\n");
    const fresh = await run(folder, "plan --untrusted");
    expect([fresh.code, fresh.all]).toEqual([0, expect.stringContaining("so it is untrusted too")]);
  });
});
