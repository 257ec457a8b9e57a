import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Event, type JobResult, runJob } from "./github-runner.ts";
import { Site, STATE_KEY, specOf, WORKSPACE_TOKEN } from "./pipeline.ts";

const SECRETS = {
  WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_APPLY_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_FORK_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_STATE_KEY: STATE_KEY,
};

let site: Site;
beforeEach(async () => {
  site = await Site.open();
});
afterEach(() => site.close());

const run = (
  workflow: string,
  job: string,
  event: Event,
  secrets: Record<string, string> = SECRETS,
): Promise<JobResult> => {
  const { WORKSPACE_HOST = "", WORKSPACE_STATE = "" } = site.secrets();
  return runJob(site, { workflow, job, event, vars: { WORKSPACE_HOST, WORKSPACE_STATE }, secrets });
};

/** Merges `spec` into main and runs the apply workflow. */
async function merged(spec: string, number = 1): Promise<readonly JobResult[]> {
  const sha = site.commit({ "workspace.yaml": spec }, "refs/heads/main", number === 1 ? undefined : "main");
  const event = { ref: "refs/heads/main", payload: {}, number, sha };
  const planned = await run("workspace-apply", "plan", event);
  return planned.outputs.changes === "true"
    ? [planned, await run("workspace-apply", "apply", event)]
    : [planned];
}

function pullRequest(number: number, spec: string): Event {
  const sha = site.commit({ "workspace.yaml": spec }, "refs/heads/change", "main");
  site.commit({ "workspace.yaml": spec }, "refs/pull/5/merge", "main");
  return { ref: "refs/pull/5/merge", payload: { pull_request: { number: 5, head: { sha } } }, number };
}

describe("the workflows of GitHub", { timeout: 120_000 }, () => {
  test("apply the saved plan after a merge, and skip apply when nothing changes", async () => {
    const [planned, applied] = await merged(specOf(10));
    expect(planned?.code).toBe(0);
    expect(planned?.summary).toContain("pools.shared");
    expect({ code: applied?.code, output: applied?.output }).toMatchObject({ code: 0 });
    expect((await site.pool()).max_capacity).toBe(10);
    const again = await merged(specOf(10), 2);
    expect(again.map(({ outputs }) => outputs)).toMatchObject([{ changes: "false", "exit-code": "0" }]);
  });

  test("keep one comment on a pull request and minimize it when nothing is left", async () => {
    await merged(specOf(10));
    const first = await run("workspace-plan", "plan", pullRequest(7, specOf(20)));
    expect(first.code).toBe(0);
    expect(first.outputs).toMatchObject({ changes: "true", "exit-code": "2" });
    expect(site.host.comments.map(({ pull, collapsed }) => ({ pull, collapsed }))).toEqual([
      { pull: 5, collapsed: false },
    ]);
    expect(site.host.comments[0]?.body).toMatch(/^<!-- workspace:default -->\n<!-- workspace-run \S+ -->\n/);
    expect(site.host.comments[0]?.body).toContain("pools.shared");
    expect(site.host.comments[0]?.body).toContain("[Run](https://github.example/me/infra/actions/runs/77)");
    const outdated = await run("workspace-plan", "plan", { ...pullRequest(6, specOf(30)) });
    expect(outdated.output).toContain("Comment on pull request 5: outdated.");
    const last = await run("workspace-plan", "plan", pullRequest(8, specOf(10)));
    expect(last.outputs.changes).toBe("false");
    expect(site.host.comments).toHaveLength(1);
    expect(site.host.comments[0]?.collapsed).toBe(true);
    expect((await site.pool()).max_capacity).toBe(10);
  });

  test("fail and comment with the errors when the spec is not valid", async () => {
    await merged(specOf(10));
    const done = await run("workspace-plan", "plan", pullRequest(7, "pools: { shared: { nope: 1 } }\n"));
    expect(done.code).toBe(1);
    expect(done.output).toMatch(/^::error file=workspace\.yaml,line=1/m);
    expect(site.host.comments[0]?.body).toContain("SPEC_UNKNOWN_FIELD");
  });

  test("fail with the missing right when the token may not comment", async () => {
    await merged(specOf(10));
    site.host.faults.push({ match: /comments$/, status: 403, times: 9 });
    const done = await run("workspace-plan", "plan", pullRequest(7, specOf(20)));
    expect(done.code).toBe(1);
    expect(done.output).toContain('needs the right "pull-requests: write"');
    expect(done.summary).toContain("pools.shared");
  });

  test("check a fork without a secret, then plan its spec as data", async () => {
    await merged(specOf(10));
    // A hook, a filter, and a script of the fork: none may run.
    const marker = join(site.folder, "executed");
    const sha = site.commit(
      {
        "workspace.yaml": specOf(20),
        ".gitattributes": "* filter=evil\n",
        "package.json": JSON.stringify({ scripts: { preinstall: `touch ${marker}` } }),
      },
      "refs/pull/6/head",
      "main",
    );
    site.git(site.folder, "config", "--global", "filter.evil.smudge", `touch ${marker}; cat`);
    site.commit({ "workspace.yaml": specOf(20) }, "refs/pull/6/merge", "main");
    const event = {
      ref: "refs/pull/6/merge",
      payload: { pull_request: { number: 6, head: { sha } } },
      number: 3,
    };
    const checked = await runJob(site, {
      workflow: "workspace-plan",
      job: "check",
      event,
      vars: {},
      secrets: {},
    });
    expect({ code: checked.code, output: checked.output }).toMatchObject({ code: 0 });
    expect(checked.outputs.changes).toBe("true");
    expect(site.host.comments).toEqual([]);

    site.host.pulls.push({ number: 6, head: "mallory:main", sha });
    const followed = (head_sha: string): Event => ({
      ref: "refs/heads/main",
      number: 1,
      payload: {
        workflow_run: {
          run_number: 3,
          run_attempt: 1,
          head_sha,
          head_branch: "main",
          head_repository: { owner: { login: "mallory" } },
        },
      },
    });
    const planned = await run("workspace-fork", "plan", followed(sha));
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments.map(({ pull }) => pull)).toEqual([6]);
    expect(site.host.comments[0]?.body).toContain("max_capacity");
    expect(existsSync(marker)).toBe(false);

    const stale = await run("workspace-fork", "plan", followed("f".repeat(40)));
    expect(stale.code).toBe(0);
    expect(stale.output).toContain("Skipped: no open pull request has this commit as its head.");
  });

  test("open one issue for drift, update it, and close it", async () => {
    await merged(specOf(10));
    const scheduled = (number: number) =>
      run("workspace-drift", "drift", { ref: "refs/heads/main", payload: {}, number });
    expect((await scheduled(1)).output).toContain("Issue: nothing to report.");
    await site.changePool(99);
    const found = await scheduled(2);
    expect(found.code).toBe(0);
    expect(found.output).toContain("Issue: opened.");
    expect(site.host.issues[0]?.body).toContain("pools.shared");
    expect((await scheduled(3)).output).toContain("Issue: updated.");
    expect(site.host.issues[0]?.notes).toEqual([]);
    await site.changePool(10);
    expect((await scheduled(4)).output).toContain("Issue: closed.");
    expect(site.host.issues.map(({ open }) => open)).toEqual([false]);
  });

  test("fail and leave the issue when drift could not be read", async () => {
    await merged(specOf(10));
    await site.changePool(99);
    const event = { ref: "refs/heads/main", payload: {}, number: 2 };
    await run("workspace-drift", "drift", event);
    const done = await run(
      "workspace-drift",
      "drift",
      { ...event, number: 3 },
      { ...SECRETS, WORKSPACE_PLAN_TOKEN: "wrong" },
    );
    expect(done.code).toBe(1);
    expect(site.host.issues.map(({ open }) => open)).toEqual([true]);
  });

  test("keep the token of the platform from the program", async () => {
    await merged(specOf(10));
    const dump = join(site.folder, "environment");
    site.program = site.script("bin/program", `env >"${dump}"; exit 0`);
    await run("workspace-plan", "plan", pullRequest(7, specOf(20)));
    expect(readdirSync(site.folder)).toContain("environment");
    const { stdout } = await import("node:child_process").then(({ spawnSync }) =>
      spawnSync("grep", ["-c", "api-token", dump], { encoding: "utf8" }),
    );
    expect(stdout.trim()).toBe("0");
  });
});
