// `workspace show`: a saved plan gives the reports that the plan gave, without a request.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { keyedDigest } from "../../../src/core/digest.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { planFilePieces, type SavedPlan } from "../../../src/planner/plan-file.ts";
import { keptKey } from "../../../src/state/format/encryption.ts";
import { contextWith } from "../context.ts";

const savedPlanText = (...plan: Parameters<typeof planFilePieces>): string =>
  [...planFilePieces(...plan)].join("");

const TOKEN = "show-token";
const NOWHERE = "http://127.0.0.1:1";
const FORMATS = ["text", "json", "markdown", "html", "junit"];

let server: RunningServer;
beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterAll(() => server.close());

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "show-"));
  writeFileSync(join(made, "workspace.yaml"), "pools: { a: { node_type_id: Standard_DS3_v2 } }\n");
  return made;
}

async function ran(cwd: string, host: string, env: Record<string, string>, words: readonly string[]) {
  const context = contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, ...env }, cwd);
  const code = await runProgram(context, words);
  return { code, out: context.out(), err: context.err() };
}

const files = (name: string) => FORMATS.flatMap((one) => ["-o", `${one}=${name}.${one}`]);
const read = (cwd: string, name: string) =>
  FORMATS.map((one) => readFileSync(join(cwd, `${name}.${one}`), "utf8"));

describe("a saved plan", () => {
  test.for<{ how: string; env: Record<string, string> }>([
    { how: "signed", env: {} },
    { how: "encrypted", env: { WORKSPACE_STATE_KEY: "a long enough passphrase" } },
  ])("that is $how is shown in each format as the plan was, without a request", async ({ env }) => {
    const cwd = folder();
    const facts = {
      ...env,
      WORKSPACE_COMMIT: "0123456789abcdef",
      WORKSPACE_RUN_URL: "https://ci.example.com/1",
    };
    const planned = await ran(cwd, server.url, facts, ["plan", "--out", "p.plan", ...files("planned")]);
    expect(planned.code).toBe(0);
    const shown = await ran(cwd, NOWHERE, env, ["show", "p.plan", ...files("shown")]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    expect(read(cwd, "shown")).toEqual(read(cwd, "planned"));
    expect(JSON.parse(readFileSync(join(cwd, "shown.json"), "utf8"))).toMatchObject({
      commit: "0123456789abcdef",
      resource_changes: [{ at: { file: "workspace.yaml", line: 1, column: 10 } }],
    });
  });

  test("of a version that kept no places is shown without them", async () => {
    const cwd = folder();
    await ran(cwd, server.url, {}, ["plan", "--out", "p.plan"]);
    const key = keptKey(readFileSync(join(cwd, ".workspace/default/key"), "utf8"), "key");
    const { plan, report, seal, ...binding } = JSON.parse(
      readFileSync(join(cwd, "p.plan"), "utf8"),
    ) as SavedPlan & { seal: string };
    expect([report?.places, seal]).toEqual([expect.anything(), expect.any(String)]);
    writeFileSync(
      join(cwd, "old.plan"),
      savedPlanText(binding, plan, (text) => keyedDigest(key, text)),
    );
    const { code, out } = await ran(cwd, NOWHERE, {}, ["show", "old.plan", "-o", "json"]);
    expect(code).toBe(0);
    const [change] = JSON.parse(out).resource_changes;
    expect(change).toMatchObject({ address: "pools.a", action: "create" });
    expect(change).not.toHaveProperty("at");
  });
});

describe("reports in files", () => {
  test("are written when the run fails, and name why", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "comment.md"), "of an earlier run");
    const { code } = await ran(cwd, NOWHERE, {}, ["plan", "-f", "none.yaml", "-o", "markdown=comment.md"]);
    expect(code).toBe(1);
    expect(readFileSync(join(cwd, "comment.md"), "utf8")).toMatch(
      /^<!-- workspace:default -->\n\n## workspace plan: 1 error/,
    );
  });

  test("that cannot be written end the run with exit 1", async () => {
    const { code, out, err } = await ran(folder(), server.url, {}, ["plan", "-o", "json=none/plan.json"]);
    expect(code).toBe(1);
    expect(out).toContain("Plan: 1 to create");
    expect(err).toContain("the report cannot be written to none/plan.json");
  });
});
