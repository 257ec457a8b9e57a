// The origin of a run: its commit and CI page, from environment variables, or the commit from git.

import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ciCommit, ciRunUrl, fromEnv, type ProcessContext } from "../../config/environment.ts";
import { checkoutsAround, gitOutput } from "../../config/programs.ts";
import { VERSION } from "../../config/version.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import { actorOf } from "../../workflow/session/open-state.ts";
import type { RunOrigin } from "../command/command.ts";

/** `usesGit`: git reads the configuration of the repository, so it does not run in one of an external contributor. */
export async function runOrigin(context: Invocation, usesGit: boolean): Promise<RunOrigin> {
  const { file: spec } = context;
  const target = context.targetName ?? context.target().settings?.name;
  const runUrl = ciRunUrl(context);
  const folder = dirname(spec);
  const root = checkoutsAround(folder)[0] ?? checkoutOf(context);
  const repository = repositoryOf(context);
  const repositoryUrl = httpUrl(repository?.url);
  const commit = ciCommit(context) ?? (usesGit ? await headOf(context, folder) : undefined);
  return {
    toolVersion: VERSION,
    madeAt: timeOfRun(context),
    spec,
    target,
    commit,
    runUrl,
    actor: actorOf(context),
    repositoryUrl,
    forge: repository?.forge,
    checkout: root === undefined ? undefined : { root, cwd: context.cwd },
  };
}

/** SOURCE_DATE_EPOCH, in seconds, makes reports that are the same byte for byte. */
function timeOfRun(context: ProcessContext): string {
  const fixed = fromEnv(context, "SOURCE_DATE_EPOCH");
  const ms = fixed !== undefined && /^\d{1,11}$/.test(fixed) ? Number(fixed) * 1000 : Date.now();
  return new Date(ms).toISOString();
}

/** Where a CI service put the repository, for a checkout without `.git`. */
function checkoutOf(context: ProcessContext): string | undefined {
  const names = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY"];
  return names.map((name) => fromEnv(context, name)).find((value) => value !== undefined);
}

/** GitHub, GitLab, or Azure Pipelines, which also build the repositories of other code hosts. */
function repositoryOf(context: ProcessContext): (Pick<RunOrigin, "forge"> & { url: string }) | undefined {
  const [server, repository, project, built] = [
    "GITHUB_SERVER_URL",
    "GITHUB_REPOSITORY",
    "CI_PROJECT_URL",
    "BUILD_REPOSITORY_URI",
  ].map((name) => fromEnv(context, name));
  if (server !== undefined && repository !== undefined)
    return { url: `${server}/${repository}`, forge: "github" };
  if (project !== undefined) return { url: project, forge: "gitlab" };
  if (built === undefined) return undefined;
  if (built.includes("/_git/")) return { url: built, forge: "azure" };
  return built.startsWith("https://github.com/") ? { url: built, forge: "github" } : { url: built };
}

function hash(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f]{7,64}$/i.test(text) ? text : undefined;
}

function httpUrl(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // The URL of a clone can contain a token.
  url.username = "";
  url.password = "";
  return url.href;
}

/** Undefined outside of a repository, in one without a commit, and where git is missing or refuses. */
async function headOf(context: ProcessContext, folder: string): Promise<string | undefined> {
  const root = checkoutsAround(folder)[0];
  if (root === undefined) return undefined;
  const plain = plainHead(root);
  if (plain !== undefined) return plain;
  return hash(
    await gitOutput(context, ["-C", folder, "rev-parse", "--verify", "HEAD"], [context.cwd, folder]),
  );
}

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
    const stats = lstatSync(path);
    return stats.isFile() && stats.size < LONGEST ? readFileSync(path, "utf8").trim() : undefined;
  } catch {
    return undefined;
  }
}
