// The folder of reports: a run empties it, so it cannot be one with other files.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BadInput, readSettings } from "../../ci/lib/settings.ts";
import { runWorkspace } from "../../ci/lib/workspace.ts";

/** A checkout with a spec, in which a program that does nothing runs. */
async function ran(folder: string) {
  const top = mkdtempSync(join(tmpdir(), "reports-"));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const checkout = join(top, "checkout");
  mkdirSync(join(checkout, "infra"), { recursive: true });
  writeFileSync(join(checkout, "infra/workspace.yaml"), "pools: {}\n");
  mkdirSync(join(checkout, "old"));
  writeFileSync(join(checkout, "old/report.md"), "old");
  const git = (...words: string[]) => execFileSync("git", words, { cwd: checkout, stdio: "ignore" });
  git("init", "-q");
  git("add", "infra");
  const env = { PATH: process.env.PATH, WORKSPACE_CI_PROGRAM: "true", WORKSPACE_CI_REPORTS: folder };
  const before = process.cwd();
  process.chdir(checkout);
  try {
    const place = { cwd: checkout, commit: "" };
    const result = await runWorkspace(readSettings(env), env, place).catch((failure: unknown) => failure);
    const spec = join(checkout, "infra/workspace.yaml");
    return { result, checkout, spec: existsSync(spec) ? readFileSync(spec, "utf8") : "gone" };
  } finally {
    process.chdir(before);
  }
}

test.each([".", "./", "..", "infra", "infra/", "old/../infra"])(
  "the folder %s is refused, and nothing is deleted",
  async (folder) => {
    const { result, spec } = await ran(folder);
    expect(result).toBeInstanceOf(BadInput);
    expect(String(result)).toMatch(/the folder of reports .* contains files of the checkout/);
    expect(spec).toBe("pools: {}\n");
  },
);

test("a folder with reports of an earlier run is emptied", async () => {
  const { result, checkout } = await ran("old");
  expect(result).toMatchObject({ exitCode: 0, report: undefined });
  expect(existsSync(join(checkout, "old/report.md"))).toBe(false);
});
