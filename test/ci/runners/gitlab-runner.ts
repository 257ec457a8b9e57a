// Runs a job of the GitLab file: its variables and its script in bash.

import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { TOKEN } from "../code-host/code-host.ts";
import {
  listOf,
  type Mapping,
  mappingOf,
  ROOT,
  readYaml,
  type Site,
  type StepResult,
  type Variables,
} from "./pipeline.ts";

export interface GitLabJob {
  readonly job: string;
  readonly ref: string;
  readonly pipeline: number;
  readonly variables: Variables;
  readonly secrets: Variables;
}

/** The files of a job as GitLab keeps them for later jobs. */
export interface GitLabResult extends StepResult {
  readonly cwd: string;
}

export interface Source {
  readonly url: string;
  readonly commit: string;
}

/** A repository in `folder` with the current files of this clone, and a commit to pin. */
export function sourceOf(folder: string): Source {
  for (const path of ["bin", "ci", "src", "schemas", "package.json", "package-lock.json"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const git = (...args: readonly string[]) =>
    spawnSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: folder,
      encoding: "utf8",
    }).stdout.trim();
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "source");
  // Every job fetches all of it, which is compressed for each of them unless it is in a pack.
  git("repack", "-a", "-d", "--quiet", "--window=0");
  return { url: `file://${folder}`, commit: git("rev-parse", "HEAD") };
}

export async function runGitLabJob(
  site: Site,
  source: Source,
  { job, ref, pipeline, variables, secrets }: GitLabJob,
  from?: GitLabResult,
): Promise<GitLabResult> {
  const file = readYaml("ci/gitlab/workspace.gitlab-ci.yml");
  const own = mappingOf(file[job]);
  const shared = mappingOf(file[String(own.extends)]);
  // This clone has the packages that npm would install.
  site.script("bin/npm", `echo "npm $*"; ln -s "${join(ROOT, "node_modules")}" node_modules`);
  // All jobs use one home: the first of them installs the program, as on a new runner.
  const cwd = site.checkout(ref, 50);
  if (from !== undefined)
    cpSync(from.cwd, cwd, { recursive: true, filter: (path) => !path.includes("/.git") });
  const home = join(site.folder, "home");
  const script = [...listOf(shared.before_script), ...listOf(own.script ?? shared.script)].join("\n");
  const given: Variables = {
    ...(mappingOf(file.variables) as Variables),
    ...(mappingOf(shared.variables) as Variables),
    ...(mappingOf(own.variables) as Variables),
  };
  const platform: Variables = {
    GITLAB_CI: "true",
    CI: "true",
    CI_API_V4_URL: `${site.host.url}/api/v4`,
    CI_PROJECT_ID: "42",
    CI_SERVER_URL: "https://gitlab.example",
    CI_SERVER_PROTOCOL: "https",
    CI_SERVER_HOST: "gitlab.example",
    CI_SERVER_PORT: "443",
    CI_JOB_TOKEN: "job-token",
    CI_PIPELINE_ID: String(pipeline),
    CI_JOB_ID: String(pipeline * 10),
    CI_JOB_URL: `https://gitlab.example/jobs/${pipeline}`,
    CI_COMMIT_SHA: site.git(cwd, "rev-parse", "HEAD"),
    ...variables,
  };
  const env = Object.fromEntries(
    Object.entries({ ...given, ...platform, ...secrets }).map(([name, value]) => [
      name,
      withVariables(value, platform),
    ]),
  );
  const done = await site.bash(script, cwd, {
    ...env,
    WORKSPACE_CI_SOURCE: source.url,
    WORKSPACE_CI_COMMIT: source.commit,
    WORKSPACE_CI_HOME: home,
  });
  return { ...done, cwd };
}

const withVariables = (value: string, variables: Variables): string =>
  value.replace(/^\$(\w+)$/, (_, name: string) => variables[name] ?? "");

export const apiToken: Variables = { WORKSPACE_CI_API_TOKEN: TOKEN };

/** Says whether the rules of `job` add it to a pipeline with `variables`. */
export function isAdded(job: string, variables: Variables): boolean {
  const { rules } = mappingOf(readYaml("ci/gitlab/workspace.gitlab-ci.yml")[job]) as {
    rules: readonly Mapping[];
  };
  return rules.some((rule) =>
    String(rule.if)
      .split(" && ")
      .every((term) => {
        const [left = "", operator, right = ""] = term.split(" ");
        const value = (text: string): string =>
          text.startsWith("$") ? (variables[text.slice(1)] ?? "") : JSON.parse(text);
        if (operator === undefined) return value(left) !== "";
        return operator === "==" ? value(left) === value(right) : value(left) !== value(right);
      }),
  );
}
