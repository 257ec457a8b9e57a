// Two targets that are given one location for their states: one does not undo the other.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "other-target-token";
const SPEC = `targets: { dev: { default: true }, prod: {} }
groups: { "team-\${target.name}": {} }
pools: { shared: { instance_pool_name: "warm-\${target.name}", node_type_id: Standard_DS3_v2 } }
`;

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

async function run(cwd: string, line: string) {
  const env = { WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, WORKSPACE_STATE: "one" };
  const context = contextWith(env, cwd);
  const code = await runProgram(context, line.split(" "));
  return { code, all: `${context.out()}${context.err()}` };
}

describe("one state location for two targets", () => {
  test.each([
    "apply --auto-approve --target prod",
    "plan --target prod --out prod.plan",
    "plan --target prod --offline",
    "destroy --auto-approve --target prod",
  ])("`%s` is blocked, and the objects of the first target stay", async (line) => {
    const folder = folderWith(SPEC);
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    expect(await run(folder, line)).toEqual({
      code: 3,
      all: expect.stringContaining("GUARD_OTHER_TARGET: the state was last applied with the target dev"),
    });
    expect((await run(folder, "plan --detailed-exitcode")).code).toBe(0);
  });

  test("--allow-other-target continues with the state of a target that was renamed", async () => {
    const folder = folderWith(SPEC);
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    expect((await run(folder, "apply --auto-approve --target prod --allow-other-target")).code).toBe(0);
    expect((await run(folder, "destroy --auto-approve --target prod")).code).toBe(0);
    expect(readFileSync(join(folder, "one/state.json"), "utf8")).toContain('"target":"prod"');
  });
});
