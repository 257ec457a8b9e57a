// The settings of a run, from WORKSPACE_CI_* and the variables of the platform.

import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "./body.ts";
import { isRecord } from "./http.ts";

export type Env = Readonly<Record<string, string | undefined>>;
export type Platform = "github" | "gitlab" | "azure" | "none";
export type Command = "validate" | "plan" | "apply" | "drift" | "accept";

export interface Run {
  readonly number: number;
  readonly attempt: number;
  readonly commit: string;
  readonly url: string;
}

export interface Settings {
  readonly platform: Platform;
  readonly command: Command;
  /** As the caller names it; undefined for the one that the spec selects. */
  readonly target: string | undefined;
  readonly subject: Subject;
  readonly state: string | undefined;
  readonly base: string | undefined;
  /** What readers of the comment have to know about this plan. */
  readonly notice?: string;
  /** Whether the checkout is a branch that the platform did not merge with the target branch. */
  readonly isUnmerged: boolean;
  /** The branch that the pull request is merged into. */
  readonly targetBranch: string | undefined;
  /** Drift that an earlier run reported does not count. */
  readonly since: boolean;
  /** The saved plan that plan writes and apply reads. */
  readonly planFile: string | undefined;
  /** The drift that accept writes into the spec. */
  readonly addresses: readonly string[];
  /** The branch of the run, which the pull request of accept is merged into. */
  readonly branch: string | undefined;
  /** More arguments for the command, one per line. */
  readonly more: readonly string[];
  readonly reports: string;
  readonly comment: boolean;
  readonly issue: boolean;
  readonly untrusted: boolean;
  readonly run: Run;
  /** Number of the pull request, if the platform or the caller names it. */
  readonly pullRequest: number | undefined;
  /** The event of a run that follows a run of a pull request (GitHub). */
  readonly followed: { readonly owner: string; readonly branch: string; readonly sha: string } | undefined;
}

/** An input that cannot be used. */
export class BadInput extends Error {}

const COMMANDS: readonly string[] = ["validate", "plan", "apply", "drift", "accept"];

export function readSettings(env: Env): Settings {
  const input = (name: string): string | undefined => env[`WORKSPACE_CI_${name}`]?.trim() || undefined;
  const platform = platformOf(env);
  const event = platform === "github" ? eventOf(env) : {};
  const command = input("COMMAND") ?? "plan";
  if (!isCommand(command)) throw new BadInput(`command "${command}" is not one of ${COMMANDS.join(", ")}`);
  const target = input("TARGET") ?? (env.WORKSPACE_TARGET || undefined);
  if (target !== undefined && /^-|\p{Cc}/u.test(target))
    throw new BadInput(`target ${JSON.stringify(target)} is not a valid name`);
  const folder = (input("FOLDER") ?? ".").replace(/^\.\/(?=.)|\/+$/g, "") || ".";
  if (/^[-/]|\p{Cc}/u.test(folder) || folder.split("/").includes(".."))
    throw new BadInput(`folder ${JSON.stringify(folder)} must be inside the repository`);
  const planFile = input("PLAN_FILE");
  if (command === "apply" && planFile === undefined)
    throw new BadInput("apply needs plan-file, a saved plan");
  const comment = flag(input("COMMENT"), "comment");
  if (comment && command !== "plan") throw new BadInput("comment can be used with plan only");
  const issue = flag(input("ISSUE"), "issue");
  if (issue && command !== "drift") throw new BadInput("issue can be used with drift only");
  const untrusted = flag(input("UNTRUSTED"), "untrusted");
  if (untrusted && command !== "plan")
    throw new BadInput(
      `untrusted can be used with plan only: ${command} would read the variables of the environment`,
    );
  if (untrusted && planFile !== undefined)
    throw new BadInput("an untrusted plan cannot be saved: remove plan-file");
  const since = input("SINCE");
  if (since !== undefined && (since !== "last" || command !== "drift"))
    throw new BadInput(`since can be "last" only, and with drift only`);
  const run = runOf(platform, env, event);
  // Without an order of runs an older one would overwrite a newer one.
  if ((comment || issue) && !(Number.isSafeInteger(run.number) && Number.isSafeInteger(run.attempt)))
    throw new BadInput("comment and issue need a run number, and the platform names none");
  return {
    platform,
    command,
    target,
    subject: { target: target ?? "default", folder },
    state: input("STATE"),
    base: baseOf(env, input("BASE")),
    isUnmerged: isUnmerged(env, input("BASE")),
    targetBranch: targetBranchOf(platform, env, event),
    since: since === "last",
    planFile,
    addresses: addressesIn(input("ADDRESSES")),
    branch: branchIn(platform, env),
    more: linesIn(env.WORKSPACE_CI_ARGS),
    reports:
      input("REPORTS") ?? join(env.RUNNER_TEMP ?? env.AGENT_TEMPDIRECTORY ?? tmpdir(), "workspace-reports"),
    comment,
    issue,
    untrusted,
    run,
    pullRequest: pullRequestOf(platform, env, event, input("PULL_REQUEST")),
    followed: followedOf(event),
  };
}

/** GitLab merges a branch with its target branch only if the project asks for it. */
function isUnmerged(env: Env, base: string | undefined): boolean {
  const parted = env.CI_MERGE_REQUEST_DIFF_BASE_SHA;
  return Boolean(parted) && base === parted && !env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA;
}

/** The base of a merge that GitLab made is the tip of the target branch, not the commit at which the branches parted. */
function baseOf(env: Env, base: string | undefined): string | undefined {
  const merged = env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA;
  return merged && base === env.CI_MERGE_REQUEST_DIFF_BASE_SHA ? merged : base;
}

function targetBranchOf(
  platform: Platform,
  env: Env,
  event: Readonly<Record<string, unknown>>,
): string | undefined {
  if (platform === "gitlab") return env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME || undefined;
  if (platform === "azure")
    return env.SYSTEM_PULLREQUEST_TARGETBRANCH?.replace(/^refs\/heads\//, "") || undefined;
  const base = isRecord(event.pull_request) ? event.pull_request.base : undefined;
  return isRecord(base) && typeof base.ref === "string" ? base.ref : undefined;
}

const linesIn = (text: string | undefined): readonly string[] =>
  (text ?? "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** One per line; an input of a platform can be a single line, in which commas separate them. */
function addressesIn(text: string | undefined): readonly string[] {
  const lines = linesIn(text);
  const addresses = lines.length > 1 ? lines : linesIn(text?.replaceAll(",", "\n"));
  const option = addresses.find((address) => address.startsWith("-"));
  if (option !== undefined) throw new BadInput(`address ${JSON.stringify(option)} begins with a dash`);
  return addresses.length === 0 ? ["*"] : addresses;
}

function branchIn(platform: Platform, env: Env): string | undefined {
  const branch = {
    github: env.GITHUB_REF?.startsWith("refs/heads/") === true ? env.GITHUB_REF_NAME : undefined,
    gitlab: env.CI_COMMIT_BRANCH,
    azure: /^refs\/heads\/(.+)$/.exec(env.BUILD_SOURCEBRANCH ?? "")?.[1],
    none: undefined,
  }[platform];
  return branch || undefined;
}

const isCommand = (text: string): text is Command => COMMANDS.includes(text);

function flag(text: string | undefined, name: string): boolean {
  if (text === undefined || /^false$/i.test(text)) return false;
  if (/^true$/i.test(text)) return true;
  throw new BadInput(`${name} is "${text}", not true or false`);
}

function platformOf(env: Env): Platform {
  if (env.GITHUB_ACTIONS === "true") return "github";
  if (env.GITLAB_CI === "true") return "gitlab";
  return env.TF_BUILD === "True" ? "azure" : "none";
}

function eventOf(env: Env): Readonly<Record<string, unknown>> {
  if (env.GITHUB_EVENT_PATH === undefined) return {};
  const event: unknown = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
  return isRecord(event) ? event : {};
}

function runOf(platform: Platform, env: Env, event: Readonly<Record<string, unknown>>): Run {
  if (platform === "github") {
    const url = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;
    // Comments of a fork are ordered by the run of the pull request, not by the run that follows it.
    const run = isRecord(event.workflow_run) ? event.workflow_run : undefined;
    const head =
      isRecord(event.pull_request) && isRecord(event.pull_request.head) ? event.pull_request.head : {};
    return {
      // Not the run number, which starts again with each workflow.
      number: Number(run?.id ?? env.GITHUB_RUN_ID),
      attempt: Number(run?.run_attempt ?? env.GITHUB_RUN_ATTEMPT ?? 1),
      commit: String(run?.head_sha ?? head.sha ?? env.GITHUB_SHA),
      url,
    };
  }
  if (platform === "gitlab")
    return {
      number: Number(env.CI_PIPELINE_ID),
      attempt: Number(env.CI_JOB_ID),
      // A pipeline for merged results runs on a merge commit that is in no branch.
      commit: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA || "",
      url: env.CI_JOB_URL ?? "",
    };
  if (platform === "azure")
    return {
      number: Number(env.BUILD_BUILDID),
      attempt: Number(env.SYSTEM_JOBATTEMPT ?? 1),
      commit: env.SYSTEM_PULLREQUEST_SOURCECOMMITID ?? env.BUILD_SOURCEVERSION ?? "",
      url: `${env.SYSTEM_COLLECTIONURI}${encodeURIComponent(env.SYSTEM_TEAMPROJECT ?? "")}/_build/results?buildId=${env.BUILD_BUILDID}`,
    };
  return { number: 0, attempt: 0, commit: "", url: env.BUILD_URL ?? "" };
}

function pullRequestOf(
  platform: Platform,
  env: Env,
  event: Readonly<Record<string, unknown>>,
  given: string | undefined,
): number | undefined {
  const own = {
    github: isRecord(event.pull_request) ? event.pull_request.number : undefined,
    gitlab: env.CI_MERGE_REQUEST_IID,
    azure: env.SYSTEM_PULLREQUEST_PULLREQUESTID,
    none: undefined,
  }[platform];
  const text = given ?? own;
  if (text === undefined || text === "") return undefined;
  if (!/^[1-9]\d{0,9}$/.test(String(text))) throw new BadInput(`pull request "${text}" is not a number`);
  return Number(text);
}

function followedOf(event: Readonly<Record<string, unknown>>): Settings["followed"] {
  const run = event.workflow_run;
  if (!isRecord(run) || !isRecord(run.head_repository) || !isRecord(run.head_repository.owner))
    return undefined;
  return {
    owner: String(run.head_repository.owner.login),
    branch: String(run.head_branch),
    sha: String(run.head_sha),
  };
}
