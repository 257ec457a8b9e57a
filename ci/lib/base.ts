// The base of a pull request: the tip of the target branch, under the name that people know, and a checkout that is merged with it. And the tip of the branch for an apply.

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
    mergeWith(checkout, settings, targetBranch);
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

/** Fetches the tip of a branch of origin. Returns its name in the checkout. */
function fetchTip(checkout: Checkout, { platform }: Settings, branch: string): string {
  const ref = `refs/remotes/origin/${branch}`;
  const remote = runGit(checkout, ["config", "--get", "remote.origin.url"]);
  const { url, options, variables } = originOf(remote);
  const fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", url];
  const { SYSTEM_ACCESSTOKEN, WORKSPACE_CI_API_TOKEN } = checkout.env;
  // A runner of GitLab leaves the token of the job in the checkout; those of the others keep none for this step.
  const token = { azure: SYSTEM_ACCESSTOKEN, github: WORKSPACE_CI_API_TOKEN, gitlab: "", none: "" }[platform];
  const own = { ...checkout, env: { ...checkout.env, ...variables } };
  const reader = token ? withToken(own, platform, remote, token) : own;
  runGit(reader, [...options, ...fetch, `+refs/heads/${branch}:${ref}`]);
  return ref;
}

/**
 * A job of GitLab can be started in any pipeline, and its plan stays valid while nothing is applied. With the present spec of the branch, the plan
 * of an older pipeline is stale if a later commit changed the spec, such as a revert. Others apply in the run that saved the plan.
 */
export function checkOutTip(settings: Settings, env: Env): void {
  const { platform, command, branch } = settings;
  if (platform !== "gitlab" || command !== "apply" || branch === undefined) return;
  const checkout = { cwd: process.cwd(), env };
  const ref = fetchTip(checkout, settings, branch);
  const [own, tip] = ["HEAD", ref].map((name) => runGit(checkout, ["rev-parse", "--short=12", name]));
  if (own === tip) return;
  log(
    `${branch} is at ${tip}, and this pipeline at ${own}: its plan is applied only if the spec is the same.`,
  );
  runGit(checkout, ["checkout", "--quiet", "--detach", ref]);
}

/** Checks out the merge of the tip of the target branch and the checkout. Throws if they cannot be merged. */
function mergeWith(checkout: Checkout, settings: Settings, targetBranch: string): void {
  const ref = fetchTip(checkout, settings, targetBranch);
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
