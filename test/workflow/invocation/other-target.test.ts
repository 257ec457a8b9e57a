// Two targets that are given one location for their states: a run says so before one undoes the other.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import type { Spec } from "../../../src/spec/model/spec.ts";
import type { State } from "../../../src/state/model/record.ts";
import { otherTarget } from "../../../src/workflow/session/check-state.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "other-target-token";
const TARGETS = "targets: { dev: { default: true }, prod: {} }\n";
/** Each target deletes the group of the other. */
const DELETING = `${TARGETS}groups: { "team-\${target.name}": {}, all: {} }\n`;
const SPEC = `${TARGETS}pools: { shared: { instance_pool_name: "warm-\${target.name}", node_type_id: Standard_DS3_v2 } }
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
    "plan --target prod",
    "plan --target prod --out prod.plan",
    "plan --target prod --offline",
    "apply --auto-approve --target prod",
    "destroy --auto-approve --target prod",
  ])("`%s` warns of the target that was applied before", async (line) => {
    const folder = folderWith(SPEC);
    expect((await run(folder, "apply --auto-approve")).all).not.toContain("STATE_OTHER_TARGET");
    expect((await run(folder, "plan")).all).not.toContain("STATE_OTHER_TARGET");
    expect(await run(folder, line)).toEqual({
      code: 0,
      all: expect.stringContaining(
        "warning STATE_OTHER_TARGET: the state was last applied with the target dev, not with prod",
      ),
    });
  });

  test.each(["plan --target prod", "plan --target prod --offline", "apply --auto-approve --target prod"])(
    "`%s` that deletes what the target before applied is blocked",
    async (line) => {
      const folder = folderWith(DELETING);
      expect((await run(folder, "apply --auto-approve")).code).toBe(0);
      const { code, all } = await run(folder, line);
      expect(all).toContain(
        "error STATE_OTHER_TARGET: the plan deletes what the target dev applied: groups.team-dev",
      );
      expect(code).toBe(1);
      // The way of the hint, for a target that was renamed.
      expect((await run(folder, "apply --auto-approve --target prod --exclude groups.team-dev")).code).toBe(
        0,
      );
      expect((await run(folder, "apply --auto-approve --target prod")).all).toContain("1 deleted");
    },
  );

  test("a run without a target hides no earlier one", () => {
    const past = { command: "apply", at: 1, counts: {} };
    const history = [{ ...past, target: "dev" }, past] as unknown as NonNullable<State["history"]>;
    const warned = (name: string) =>
      otherTarget({ target: { name } as NonNullable<Spec["target"]> }, { history } as State);
    expect(warned("prod").map(({ code }) => code)).toEqual(["STATE_OTHER_TARGET"]);
    expect(warned("dev")).toEqual([]);
  });

  test("a saved plan of another target warns when it is applied", async () => {
    const folder = folderWith(SPEC);
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    expect((await run(folder, "plan --target prod --out prod.plan")).code).toBe(0);
    const applied = await run(folder, "apply prod.plan --target prod");
    expect(applied).toEqual({ code: 0, all: expect.stringContaining("STATE_OTHER_TARGET") });
    expect((await run(folder, "plan --target prod")).all).not.toContain("STATE_OTHER_TARGET");
    expect(readFileSync(join(folder, "one/state.json"), "utf8")).toContain('"target":"prod"');
  });
});
