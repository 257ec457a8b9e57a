// `workspace version` in a clone: git answers with the commit.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { start } from "../program.ts";

const ROOT = join(import.meta.dirname, "../../..");

function git(...words: readonly string[]): string {
  return spawnSync("git", ["-C", ROOT, ...words], { encoding: "utf8" }).stdout.trim();
}

test("a clone names its commit and says that it runs sources", async () => {
  const { code, stdout } = await start(["version", "-o", "json"], { cwd: ROOT }).ended;
  const { commit, ...rest } = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(commit.replace("-dirty", "")).toBe(git("rev-parse", "--short=12", "HEAD"));
  expect(rest).toEqual({
    format_version: "1.0",
    version: "0.1.0",
    date: new Date(git("log", "-1", "--format=%cI")).toISOString(),
    sources: true,
    node: process.version,
  });
});

test("sources without git have a version and no commit", async () => {
  const { code, stdout } = await start(["version"], { cwd: ROOT, env: { PATH: "/nonexistent" } }).ended;
  expect([code, stdout]).toEqual([0, `workspace 0.1.0 (from sources, node ${process.version})\n`]);
});
