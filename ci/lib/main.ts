// The one step of every pipeline: runs the command, publishes its reports, and writes the comment, the issue, or the pull request.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type PullRequests, propose } from "./accept.ts";
import { type AzureSettings, azureComments, azureIssues, azurePullRequests } from "./azure.ts";
import { checkOutTip, withMergedBase } from "./base.ts";
import { fenced, fitted, markedBody, type RunMark, withoutMarkers } from "./body.ts";
import { type Comments, putComment } from "./comment.ts";
import {
  type GitHubSettings,
  githubComments,
  githubIssues,
  githubPullRequest,
  githubPullRequests,
} from "./github.ts";
import { type GitLabSettings, gitlabComments, gitlabIssues, gitlabPullRequests } from "./gitlab.ts";
import { type Issues, putIssue } from "./issue.ts";
import { log } from "./log.ts";
import { BadInput, type Env, readSettings, type Settings } from "./settings.ts";
import { fetchUntrusted, Outdated } from "./untrusted.ts";
import { type Finished, type Place, runWorkspace, withoutUnset } from "./workspace.ts";

const env: Env = withoutUnset(process.env);
/** What each platform accepts as a comment, in characters. */
const LIMITS = { github: 65_536, gitlab: 500_000, azure: 150_000, none: 65_536 } as const;

/** What each platform accepts as the description of a pull request. */
const MOST_DESCRIPTION = { ...LIMITS, azure: 4_000 } as const;

const runLink = ({ url, commit }: Settings["run"]): string =>
  url === "" ? "" : `\n[Run](${url}), commit ${commit.slice(0, 12)}\n`;

/** Where the platform shows the artifacts of the run, one of which is the page. */
function pageLink({ platform, reports, run: { url } }: Settings, page: string | undefined): string {
  if (page === undefined || url === "") return "";
  const artifacts = {
    github: `${url}#artifacts`,
    gitlab: `${url}/artifacts/file/${reports}/${basename(page)}`,
    azure: `${url}&view=artifacts&pathAsName=false&type=publishedArtifacts`,
    none: undefined,
  }[platform];
  return artifacts === undefined ? "" : `\n[All changes as a page](${artifacts}): ${basename(page)}\n`;
}

const needed = (name: string): string => {
  const value = env[name];
  if (value === undefined || value === "") throw new BadInput(`${name} is not set`);
  return value;
};

const github = (): GitHubSettings => ({
  api: needed("GITHUB_API_URL"),
  graphql: needed("GITHUB_GRAPHQL_URL"),
  repository: needed("GITHUB_REPOSITORY"),
  token: needed("WORKSPACE_CI_API_TOKEN"),
  author: env.WORKSPACE_CI_AUTHOR || "github-actions[bot]",
  log,
});
const gitlab = (): GitLabSettings => ({
  api: needed("CI_API_V4_URL"),
  project: needed("CI_PROJECT_ID"),
  token: needed("WORKSPACE_CI_API_TOKEN"),
  log,
});
const azure = (): AzureSettings => ({
  collection: needed("SYSTEM_COLLECTIONURI").replace(/\/$/, ""),
  project: needed("SYSTEM_TEAMPROJECT"),
  repository: needed("BUILD_REPOSITORY_ID"),
  token: needed("SYSTEM_ACCESSTOKEN"),
  workItemType: env.WORKSPACE_CI_WORK_ITEM_TYPE || "Issue",
  log,
});

try {
  const settings = withMergedBase(readSettings(env), env);
  checkOutTip(settings, env);
  process.exitCode = await main(settings);
} catch (failure) {
  if (failure instanceof Outdated) log(`Skipped: ${failure.message}. A later run plans the newer commit.`);
  else {
    log(`error: ${failure instanceof Error ? failure.message : String(failure)}`);
    process.exitCode = 1;
  }
}

async function main(settings: Settings): Promise<number> {
  const number = settings.followed === undefined ? settings.pullRequest : await followedPullRequest(settings);
  if (settings.followed !== undefined && number === undefined) {
    log("Skipped: no open pull request has this commit as its head.");
    return 0;
  }
  if (settings.comment && number === undefined)
    throw new BadInput("comment needs a pull request, and this run has none");
  const where = placeOf(settings, number);
  const done = await runWorkspace(settings, env, where);
  const success = done.exitCode === 0 || done.exitCode === 2;
  const report = {
    ...settings,
    base: settings.base ?? where.base,
    notice: settings.notice ?? where.notice,
  };
  publish(report, done);
  if (done.cancelled) {
    if (settings.comment || settings.issue) log("Canceled: the comment and the issue were not changed.");
    return done.exitCode;
  }
  if (settings.command === "accept") return await proposed(settings, done);
  const { hiddenIsNew = false, ...drift } = done.drift ?? {};
  const mark: RunMark = {
    number: settings.run.number,
    attempt: settings.run.attempt,
    commit: where.commit,
    open: done.exitCode !== 0,
    ...drift,
    // A warning after the report.
    ...(done.errors.includes("DRIFT_NOT_RECORDED") ? { isUnrecorded: true } : {}),
  };
  const room =
    LIMITS[settings.platform] - markedBody(settings.subject, { ...mark, noteIsDue: true }, "").length;
  const text = fitted(bodyText(report, done), room, settings.run.url);
  if (settings.comment && number !== undefined) {
    const result = await putComment(commentsOf(settings, number), settings.subject, mark, text);
    log(`Comment on pull request ${number}: ${result}.`);
  }
  // A drift that could not be read says nothing about the drift.
  if (settings.issue && success) {
    const run = settings.run.url === "" ? "this run" : settings.run.url;
    log(`Issue: ${await putIssue(issuesOf(settings), settings.subject, mark, { text, run, hiddenIsNew })}.`);
  }
  return success ? 0 : done.exitCode;
}

async function proposed(settings: Settings, { exitCode, accepted }: Finished): Promise<number> {
  const { platform, subject, branch: base, run } = settings;
  if (accepted === undefined) return exitCode === 0 ? 1 : exitCode;
  const token = needed(platform === "azure" ? "SYSTEM_ACCESSTOKEN" : "WORKSPACE_CI_API_TOKEN");
  const link = runLink(run);
  const body = fitted(`${accepted.report}${link}`, MOST_DESCRIPTION[platform], run.url);
  const result = await propose(pullRequestsOf(settings), {
    cwd: process.cwd(),
    env,
    platform,
    subject,
    base,
    token,
    accepted,
    body,
  });
  log(`Pull request: ${result}.`);
  return 0;
}

function pullRequestsOf({ platform }: Settings): PullRequests {
  if (platform === "github") return githubPullRequests(github());
  if (platform === "gitlab") return gitlabPullRequests(gitlab());
  if (platform === "azure") return azurePullRequests(azure());
  throw new BadInput("accept needs GitHub, GitLab, or Azure Pipelines");
}

/** Where the command runs: the checkout, or a folder with an untrusted spec that is not checked out. */
function placeOf(settings: Settings, number: number | undefined): Place {
  const { untrusted, platform, followed, subject, run, branch } = settings;
  const elsewhere = followed !== undefined || (env.WORKSPACE_CI_PULL_REQUEST ?? "") !== "";
  if (!elsewhere) return { cwd: process.cwd(), commit: run.commit };
  if (!untrusted) throw new BadInput("another pull request can be planned with untrusted only");
  if (number === undefined) throw new BadInput("this run has no pull request");
  return fetchUntrusted(env, { platform, number, folder: subject.folder, sha: followed?.sha, branch });
}

async function followedPullRequest({ followed }: Settings): Promise<number | undefined> {
  return followed === undefined ? undefined : await githubPullRequest(github(), followed);
}

function commentsOf({ platform }: Settings, number: number): Comments {
  if (platform === "github") return githubComments(github(), number);
  if (platform === "gitlab") return gitlabComments(gitlab(), number);
  if (platform === "azure") return azureComments(azure(), number);
  throw new BadInput("comment needs GitHub, GitLab, or Azure Pipelines");
}

function issuesOf({ platform }: Settings): Issues {
  if (platform === "github") return githubIssues(github());
  if (platform === "gitlab") return gitlabIssues(gitlab());
  if (platform === "azure") return azureIssues(azure());
  throw new BadInput("issue needs GitHub, GitLab, or Azure Pipelines");
}

function bodyText(settings: Settings, { exitCode, report, errors, page }: Finished): string {
  const { command, platform, run, subject, base, notice } = settings;
  const link = runLink(run);
  const noticed = notice === undefined ? "" : `> **Note**: ${notice}\n\n`;
  // A note of GitLab cannot be collapsed, so nothing to report is one line there.
  if (exitCode === 0 && platform === "gitlab" && command === "plan") {
    const target = `\`${subject.target.replaceAll("`", "'")}\``;
    return base === undefined
      ? `Nothing is left to change in ${target}.\n${link}`
      : `${noticed}This merge request has no changes for ${target}.\n${link}`;
  }
  // The report names the run and the commit.
  if (report !== undefined) return `${noticed}${withoutMarkers(report)}${pageLink(settings, page)}`;
  return `## workspace ${command} failed with exit code ${exitCode}\n\n${fenced(errors)}\n${link}`;
}

/** Outputs and the summary of the platform. */
function publish(settings: Settings, done: Finished): void {
  const { command, platform } = settings;
  const reports = resolve(settings.reports);
  const outputs = { exit_code: String(done.exitCode), changes: String(done.exitCode === 2) };
  const longest: Finished = { ...done, report: done.summary ?? done.report };
  const summary = bodyText(settings, longest);
  if (platform === "github") {
    const annotations = join(reports, "annotations.txt");
    if (existsSync(annotations)) process.stdout.write(readFileSync(annotations, "utf8"));
    const sarif = join(reports, "workspace.sarif");
    const lines = [
      ...[`exit-code=${outputs.exit_code}`, `changes=${outputs.changes}`, `reports=${reports}`],
      `sarif=${existsSync(sarif) ? sarif : ""}`,
      `page=${done.page ?? ""}`,
    ];
    if (env.GITHUB_OUTPUT !== undefined) appendFileSync(env.GITHUB_OUTPUT, `${lines.join("\n")}\n`);
    if (env.GITHUB_STEP_SUMMARY !== undefined) appendFileSync(env.GITHUB_STEP_SUMMARY, `${summary}\n`);
  } else if (platform === "azure") {
    const file = join(reports, "summary.md");
    writeFileSync(file, summary);
    process.stdout.write(`##vso[task.uploadsummary]${file}\n`);
    process.stdout.write(`##vso[task.setvariable variable=changes;isOutput=true]${outputs.changes}\n`);
    if (done.exitCode === 2 && command === "drift")
      process.stdout.write("##vso[task.logissue type=warning]drift\n");
  } else {
    const lines = [`WORKSPACE_EXIT_CODE=${outputs.exit_code}`, `WORKSPACE_CHANGES=${outputs.changes}`];
    writeFileSync(join(reports, "workspace.env"), `${lines.join("\n")}\n`);
  }
}
