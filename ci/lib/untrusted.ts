// Brings the spec of an untrusted pull request here as data: nothing of it is executed.

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "./settings.ts";

export interface UntrustedSpec {
  /** A folder outside the checkout with the files of the spec. */
  readonly cwd: string;
  readonly commit: string;
}

/** No hook and no filter of the machine runs on these files; broken objects are refused. */
const GIT_OPTIONS = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "fetch.fsckObjects=true",
  "-c",
  "safe.directory=*",
];

/**
 * Fetches `ref` from origin and unpacks `folder` of it. Throws if `sha` is given and is not the fetched commit: the pull request has a
 * newer commit then, and a later run plans it.
 */
export function fetchUntrusted(
  env: Env,
  ref: string,
  folder: string,
  sha: string | undefined,
): UntrustedSpec {
  const git = (...args: readonly string[]): string => {
    const done = spawnSync("git", [...GIT_OPTIONS, ...args], {
      env: {
        ...env,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_ATTR_NOSYSTEM: "1",
        GIT_TERMINAL_PROMPT: "0",
      },
      encoding: "utf8",
    });
    if (done.status !== 0)
      throw new Error(`git ${args[0]} failed: ${(done.stderr || String(done.error)).trim()}`);
    return done.stdout.trim();
  };
  git("fetch", "--no-tags", "--no-recurse-submodules", "--depth=1", "origin", ref);
  const commit = git("rev-parse", "--verify", "FETCH_HEAD^{commit}");
  if (sha !== undefined && commit !== sha) throw new Outdated(`${ref} is at ${commit}, not at ${sha}`);
  const cwd = mkdtempSync(join(env.RUNNER_TEMP ?? tmpdir(), "workspace-untrusted-"));
  const archive = `${cwd}.tar`;
  git("archive", "--format=tar", `--output=${archive}`, commit, "--", folder);
  const unpacked = spawnSync("tar", ["-xf", archive, "-C", cwd], { encoding: "utf8" });
  if (unpacked.status !== 0) throw new Error(`tar failed: ${unpacked.stderr.trim()}`);
  return { cwd, commit };
}

/** The pull request has a newer commit. */
export class Outdated extends Error {}
