// The base of a pull request: the tip of the target branch, under the name that people know, and a checkout that is merged with it.

import { type Checkout, originOf, runGit } from "./git.ts";
import { log } from "./log.ts";
import type { Env, Settings } from "./settings.ts";

/** The first parent of a merge that the platform made is the tip of the target branch. */
const MERGED_INTO = "HEAD^1";

/** The plan of a branch that is behind its target branch would undo what the target branch has since. */
export function withMergedBase(settings: Settings, env: Env): Settings {
  const { base, isUnmerged, targetBranch, untrusted, command } = settings;
  const checkout = { cwd: process.cwd(), env };
  if (targetBranch === undefined) return settings;
  const name = `origin/${targetBranch}`;
  if (base === MERGED_INTO) return isNamed(checkout, name) ? { ...settings, base: name } : settings;
  // The pipeline of a fork cannot read the target project; its plan is made from an empty state, which has nothing to undo.
  if (!isUnmerged || untrusted || command !== "plan") return settings;
  try {
    mergeWith(checkout, name, targetBranch);
    return { ...settings, base: name };
  } catch (failure) {
    const notice = `This is the plan of the branch alone, because it cannot be merged with \`${targetBranch.replaceAll("`", "'")}\` here. What that branch has since would be undone by this plan, but not by a merge.`;
    log(`${notice}\n${failure instanceof Error ? failure.message : String(failure)}`);
    return { ...settings, notice };
  }
}

/** Gives the base a name such as `origin/main`, because platforms check out a merge without branches. False if the name exists. */
function isNamed(checkout: Checkout, name: string): boolean {
  // An empty old value: the ref is created, and an existing one stays.
  return isSuccessful(checkout, ["update-ref", `refs/remotes/${name}`, MERGED_INTO, ""]);
}

/** Checks out the merge of the tip of the target branch and the branch of the checkout. Throws if they cannot be merged. */
function mergeWith(checkout: Checkout, name: string, targetBranch: string): void {
  const ref = `refs/remotes/${name}`;
  const { url, options, variables } = originOf(runGit(checkout, ["config", "--get", "remote.origin.url"]));
  const fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", url];
  const withToken = { ...checkout, env: { ...checkout.env, ...variables } };
  runGit(withToken, [...options, ...fetch, `+refs/heads/${targetBranch}:${ref}`]);
  if (isSuccessful(checkout, ["merge-base", "--is-ancestor", ref, "HEAD"])) return;
  const tree = runGit(checkout, ["merge-tree", "--write-tree", ref, "HEAD"]);
  const author = ["-c", "user.name=workspace", "-c", "user.email=workspace@localhost"];
  const commit = runGit(checkout, [...author, "commit-tree", tree, "-p", ref, "-p", "HEAD", "-m", "merge"]);
  runGit(checkout, ["checkout", "--quiet", "--detach", commit]);
}

function isSuccessful(checkout: Checkout, args: readonly string[]): boolean {
  try {
    runGit(checkout, args);
    return true;
  } catch {
    return false;
  }
}
