import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

async function run(folder: string, line: string, env: Readonly<Record<string, string>> = {}) {
  const context = contextWith({ WORKSPACE_HOST: "embedded", ...env }, folder);
  const code = await runProgram(context, line.split(" "));
  return { code, all: context.out() + context.err() };
}

test("WORKSPACE_USER does not switch off the guard of the user that the service reports", async () => {
  const folder = folderWith(
    "users: { boss@example.com: {} }\ngroups: { admins: { members: { users: [boss@example.com] } } }\n",
  );
  const named: Readonly<Record<string, string>> = { WORKSPACE_USER: "boss@example.com" };
  for (const env of [{}, named]) {
    const { code, all } = await run(folder, "apply --adopt --auto-approve", env);
    expect({ code, all }).toEqual({ code: 3, all: expect.stringContaining("GUARD_LOCKOUT") });
  }
});

test("drift is acknowledged by the user that the service reports, not the one that WORKSPACE_USER names", async () => {
  const folder = folderWith("groups: { team: {} }\n");
  expect(await run(folder, "apply --auto-approve")).toMatchObject({ code: 0 });
  const { all } = await run(folder, "state show groups.team");
  const id = /"id": "(\d+)"/.exec(all)?.[1] ?? "";
  await run(folder, `api scim/groups/delete id=${id}`);
  const acknowledge = "drift acknowledge groups.team --until 2999-12-31 --reason test";
  expect(await run(folder, acknowledge, { WORKSPACE_USER: "boss@example.com" })).toMatchObject({ code: 0 });
  expect((await run(folder, "drift acknowledge --list")).all).toContain("by admin@example.com");
});
