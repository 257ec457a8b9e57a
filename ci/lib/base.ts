// The base of a pull request: the tip of the target branch, under the name that people know, and a checkout that is merged with it.

import { spawnSync } from "node:child_process";
import { gitEnvironment, originOf } from "./git.ts";
import { log } from "./log.ts";
import type { Env, Settings } from "./settings.ts";

/** The first parent of a merge that the platform made is the tip of the target branch. */
const MERGED_INTO = "HEAD^1";

/** The plan of a branch that is behind its target branch would undo what the target branch has since. */
export function withMergedBase(settings: Settings, env: Env): Settings {
  const { base, isUnmerged, targetBranch, untrusted, command } = settings;
  if (targetBranch === undefined) return settings;
  if (base === MERGED_INTO) return withNamedBase(settings, env, targetBranch);
  // The pipeline of a fork cannot read the target project; its plan is made from an empty state, which has nothing to undo.
  if (!isUnmerged || untrusted || command !== "plan") return settings;
  const name = `origin/${targetBranch}`;
  const failure = mergeWith(name, targetBranch, env);
  if (failure === undefined) return { ...settings, base: name };
  const notice = `This is the plan of the branch alone, because it cannot be merged with \`${targetBranch.replaceAll("`", "'")}\` here. What that branch has since would be undone by this plan, but not by a merge.`;
  log(`${notice}\n${failure}`);
  return { ...settings, notice };
}

/** With a name such as `origin/main` as the base, because platforms check out a merge without branches; unchanged if that name exists. */
function withNamedBase(settings: Settings, env: Env, targetBranch: string): Settings {
  const name = `origin/${targetBranch}`;
  // An empty old value: the ref is created, and an existing one stays.
  const { status } = git(env, ["update-ref", `refs/remotes/${name}`, MERGED_INTO, ""]);
  return status === 0 ? { ...settings, base: name } : settings;
}

/** Checks out the merge of the tip of the target branch and the branch of the checkout. Why that failed. */
function mergeWith(name: string, targetBranch: string, env: Env): string | undefined {
  const ref = `refs/remotes/${name}`;
  const { url, options, variables } = originOf(git(env, ["config", "--get", "remote.origin.url"]).stdout);
  const refspec = `+refs/heads/${targetBranch}:${ref}`;
  const fetch = [...options, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", url, refspec];
  const fetched = git({ ...env, ...variables }, fetch);
  if (fetched.status !== 0) return fetched.stderr;
  if (git(env, ["merge-base", "--is-ancestor", ref, "HEAD"]).status === 0) return undefined;
  const merged = git(env, ["merge-tree", "--write-tree", ref, "HEAD"]);
  if (merged.status !== 0) return merged.stderr || merged.stdout;
  const author = ["-c", "user.name=workspace", "-c", "user.email=workspace@localhost"];
  const parents = ["-p", ref, "-p", "HEAD"];
  const commit = git(env, [...author, "commit-tree", merged.stdout.trim(), ...parents, "-m", "merge"]);
  if (commit.status !== 0) return commit.stderr;
  const checkout = git(env, ["checkout", "--quiet", "--detach", commit.stdout.trim()]);
  return checkout.status === 0 ? undefined : checkout.stderr;
}

function git(env: Env, args: readonly string[]) {
  return spawnSync("git", ["-c", "core.hooksPath=/dev/null", ...args], {
    env: gitEnvironment(env),
    encoding: "utf8",
  });
}
