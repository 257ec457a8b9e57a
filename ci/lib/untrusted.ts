// Brings the spec of an untrusted pull request here as data: regular files only, and nothing of it is executed.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { olderBaseNotice, unmergedNotice } from "./base.ts";
import { gitEnvironment, originOf } from "./git.ts";
import { log } from "./log.ts";
import type { Env, Platform } from "./settings.ts";
import { temporaryFolder } from "./workspace.ts";

export interface PullRequestRef {
  readonly platform: Platform;
  readonly number: number;
  /** The folder of the spec, inside the repository. */
  readonly folder: string;
  /** The commit that the pull request must still have. */
  readonly sha: string | undefined;
  /** The branch of the run; undefined if it is not known. Most pull requests are merged into it. */
  readonly branch: string | undefined;
}

export interface UntrustedSpec {
  /** A folder outside the checkout with the files of the spec. */
  readonly cwd: string;
  /** The head of the pull request. */
  readonly commit: string;
  /** The spec before the change, relative to `cwd`; undefined where the platform could not merge the pull request. */
  readonly base: string | undefined;
  /** What readers of the plan have to know about its base. */
  readonly notice?: string;
}

/** The pull request has a newer commit. */
export class Outdated extends Error {}

/** No hook and no filter of the machine runs on these files; broken objects, such as paths with `..`, are refused. */
const GIT_OPTIONS = [
  ...["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"],
  ...["-c", "fetch.fsckObjects=true", "-c", "safe.directory=*"],
  "--literal-pathspecs",
];
/** The depth that git means by all of it. */
const WHOLE_HISTORY = 2_147_483_647;
const LIMITS = { files: 10_000, bytes: 200 * 2 ** 20 };

/**
 * Fetches the pull request from origin and writes `folder` of it, and of its base, outside the checkout. Throws
 * `Outdated` if the head of the pull request is no longer `sha`: a later run plans its newer commit.
 */
export function fetchUntrusted(
  env: Env,
  { platform, number, folder, sha, branch }: PullRequestRef,
  limits = LIMITS,
): UntrustedSpec {
  const refs = `refs/${platform === "gitlab" ? "merge-requests" : "pull"}/${number}`;
  const head = platform === "azure" ? undefined : fetched(env, `${refs}/head`);
  const merge = merged(env, `${refs}/merge`, head);
  const commit = head ?? merge?.head;
  if (commit === undefined)
    throw new Error(`pull request ${number} cannot be merged, so it has no commit to plan`);
  if (sha !== undefined && commit !== sha)
    throw new Outdated(`pull request ${number} is at ${commit}, not at ${sha}`);
  const place = temporaryFolder(env, "workspace-untrusted-");
  const cwd = join(place, "head");
  if (merge === undefined) {
    write(env, { tree: commit, folder, into: cwd, limits });
    return { cwd, commit, base: undefined, notice: unmergedNotice(branch ?? "the target branch") };
  }
  const { tree, base, notice } = withPresentBase(env, merge, branch);
  write(env, { tree, folder, into: cwd, limits });
  // Reports name the base as its folder is named.
  const name = base.slice(0, 12);
  write(env, { tree: base, folder, into: join(place, name), limits });
  return { cwd, commit, base: `../${name}`, notice };
}

interface Merge {
  /** The merged files: a commit or a tree. */
  readonly tree: string;
  readonly base: string;
  readonly head: string;
}

/** The merge that the platform made, unless it is of another commit or the pull request has a conflict. */
function merged(env: Env, ref: string, head: string | undefined): Merge | undefined {
  let commit: string;
  try {
    commit = fetched(env, ref);
  } catch (failure) {
    if (head === undefined) throw failure;
    return undefined;
  }
  const [base, second] = git(env, ["show", "--no-patch", "--format=%P", commit]).toString().trim().split(" ");
  if (base === undefined || second === undefined || (head !== undefined && second !== head)) return undefined;
  return { tree: commit, base, head: second };
}

/** A platform makes the merge when it is asked for it, so its base can be older than the branch is now. */
function withPresentBase(
  env: Env,
  merge: Merge,
  branch: string | undefined,
): Pick<Merge, "tree" | "base"> & Pick<UntrustedSpec, "notice"> {
  if (branch === undefined) return merge;
  try {
    const ref = `refs/heads/${branch}`;
    const tip = fetched(env, ref);
    if (tip === merge.base) return merge;
    // With its history, which says whether the pull request is one of this branch.
    fetched(env, ref, ["-c", "fetch.fsckObjects=false"], WHOLE_HISTORY);
    const since = git(env, ["rev-list", "--count", `${tip}..${merge.base}`])
      .toString()
      .trim();
    if (since !== "0") return merge;
    return { tree: git(env, ["merge-tree", "--write-tree", tip, merge.tree]).toString().trim(), base: tip };
  } catch (failure) {
    log(failure instanceof Error ? failure.message : String(failure));
    return { ...merge, notice: olderBaseNotice(merge.base.slice(0, 12), branch) };
  }
}

/** The commit of `ref`, with its parents. */
function fetched(env: Env, ref: string, more: readonly string[] = [], depth = 2): string {
  const { url, options, variables } = originOf(
    git(env, ["config", "--default", "", "--get", "remote.origin.url"]).toString(),
  );
  const fetch = ["fetch", "--no-tags", "--no-recurse-submodules", `--depth=${depth}`, url, ref];
  git({ ...env, ...variables }, [...options, ...more, ...fetch]);
  return git(env, ["rev-parse", "--verify", "FETCH_HEAD^{commit}"]).toString().trim();
}

/** Writes the regular files of `folder` below `into`; symbolic links and submodules could lead elsewhere and are left out. */
function write(
  env: Env,
  {
    tree,
    folder,
    into,
    limits,
  }: {
    readonly tree: string;
    readonly folder: string;
    readonly into: string;
    readonly limits: typeof LIMITS;
  },
): void {
  mkdirSync(into, { recursive: true });
  const listed = git(env, ["ls-tree", "-r", "-l", "-z", "--full-tree", tree, "--", folder]).toString();
  const files = listed.split("\0").flatMap((line) => {
    const [, mode, id = "", size, path = ""] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.+)$/s.exec(line) ?? [];
    return mode === "100644" || mode === "100755" ? [{ id, size: Number(size), path }] : [];
  });
  if (files.length > limits.files)
    throw new Error(`the spec has ${files.length} files, more than ${limits.files}`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.bytes) throw new Error(`the spec has ${bytes} bytes, more than ${limits.bytes}`);
  const ids = files.map(({ id }) => `${id}\n`).join("");
  const contents = git(env, ["cat-file", "--batch"], ids);
  let at = 0;
  for (const { path, size } of files) {
    if (path.split("/").some((part) => part === "" || part === "." || part === ".."))
      throw new Error(`the path ${JSON.stringify(path)} is not valid`);
    const start = contents.indexOf("\n", at) + 1;
    mkdirSync(dirname(join(into, path)), { recursive: true });
    writeFileSync(join(into, path), contents.subarray(start, start + size), { flag: "wx" });
    at = start + size + 1;
  }
}

function git(env: Env, args: readonly string[], input = ""): Buffer {
  const { status, stdout, stderr, error } = spawnSync("git", [...GIT_OPTIONS, ...args], {
    env: {
      ...gitEnvironment(env),
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
    },
    input,
    maxBuffer: 2 * LIMITS.bytes,
  });
  if (status !== 0)
    throw new Error(
      `git ${args[0]} failed: ${(stderr?.toString() || stdout?.toString() || String(error)).trim()}`,
    );
  return stdout;
}
