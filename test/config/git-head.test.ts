// The commit of a repository, read without git.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { plainHead } from "../../src/cli/output/run-origin.ts";

const folder = mkdtempSync(join(tmpdir(), "git-head-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const HASH = "0123456789abcdef0123456789abcdef01234567";

function git(cwd: string, ...words: readonly string[]): string {
  const settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  const { status, stdout, stderr } = spawnSync("git", [...settings, ...words], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function repository(name: string, files: Readonly<Record<string, string>>): string {
  const root = join(folder, name);
  mkdirSync(join(root, ".git/refs/heads"), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, ".git", path), text);
  return root;
}

describe("plainHead", () => {
  test("returns what git says, on a branch and with a detached HEAD", () => {
    const root = join(folder, "real");
    mkdirSync(root);
    git(root, "init", "--quiet", "--initial-branch", "team/main");
    expect(plainHead(root)).toBeUndefined();
    git(root, "commit", "--quiet", "--allow-empty", "--message", "first");
    const commit = git(root, "rev-parse", "HEAD");
    expect(plainHead(root)).toBe(commit);
    git(root, "checkout", "--quiet", "--detach");
    expect(plainHead(root)).toBe(commit);
  });

  test("leaves packed branches and linked worktrees to git", () => {
    const root = join(folder, "real");
    git(root, "checkout", "--quiet", "team/main");
    git(root, "worktree", "add", "--quiet", join(folder, "linked"));
    expect(plainHead(join(folder, "linked"))).toBeUndefined();
    git(root, "pack-refs", "--all");
    expect(plainHead(root)).toBeUndefined();
  });

  test.each([
    ["a branch outside of refs/heads", { HEAD: "ref: refs/../../outside\n" }],
    ["a branch with a folder above", { HEAD: "ref: refs/heads/../../HEAD\n" }],
    ["a commit that is not a hash", { HEAD: "<script>\n" }],
    ["a long file", { HEAD: `${" ".repeat(2_000)}${HASH}` }],
    ["no file", {}],
  ])("ignores %s", (name, files) => {
    expect(plainHead(repository(name, files))).toBeUndefined();
  });

  test("does not follow a symbolic link", () => {
    const root = repository("link", { HEAD: "ref: refs/heads/main\n" });
    writeFileSync(join(folder, "elsewhere"), HASH);
    symlinkSync(join(folder, "elsewhere"), join(root, ".git/refs/heads/main"));
    expect(plainHead(root)).toBeUndefined();
  });
});
