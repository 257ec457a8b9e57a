import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BIN } from "../cli/program.ts";
import { TOKEN } from "./code-host/code-host.ts";
import { argumentsIn, basic, startGitServer } from "./runners/git-server.ts";
import {
  apiToken,
  type GitLabResult,
  isAdded,
  runGitLabJob,
  type Source,
  sourceOf,
} from "./runners/gitlab-runner.ts";
import { listOf, mappingOf, readYaml, Site, specOf, type Variables } from "./runners/pipeline.ts";
import { expectProposal } from "./runners/proposal.ts";

let site: Site;
let source: Source;
const sourceFolder = mkdtempSync(join(tmpdir(), "ci-source-"));

const run = (job: string, ref: string, pipeline: number, variables: Variables = {}, from?: GitLabResult) =>
  runGitLabJob(
    site,
    source,
    { job, ref, pipeline, variables, secrets: { ...site.secrets(), ...apiToken } },
    from,
  );

let saved: GitLabResult;
let applied: GitLabResult;
beforeAll(async () => {
  source = sourceOf(sourceFolder);
  site = await Site.open();
  site.program = undefined;
  site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
  saved = await run("workspace-save-plan", "main", 1);
  applied = await run("workspace-apply", "main", 1, {}, saved);
  site.program = BIN;
}, 120_000);
afterEach(() => site.reset());
afterAll(async () => {
  await site.close();
  rmSync(sourceFolder, { recursive: true, force: true, maxRetries: 5 });
});

/** The report files that `job` names and `done` did not write. */
function missingReports(job: string, { cwd }: GitLabResult): readonly unknown[] {
  const { reports } = mappingOf(mappingOf(readYaml("ci/gitlab/workspace.gitlab-ci.yml")[job]).artifacts);
  const paths = Object.values(mappingOf(reports));
  expect(paths.length).toBeGreaterThan(0);
  return paths.filter((path) => !existsSync(join(cwd, String(path))));
}

describe("the jobs of GitLab", { timeout: 120_000 }, () => {
  test("save a plan after a merge and apply it once", async () => {
    expect({ code: saved.code, output: saved.output }).toMatchObject({ code: 0 });
    expect(saved.output).toContain("npm ci --omit=dev --ignore-scripts");
    expect(missingReports("workspace-save-plan", saved)).toEqual([]);
    const outputs = readFileSync(join(saved.cwd, "workspace-reports/workspace.env"), "utf8");
    expect(outputs).toBe("WORKSPACE_EXIT_CODE=2\nWORKSPACE_CHANGES=true\n");
    expect({ code: applied.code, output: applied.output }).toMatchObject({ code: 0 });
    expect(missingReports("workspace-apply", applied)).toEqual([]);
    expect((await site.pool()).max_capacity).toBe(10);
    const stale = await run("workspace-apply", "main", 1, {}, saved);
    expect({ code: stale.code, output: stale.output }).toMatchObject({ code: 4 });
    expect(missingReports("workspace-apply", stale)).toEqual([]);
  });

  test("keep one comment on a merge request, in one line when nothing is left", async () => {
    const base = site.git(site.origin, "rev-parse", "main");
    const request = { CI_MERGE_REQUEST_IID: "5", CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
    const change = site.commit({ "workspace.yaml": specOf(20) }, "refs/heads/change");
    const planned = await run("workspace-plan", "refs/heads/change", 7, request);
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments[0]?.body).toContain("pools.shared");
    expect(site.host.comments[0]?.body).toContain("1 caused by this change");
    expect(missingReports("workspace-plan", planned)).toEqual([]);
    const page = "https://gitlab.example/jobs/7/artifacts/file/workspace-reports/report.html";
    expect(site.host.comments[0]?.body).toContain(`\n[All changes as a page](${page}): report.html\n`);
    expect(
      JSON.parse(readFileSync(join(planned.cwd, "workspace-reports/terraform.json"), "utf8")),
    ).toMatchObject({
      create: 0,
      update: 1,
      delete: 0,
    });
    // What an outdated run found does not matter.
    site.program = site.script("bin/program", "exit 2");
    expect((await run("workspace-plan", "refs/heads/change", 6, request)).output).toContain("outdated");
    site.program = BIN;
    site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/change", change);
    await run("workspace-plan", "refs/heads/change", 8, request);
    expect(site.host.comments).toHaveLength(1);
    expect(site.host.comments[0]?.body).toMatch(
      /\nThis merge request has no changes for `default`\.\n\n\[Run\]\(\S+\), commit \w{12}\n$/,
    );
  });

  test("plan the merge of a branch that is behind main, and say where it has conflicts", async () => {
    const parted = site.git(site.origin, "rev-parse", "main");
    const request = {
      CI_MERGE_REQUEST_IID: "5",
      CI_MERGE_REQUEST_DIFF_BASE_SHA: parted,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
    };
    site.commit({ "workspace.yaml": `groups: { mine: {} }\n${specOf(10)}` }, "refs/heads/change");
    site.commit({ "workspace.yaml": `${specOf(10)}users: { theirs@example.com: {} }\n` }, "refs/heads/main");
    await run("workspace-apply", "main", 12, {}, await run("workspace-save-plan", "main", 12));
    const behind = await run("workspace-plan", "refs/heads/change", 13, request);
    expect({ code: behind.code, output: behind.output }).toMatchObject({ code: 0 });
    const [{ body = "" } = {}] = site.host.comments;
    expect(body).toContain("Plan: 1 to create, 0 to update, 0 to replace, 0 to delete.");
    expect(body).toContain("groups.mine");
    expect(body).toContain("0 already pending");
    expect(body).not.toContain("theirs");
    site.commit({ "workspace.yaml": `${specOf(10)}groups: { mine: {} }\n` }, "refs/heads/change", parted);
    const conflicting = await run("workspace-plan", "refs/heads/change", 14, request);
    expect({ code: conflicting.code, output: conflicting.output }).toMatchObject({ code: 0 });
    expect(site.host.comments[0]?.body).toMatch(
      /^<!-- workspace:default -->\n<!-- workspace-run .*-->\n> \*\*Note\*\*: This is the plan of the branch alone, because it cannot be merged with `main` here\./,
    );
    expect(site.host.comments[0]?.body.match(/<!-- workspace:default -->/g)).toHaveLength(1);
  });

  test("plan a branch that contains main unchanged, and main in place of a branch that it contains", async () => {
    const parted = site.git(site.origin, "rev-parse", "main");
    const main = site.commit({ "later.txt": "later" }, "refs/heads/main");
    const ahead = site.commit({ "workspace.yaml": specOf(20) }, "refs/heads/ahead");
    site.git(site.origin, "update-ref", "refs/heads/contained", parted);
    site.program = site.script("bin/program", "exit 0");
    const planned = async (branch: string, pipeline: number, base: string) => {
      const { cwd } = await run("workspace-plan", `refs/heads/${branch}`, pipeline, {
        CI_MERGE_REQUEST_IID: "5",
        CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      });
      return (revision: string) => site.git(cwd, "rev-parse", revision);
    };
    expect((await planned("ahead", 15, main))("HEAD")).toBe(ahead);
    const contained = await planned("contained", 16, parted);
    expect(contained("HEAD^{tree}")).toBe(contained(`${main}^{tree}`));
  });

  test("check a fork without a variable of the project, and plan its spec as data on request", async () => {
    site.commit({ "workspace.yaml": specOf(20) }, "refs/merge-requests/6/head");
    const job = "workspace-check";
    const ref = "refs/merge-requests/6/head";
    const base = site.git(site.origin, "rev-parse", "main");
    const variables = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
    const checked = await runGitLabJob(site, source, { job, ref, pipeline: 2, variables, secrets: {} });
    expect({ code: checked.code, output: checked.output }).toMatchObject({ code: 0 });
    expect(missingReports(job, checked)).toEqual([]);
    expect(site.host.requests).toEqual([]);
    const planned = await run("workspace-fork", "main", 3, { WORKSPACE_CI_PULL_REQUEST: "6" });
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments.map(({ pull }) => pull)).toEqual([6]);
    expect(site.host.comments[0]?.body).toContain("max_capacity");
  });

  test("open one issue for drift and close it", async () => {
    await site.changePool(99);
    const found = await run("workspace-drift", "main", 2);
    expect(found.output).toContain("Issue: opened.");
    expect(missingReports("workspace-drift", found)).toEqual([]);
    await site.changePool(10);
    expect((await run("workspace-drift", "main", 3)).output).toContain("Issue: closed.");
    expect(site.host.issues.map(({ open }) => open)).toEqual([false]);
  });

  test("open one merge request that accepts drift, update it, and close it when no drift is left", async () => {
    let pipeline = 40;
    const variables = { CI_COMMIT_BRANCH: "main", WORKSPACE_CI_ADDRESSES: "*" };
    const style = { authorization: basic("oauth2", TOKEN), user: "gitlab-ci-token:job-token" };
    await expectProposal(site, style, () => {
      pipeline += 1;
      return run("workspace-accept", "main", pipeline, variables);
    });
  });

  test("apply the plan of an older pipeline only if the spec of the branch is the same", async () => {
    const older = site.commit({ "workspace.yaml": specOf(30) }, "refs/heads/main");
    const merged = await run("workspace-save-plan", "main", 2);
    site.commit({ "later.txt": "later" }, "refs/heads/main");
    site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
    const undone = await run("workspace-apply", older, 2, { CI_COMMIT_BRANCH: "main" }, merged);
    expect({ code: undone.code, output: undone.output }).toMatchObject({ code: 4 });
    expect(undone.output).toContain("its plan is applied only if the spec is the same");
    expect((await site.pool()).max_capacity).toBe(10);
    site.commit({ "workspace.yaml": specOf(30), "later.txt": "again" }, "refs/heads/main");
    const other = await run("workspace-apply", older, 2, { CI_COMMIT_BRANCH: "main" }, merged);
    expect({ code: other.code, output: other.output }).toMatchObject({ code: 0 });
    expect((await site.pool()).max_capacity).toBe(30);
  });

  test("stop when the source is not at the pinned commit", async () => {
    const other = { ...source, commit: "master" };
    const job = { job: "workspace-drift", ref: "main", pipeline: 2, variables: {}, secrets: {} };
    const done = await runGitLabJob(site, other, job);
    expect(done.code).not.toBe(0);
    expect(done.output).not.toContain("npm");
    expect(site.host.requests).toEqual([]);
  });
});

describe("the rules of GitLab", () => {
  const JOBS = ["plan", "check", "fork", "save-plan", "apply", "drift", "accept"];
  const added = (variables: Variables) =>
    JOBS.filter((job) =>
      isAdded(`workspace-${job}`, { CI_DEFAULT_BRANCH: "main", CI_PROJECT_ID: "42", ...variables }),
    );
  const request = { CI_PIPELINE_SOURCE: "merge_request_event", CI_MERGE_REQUEST_PROJECT_ID: "42" };

  test.each([
    ["an own branch", { ...request, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "42" }, ["plan"]],
    ["a fork", { ...request, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "9", CI_PROJECT_ID: "9" }, ["check"]],
    ["a fork in this project", { ...request, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "9" }, ["check"]],
    ["a push to main", { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main" }, ["save-plan", "apply"]],
    ["a push to a branch", { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "x" }, []],
    ["a schedule", { CI_PIPELINE_SOURCE: "schedule", CI_COMMIT_BRANCH: "main" }, ["drift"]],
    [
      "a request",
      { CI_PIPELINE_SOURCE: "web", CI_COMMIT_BRANCH: "main", WORKSPACE_CI_PULL_REQUEST: "6" },
      ["fork"],
    ],
    [
      "a request with addresses",
      { CI_PIPELINE_SOURCE: "web", CI_COMMIT_BRANCH: "main", WORKSPACE_CI_ADDRESSES: "*" },
      ["accept"],
    ],
    [
      "a request on a branch",
      { CI_PIPELINE_SOURCE: "web", CI_COMMIT_BRANCH: "x", WORKSPACE_CI_PULL_REQUEST: "6" },
      [],
    ],
  ])("choose the jobs of %s", (_, variables, jobs) => {
    expect(added(variables)).toEqual(jobs);
  });

  test.each([
    ["", "the server of the project"],
    ["/gitlab", "a server in a folder"],
  ])("fetch a private clone with the job token, which no argument contains: %s", async (folder) => {
    const token = "glcbt-64_job token%2F";
    const server = await startGitServer(site.folder, basic("gitlab-ci-token", token));
    const other = await startGitServer(site.folder, basic("gitlab-ci-token", token));
    try {
      const steps = listOf(
        mappingOf(readYaml("ci/gitlab/workspace.gitlab-ci.yml")[".workspace"]).before_script,
      ).slice(0, 2);
      const repository = join(site.folder, `gitlab${folder === "" ? "" : "/gitlab"}/tools.git`);
      if (!existsSync(repository))
        site.git(site.folder, "clone", "--quiet", "--bare", site.origin, repository);
      const trace = join(site.folder, `trace${folder.replace("/", "-")}.json`);
      const fetched = (url: string) =>
        site.bash(`rm -rf "$WORKSPACE_CI_HOME"\n${steps.join("\n")}`, site.folder, {
          WORKSPACE_CI_HOME: join(site.folder, "private"),
          WORKSPACE_CI_SOURCE: `${url}/gitlab${folder}/tools.git`,
          WORKSPACE_CI_COMMIT: site.git(site.origin, "rev-parse", "main"),
          CI_SERVER_URL: `${server.url}/gitlab${folder}`,
          CI_JOB_TOKEN: token,
          GIT_TERMINAL_PROMPT: "0",
          GIT_TRACE2_EVENT: trace,
          GIT_TRACE2_REDACT: "0",
        });
      expect(await fetched(server.url)).toMatchObject({ code: 0 });
      const words = argumentsIn(trace);
      expect(words.filter((one) => one.includes("remote-http")).length).toBeGreaterThan(0);
      expect(words.filter((one) => one.includes("glcbt"))).toEqual([]);
      // Another server that asks does not get it.
      expect(await fetched(other.url)).toMatchObject({ code: 128 });
    } finally {
      server.close();
      other.close();
    }
  });

  test("pin the image and the program", () => {
    const file = readYaml("ci/gitlab/workspace.gitlab-ci.yml");
    expect(mappingOf(file[".workspace"]).image).toMatch(/^node:\d+\.\d+\.\d+-\w+$/);
    expect(mappingOf(file.variables).WORKSPACE_CI_COMMIT).toBe("COMMIT");
  });
});
