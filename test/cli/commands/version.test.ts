// `workspace version` in a clone: git answers with the commit.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");

function git(...words: readonly string[]): string {
  return spawnSync("git", ["-C", ROOT, ...words], { encoding: "utf8" }).stdout.trim();
}

/** The program of the clone; other tests start a build of it. */
function run(words: readonly string[], env = process.env) {
  return spawnSync(process.execPath, [join(ROOT, "bin/workspace.js"), ...words], {
    cwd: ROOT,
    env,
    encoding: "utf8",
  });
}

test("a clone names its commit and says that it runs sources", () => {
  const { status, stdout } = run(["version", "-o", "json"]);
  const { commit, ...rest } = JSON.parse(stdout);
  expect(status).toBe(0);
  expect(commit.replace("-dirty", "")).toBe(git("rev-parse", "--short=12", "HEAD"));
  expect(rest).toEqual({
    format_version: "1.0",
    version: "0.1.0",
    date: new Date(git("log", "-1", "--format=%cI")).toISOString(),
    sources: true,
    node: process.version,
  });
});

test("sources without git have a version and no commit", () => {
  const { status, stdout } = run(["version"], { PATH: "/nonexistent" });
  expect([status, stdout]).toEqual([0, `workspace 0.1.0 (from sources, node ${process.version})\n`]);
});
