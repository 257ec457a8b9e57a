// `state rm`: the service keeps what leaves the state, and nothing is said about it.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

test("a scope takes its secrets and ACLs along, so that neither drift nor a plan says that they were deleted", async () => {
  const folder = folderWith(
    "scopes: { s: { secrets: { k: { env: K } }, acls: { users: READ } }, other: {} }\n",
  );
  const env = {
    WORKSPACE_HOST: "embedded",
    WORKSPACE_STATE: mkdtempSync(join(tmpdir(), "state-rm-")),
    K: "value-of-k",
  };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    return { code: await runProgram(context, line.split(" ")), out: context.out() };
  };
  expect((await run("apply --auto-approve")).code).toBe(0);
  expect((await run("state rm scopes.s")).out).toBe("Removed 3 resources from the state.\n");
  writeFileSync(join(folder, "workspace.yaml"), "scopes: { other: {} }\n");
  expect((await run("state list")).out).not.toMatch(/secrets|acls/);
  expect((await run("drift")).code).toBe(0);
  expect((await run("plan --detailed-exitcode")).code).toBe(0);
});
