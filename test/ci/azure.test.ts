import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BIN } from "../cli/program.ts";
import { TOKEN } from "./code-host/code-host.ts";
import { type AzureResult, runAzureJob, stagesOf, stepsOf } from "./runners/azure-runner.ts";
import { listOf, mappingOf, readYaml, Site, specOf } from "./runners/pipeline.ts";
import { expectProposal } from "./runners/proposal.ts";

let site: Site;
let saved: AzureResult;
let applied: AzureResult;

const run = (stage: string, ref: string, build: number, more: Readonly<Record<string, string>> = {}) =>
  runAzureJob(site, { stage, ref, build, variables: { ...site.secrets(), ...more } });

beforeAll(async () => {
  site = await Site.open();
  site.program = undefined;
  site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
  saved = await run("save", "main", 1);
  applied = await run("apply", "main", 1);
  site.program = BIN;
}, 120_000);
afterEach(() => site.reset());
afterAll(() => site.close());

describe("the stages of Azure Pipelines", { timeout: 120_000 }, () => {
  test("save a plan after a merge and apply it once", async () => {
    expect({ code: saved.code, output: saved.output }).toMatchObject({ code: 0 });
    expect(saved.output).toContain("##vso[task.uploadsummary]");
    expect({ code: applied.code, output: applied.output }).toMatchObject({ code: 0 });
    expect(applied.published).toEqual(
      expect.arrayContaining(["junit.xml", "metrics.prom", "report.html", "summary.md"]),
    );
    expect((await site.pool()).max_capacity).toBe(10);
    const stale = await run("apply", "main", 2);
    expect({ code: stale.code, output: stale.output }).toMatchObject({ code: 4 });
    expect(stale.published).toContain("summary.md");
  });

  test("keep one thread on a pull request and close it when nothing is left", async () => {
    const head = site.pull(5, { "workspace.yaml": specOf(20) });
    const request = { SYSTEM_PULLREQUEST_PULLREQUESTID: "5", SYSTEM_PULLREQUEST_SOURCECOMMITID: head };
    const planned = await run("plan", "refs/pull/5/merge", 7, request);
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments[0]?.body).toContain("1 caused by this change");
    expect(site.host.comments[0]?.body).toContain(`commit ${head.slice(0, 12)}`);
    expect(planned.published).toEqual(expect.arrayContaining(["report.md", "report.html", "junit.xml"]));
    expect(site.host.comments[0]?.body).toMatch(
      /\n\[All changes as a page\]\(\S+buildId=\d+&view=artifacts&pathAsName=false&type=publishedArtifacts\)/,
    );
    // What an outdated run found does not matter.
    site.program = site.script("bin/program", "exit 2");
    expect((await run("plan", "refs/pull/5/merge", 6, request)).output).toContain("outdated");
    site.program = BIN;
    site.pull(5, { "workspace.yaml": specOf(10) });
    await run("plan", "refs/pull/5/merge", 8, request);
    expect(site.host.comments.map(({ collapsed }) => collapsed)).toEqual([true]);
  });

  test("check a fork without a variable of the project, and plan its spec as data on request", async () => {
    const head = site.pull(6, { "workspace.yaml": specOf(20) });
    const check = { stage: "check", ref: "refs/pull/6/merge", build: 2, variables: {} };
    expect((await runAzureJob(site, check)).code).toBe(0);
    expect(site.host.requests).toEqual([]);
    const fork = { stage: "fork", ref: "main", build: 3, variables: site.secrets(), pullRequest: "6" };
    const planned = await runAzureJob(site, fork);
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments.map(({ pull }) => pull)).toEqual([6]);
    expect(site.host.comments[0]?.body).toContain("max_capacity");
    expect(site.host.comments[0]?.body).toContain(`commit ${head.slice(0, 12)}`);
  });

  test("check a fork of a spec whose targets name their states, which the fork cannot choose", async () => {
    const targets = "targets: { dev: { default: true, state: 'workspace:/Shared/.states/dev' } }\n";
    site.pull(11, { "workspace.yaml": targets + specOf(20) });
    const check = { stage: "check", ref: "refs/pull/11/merge", build: 34, variables: {} };
    const { code, output } = await runAzureJob(site, check);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain("offline because");
  });

  test("say in the comment of a fork why its plan is offline", async () => {
    site.pull(9, { "workspace.yaml": specOf(20) });
    const { WORKSPACE_HOST: _, WORKSPACE_STATE: __, ...variables } = site.secrets();
    const fork = { stage: "fork", ref: "main", build: 33, variables, pullRequest: "9" };
    const planned = await runAzureJob(site, fork);
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    const body = site.host.comments.find(({ pull }) => pull === 9)?.body;
    expect(body).toContain("offline because neither WORKSPACE_HOST nor WORKSPACE_PROFILE is set");
  });

  test("open one work item for drift and close it", async () => {
    await site.changePool(99);
    expect((await run("drift", "main", 2)).output).toContain("Issue: opened.");
    await site.changePool(10);
    expect((await run("drift", "main", 3)).output).toContain("Issue: closed.");
    expect(site.host.issues.map(({ open }) => open)).toEqual([false]);
  });

  test("open one pull request that accepts drift, update it, and close it when no drift is left", async () => {
    let build = 40;
    await expectProposal(site, { authorization: `Bearer ${TOKEN}`, user: "org" }, () => {
      build += 1;
      const variables = site.secrets();
      return runAzureJob(site, {
        stage: "accept",
        ref: "main",
        build,
        variables,
        acceptDrift: "pools.*",
      });
    });
  });

  test("do not take a variable that is not set for a key", async () => {
    const dump = join(site.folder, "environment");
    site.program = site.script("bin/program", `env >"${dump}"; exit 0`);
    const { WORKSPACE_STATE_KEY: _, ...secrets } = site.secrets();
    const done = await runAzureJob(site, { stage: "save", ref: "main", build: 9, variables: secrets });
    expect({ code: done.code, output: done.output }).toMatchObject({ code: 0 });
    const given = readFileSync(dump, "utf8");
    expect(given).toContain("WORKSPACE_TOKEN=");
    expect(given).not.toContain("WORKSPACE_STATE_KEY");
    expect(given).not.toContain("SYSTEM_ACCESSTOKEN");
  });
});

describe("the file of Azure Pipelines", () => {
  test("gives variables and the token of the platform only where they are needed", () => {
    const shown = stagesOf().map(({ stage }) => {
      const template = stepsOf(String(stage)).find((step) => step.template !== undefined);
      const { comment, issue, untrusted, environment } = mappingOf(template?.parameters);
      return [
        stage,
        comment ?? issue ?? "-",
        untrusted ?? "-",
        environment === undefined ? "no variables" : "variables",
      ];
    });
    expect(shown).toEqual([
      ["plan", "true", "-", "variables"],
      ["check", "-", "true", "no variables"],
      ["fork", "true", "true", "variables"],
      ["accept", "-", "-", "variables"],
      ["save", "-", "-", "variables"],
      ["apply", "-", "-", "variables"],
      ["drift", "true", "-", "variables"],
    ]);
  });

  test("runs for one merge at a time, so that no waiting plan undoes a later one", () => {
    expect(readYaml("ci/azure-pipelines/azure-pipelines.yml").trigger).toMatchObject({ batch: "true" });
  });

  test("applies in an environment, and stays out of the stages of pull requests from forks", () => {
    const conditions = Object.fromEntries(stagesOf().map(({ stage, condition }) => [stage, condition]));
    expect(conditions.plan).toContain("ne(variables['System.PullRequest.IsFork'], 'True')");
    expect(conditions.check).toContain("eq(variables['System.PullRequest.IsFork'], 'True')");
    expect(conditions.fork).toContain("'refs/heads/main'");
    expect(conditions.save).toBe(
      "or(in(variables['Build.Reason'], 'IndividualCI', 'BatchedCI'), " +
        "and(eq(variables['Build.Reason'], 'Manual'), eq(variables['Build.SourceBranch'], 'refs/heads/main')))",
    );
    // A run that plans the pull request of a fork has neither of the two.
    const only = "$" + "{{ if and(eq(parameters.pullRequest, 'none'), eq(parameters.acceptDrift, 'none')) }}";
    const below = Object.fromEntries(
      listOf(readYaml("ci/azure-pipelines/azure-pipelines.yml").stages).flatMap((one) =>
        Object.entries(mappingOf(one)),
      ),
    );
    expect(listOf(below[only]).map((one) => mappingOf(one).stage)).toEqual(["save", "apply"]);
    const [job] = (stagesOf().find(({ stage }) => stage === "apply")?.jobs ?? []) as readonly Record<
      string,
      unknown
    >[];
    expect(job?.environment).toBe("workspace-apply");
  });
});
