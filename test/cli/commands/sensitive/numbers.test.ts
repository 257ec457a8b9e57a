// Numbers computed from sensitive values, in messages of the service and of the program.

import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const SPEC = `variables: { num: { type: string, sensitive: true } }
clusters:
  c:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: "\${int(var.num) * 3}"
`;

test("a message of the service shows no number that was computed from a sensitive value", async () => {
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "numbers-"));
  const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, WORKSPACE_VAR_num: "4711" };
  for (const line of [
    "apply --auto-approve",
    "apply --auto-approve -o json",
    "plan",
    "history",
    "history -o json",
  ]) {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    const all = context.out() + context.err();
    expect([line, code]).toEqual([line, line.startsWith("apply") ? 1 : 0]);
    if (line.startsWith("apply")) expect(all).toContain("Found: (sensitive).");
    expect(all).not.toMatch(/14133|4711/);
  }
  const stored = readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("embedded"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(stored.join("\n")).not.toMatch(/14133|4711/);
});
