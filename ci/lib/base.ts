// The base of a pull request: the tip of the target branch, under the name that people know, and a checkout that is merged with it.

import { type Checkout, originOf, runGit, withToken } from "./git.ts";
import { log } from "./log.ts";
import type { Env, Settings } from "./settings.ts";

/** The first parent of a merge that the platform made is the tip that the target branch had then. */
const MERGED_INTO = "HEAD^1";

/** The plan of a branch that is behind its target branch would undo what the target branch has since. */
export function withMergedBase(settings: Settings, env: Env): Settings {
  const { base, isUnmerged, targetBranch, untrusted, command } = settings;
  const isMerge = base === MERGED_INTO;
  if (targetBranch === undefined || command !== "plan" || !(isMerge || isUnmerged)) return settings;
  const checkout = { cwd: process.cwd(), env };
  const former = isMerge ? runGit(checkout, ["rev-parse", "--short=12", MERGED_INTO]) : (base ?? "");
  // The check of a fork may have no access to the target branch; its plan is made from an empty state, which has nothing to undo.
  if (untrusted) return { ...settings, base: former };
  const name = `origin/${targetBranch}`;
  try {
    mergeWith(checkout, settings, name, targetBranch);
    return { ...settings, base: name };
  } catch (failure) {
    const notice = isMerge ? olderBaseNotice(former, targetBranch) : unmergedNotice(targetBranch);
    log(`${notice}\n${failure instanceof Error ? failure.message : String(failure)}`);
    return { ...settings, base: former, notice };
  }
}

const UNDOES = "What that branch has since would be undone by this plan, but not by a merge.";

const quoted = (branch: string): string => `\`${branch.replaceAll("`", "'")}\``;

/** Of a checkout, or of the spec of a fork. */
export function olderBaseNotice(commit: string, branch: string): string {
  const name = quoted(branch);
  return `This is the plan of the merge with commit ${commit} of ${name}, because the present ${name} cannot be merged here. ${UNDOES}`;
}

export function unmergedNotice(branch: string): string {
  return `This is the plan of the branch alone, because it cannot be merged with ${quoted(branch)} here. ${UNDOES}`;
}

/** Checks out the merge of the tip of the target branch and the checkout. Throws if they cannot be merged. */
function mergeWith(checkout: Checkout, { platform }: Settings, name: string, targetBranch: string): void {
  const ref = `refs/remotes/${name}`;
  const remote = runGit(checkout, ["config", "--get", "remote.origin.url"]);
  const { url, options, variables } = originOf(remote);
  const fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", url];
  const { SYSTEM_ACCESSTOKEN, WORKSPACE_CI_API_TOKEN } = checkout.env;
  // A runner of GitLab leaves the token of the job in the checkout; those of the others keep none for this step.
  const token = { azure: SYSTEM_ACCESSTOKEN, github: WORKSPACE_CI_API_TOKEN, gitlab: "", none: "" }[platform];
  const own = { ...checkout, env: { ...checkout.env, ...variables } };
  const reader = token ? withToken(own, platform, remote, token) : own;
  runGit(reader, [...options, ...fetch, `+refs/heads/${targetBranch}:${ref}`]);
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
