// The commit of a repository, read from its files where that is simple: starting git takes as long as validating a small spec.

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LONGEST = 1_000;
const BRANCH = /^ref: (refs\/heads\/[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)$/;

/** Undefined where only git can tell: in a linked worktree, for a packed branch, or in a repository without a commit. */
export function plainHead(root: string): string | undefined {
  const folder = join(root, ".git");
  const head = lineOf(folder, "HEAD");
  if (head === undefined) return undefined;
  const branch = BRANCH.exec(head)?.[1];
  const commit = branch === undefined ? head : lineOf(folder, branch);
  return commit !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : undefined;
}

/** The only line of a small regular file. */
function lineOf(folder: string, name: string): string | undefined {
  try {
    const path = join(folder, name);
    const found = lstatSync(path);
    return found.isFile() && found.size < LONGEST ? readFileSync(path, "utf8").trim() : undefined;
  } catch {
    return undefined;
  }
}
