// The user name of who changed, acknowledged, or applied something can be the value of a sensitive variable.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { DEFAULT_ADMIN } from "../../../../src/emulator/embedded.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const SPEC = `variables: { owner: { type: string, sensitive: true } }
clusters:
  c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { owner: "\${var.owner}" } }
`;

/** The characters that Markdown and HTML escape as they read. */
const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replaceAll(/<\/?span>/g, "");

/** A folder whose cluster was applied, and then resized by the owner. */
async function drifted() {
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "authors-state-"));
  const run = async (line: string) => {
    const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: state, WORKSPACE_VAR_owner: DEFAULT_ADMIN };
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: unescaped(context.out() + context.err()) };
  };
  const applied = await run("apply --auto-approve");
  expect([applied.code, applied.all]).toEqual([0, expect.stringContaining("Applied")]);
  const { id } = JSON.parse((await run("state show clusters.c")).out);
  writeFileSync(join(folder, "input.json"), JSON.stringify({ cluster_id: id, num_workers: 5 }));
  // A cluster that still starts cannot be resized.
  await vi.waitFor(
    async () => expect((await run("api clusters/resize --input input.json")).code).toBe(0),
    20_000,
  );
  return { folder, run };
}

describe("a user name that is a sensitive value", () => {
  let site: Awaited<ReturnType<typeof drifted>>;
  beforeAll(async () => {
    site = await drifted();
  }, 30_000);

  test.each([
    ...["text", "json", "markdown", "html", "junit", "sarif"].map((form) => `drift -o ${form}`),
    ...["text", "json", "markdown", "html", "junit"].map((form) => `plan -o ${form}`),
    ...["text", "json", "markdown", "html"].flatMap((form) => [
      `explain --plan clusters.c -o ${form}`,
      `history -o ${form}`,
    ]),
  ])("is not shown as an author by %s", async (line) => {
    const { code, all } = await site.run(line);
    expect([0, 2]).toContain(code);
    expect(all).toContain("(sensitive)");
    expect(all).not.toContain(DEFAULT_ADMIN);
  });

  test("is neither in a saved plan nor shown from it", async () => {
    expect((await site.run("plan --out saved.plan")).code).toBe(0);
    expect(readFileSync(join(site.folder, "saved.plan"), "utf8")).not.toContain(DEFAULT_ADMIN);
    const { code, all } = await site.run("show saved.plan");
    expect([code, all]).toEqual([0, expect.stringContaining("changed by (sensitive)")]);
    expect(all).not.toContain(DEFAULT_ADMIN);
  });

  test("is not shown as the author or in the reason of an acknowledgement", async () => {
    const { code, all } = await site.run(
      `drift acknowledge clusters.c --until 2999-12-31 --reason for-${DEFAULT_ADMIN}`,
    );
    expect([code, all]).toEqual([0, expect.stringContaining("Acknowledged clusters.c")]);
    for (const line of ["drift acknowledge --list", "drift", "drift -o json", "plan"]) {
      const { all } = await site.run(line);
      expect([line, all]).toEqual([line, expect.stringContaining("for-(sensitive)")]);
      expect([line, all]).toEqual([line, expect.not.stringContaining(DEFAULT_ADMIN)]);
    }
  });
});
