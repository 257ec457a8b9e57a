// The three platforms of the stand-in, as the scripts under test see them.

import type { PullRequests } from "../../../ci/lib/accept.ts";
import { type AzureSettings, azureComments, azureIssues, azurePullRequests } from "../../../ci/lib/azure.ts";
import type { Comments } from "../../../ci/lib/comment.ts";
import {
  type GitHubSettings,
  githubComments,
  githubIssues,
  githubPullRequests,
} from "../../../ci/lib/github.ts";
import {
  type GitLabSettings,
  gitlabComments,
  gitlabIssues,
  gitlabPullRequests,
} from "../../../ci/lib/gitlab.ts";
import type { Issues } from "../../../ci/lib/issue.ts";
import { type CodeHost, ME, TOKEN } from "./code-host.ts";

export interface PlatformUnderTest {
  readonly name: string;
  readonly collapses: boolean;
  readonly pages: boolean;
  comments(host: CodeHost, waits?: number[]): Comments;
  issues(host: CodeHost): Issues;
  pullRequests(host: CodeHost): PullRequests;
}

/** No test waits: `waits` collects the pauses in milliseconds. */
const quick = (waits: number[] = []) => ({
  log: () => {},
  sleep: (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  },
  token: TOKEN,
});

export const githubSettings = (host: CodeHost, waits?: number[]): GitHubSettings => ({
  ...quick(waits),
  api: host.url,
  graphql: `${host.url}/graphql`,
  repository: "me/infra",
  author: ME,
});
const gitlab = (host: CodeHost, waits?: number[]): GitLabSettings => ({
  ...quick(waits),
  api: `${host.url}/api/v4`,
  project: "42",
});
const azure = (host: CodeHost, waits?: number[]): AzureSettings => ({
  ...quick(waits),
  collection: `${host.url}/org`,
  project: "etl",
  repository: "repo-1",
  workItemType: "Issue",
});

export const PULL = 5;

export const PLATFORMS: readonly PlatformUnderTest[] = [
  {
    name: "GitHub",
    collapses: true,
    pages: true,
    comments: (host, waits) => githubComments(githubSettings(host, waits), PULL),
    issues: (host) => githubIssues(githubSettings(host)),
    pullRequests: (host) => githubPullRequests(githubSettings(host)),
  },
  {
    name: "GitLab",
    collapses: false,
    pages: true,
    comments: (host, waits) => gitlabComments(gitlab(host, waits), PULL),
    issues: (host) => gitlabIssues(gitlab(host)),
    pullRequests: (host) => gitlabPullRequests(gitlab(host)),
  },
  {
    name: "Azure DevOps",
    collapses: true,
    pages: false,
    comments: (host, waits) => azureComments(azure(host, waits), PULL),
    issues: (host) => azureIssues(azure(host)),
    pullRequests: (host) => azurePullRequests(azure(host)),
  },
];
