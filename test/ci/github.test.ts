import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BIN } from "../cli/program.ts";
import { TOKEN } from "./code-host/code-host.ts";
import { basic } from "./runners/git-server.ts";
import { type Event, type JobResult, runJob } from "./runners/github-runner.ts";
import { HOSTILE, Site, STATE_KEY, specOf, WORKSPACE_TOKEN } from "./runners/pipeline.ts";
import { expectProposal } from "./runners/proposal.ts";

const SECRETS = {
  WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_APPLY_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_FORK_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_DRIFT_TOKEN: WORKSPACE_TOKEN,
  WORKSPACE_STATE_KEY: STATE_KEY,
};

let site: Site;
let saved: JobResult;
let applied: JobResult;

const run = (
  workflow: string,
  job: string,
  event: Event,
  secrets: Record<string, string> = SECRETS,
): Promise<JobResult> => {
  const { WORKSPACE_HOST = "", WORKSPACE_STATE = "" } = site.secrets();
  return runJob(site, { workflow, job, event, vars: { WORKSPACE_HOST, WORKSPACE_STATE }, secrets });
};

const onMain = (number: number, sha: string): Event => ({ ref: "refs/heads/main", payload: {}, number, sha });

function pullRequest(number: number, spec: string): Event {
  const sha = site.pull(5, { "workspace.yaml": spec });
  return {
    ref: "refs/pull/5/merge",
    payload: { pull_request: { number: 5, head: { sha }, base: { ref: "main" } } },
    number,
  };
}

const report = (name: string): string =>
  readFileSync(join(site.folder, "temp/workspace-reports", name), "utf8");

/** The lines that the runner of GitHub would take for commands. */
const commands = (output: string): readonly string[] =>
  output.split(/[\r\n]+/).filter((line) => /^\s*::|##\[/.test(line));

beforeAll(async () => {
  site = await Site.open();
  site.program = undefined;
  const sha = site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
  saved = await run("workspace-apply", "plan", onMain(1, sha));
  applied = await run("workspace-apply", "apply", onMain(1, sha));
  site.program = BIN;
}, 120_000);
afterEach(() => site.reset());
afterAll(() => site.close());

describe("the workflows of GitHub", { timeout: 120_000 }, () => {
  test("apply the saved plan after a merge once, and skip apply when nothing changes", async () => {
    expect({ code: saved.code, output: saved.output }).toMatchObject({ code: 0 });
    expect(saved.outputs).toMatchObject({ changes: "true", "exit-code": "2" });
    expect(saved.summary).toContain("pools.shared");
    expect({ code: applied.code, output: applied.output }).toMatchObject({ code: 0 });
    expect(applied.summary).toContain("pools.shared");
    expect((await site.pool()).max_capacity).toBe(10);
    const stale = await run("workspace-apply", "apply", onMain(1, "e".repeat(40)));
    expect(stale).toMatchObject({ code: 4, outputs: { "exit-code": "4", changes: "false" } });
    expect(stale.summary).toContain("PLAN_STALE");
    const again = await run("workspace-apply", "plan", onMain(2, "e".repeat(40)));
    expect(again.outputs).toMatchObject({ changes: "false", "exit-code": "0" });
  });

  test("plan the merge of a pull request with the present main, also if the platform merged it with an older one", async () => {
    const older = site.git(site.origin, "rev-parse", "main");
    const event = pullRequest(80, specOf(20));
    const sha = site.commit({ "workspace.yaml": `groups: { theirs: {} }\n${specOf(10)}` }, "refs/heads/main");
    await run("workspace-apply", "plan", onMain(81, sha));
    expect((await run("workspace-apply", "apply", onMain(81, sha))).code).toBe(0);
    const behind = await run("workspace-plan", "plan", event);
    expect({ code: behind.code, output: behind.output }).toMatchObject({ code: 0 });
    const [{ body = "" } = {}] = site.host.comments;
    expect(body).toContain(
      "Compared with origin/main: 1 caused by this change &#40;1 to update&#41;, 0 already pending",
    );
    expect(body).not.toContain("theirs");
    // A merge that conflicts with the present main.
    site.commit({ "workspace.yaml": `groups: { theirs: {} }\n${specOf(15)}` }, "refs/heads/main");
    const conflicting = await run("workspace-plan", "plan", { ...event, number: 82 });
    expect({ code: conflicting.code, output: conflicting.output }).toMatchObject({ code: 0 });
    const [{ body: last = "" } = {}] = site.host.comments;
    const name = older.slice(0, 12);
    expect(last).toContain(
      `> **Note**: This is the plan of the merge with commit ${name} of \`main\`, because the present \`main\` cannot be merged here. What that branch has since would be undone by this plan, but not by a merge.`,
    );
    expect(last).toContain(`Compared with ${name}: `);
    const restored = site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
    await run("workspace-apply", "plan", onMain(83, restored));
    expect((await run("workspace-apply", "apply", onMain(83, restored))).code).toBe(0);
  });

  test("keep one comment on a pull request and minimize it when nothing is left", async () => {
    const event = pullRequest(7, specOf(20));
    const first = await run("workspace-plan", "plan", event);
    expect({ code: first.code, output: first.output }).toMatchObject({ code: 0 });
    expect(first.outputs.changes).toBe("true");
    expect(site.host.comments).toHaveLength(1);
    const [comment] = site.host.comments;
    expect(comment?.body).toContain("pools.shared");
    expect(comment?.body).toContain("Compared with origin/main: 1 caused by this change");
    // The runner checks out a merge; people know the head of the pull request.
    const { head } = (event.payload as { pull_request: { head: { sha: string } } }).pull_request;
    expect(comment?.body).toContain(`commit ${head.sha.slice(0, 12)}`);
    expect(comment?.body).toContain("[run](https://github.example/me/infra/actions/runs/77)");
    const reports = [
      "junit.xml",
      "metrics.prom",
      "report.json",
      "report.md",
      "summary.md",
      "workspace.sarif",
    ];
    expect(readdirSync(first.outputs.reports ?? "")).toEqual(expect.arrayContaining(reports));
    expect(first.outputs.sarif).toBe(join(first.outputs.reports ?? "", "workspace.sarif"));
    // The name of the file is the name of the artifact, of which a run has one for each job.
    expect(first.outputs.page).toBe(join(first.outputs.reports ?? "", "workspace-plan-default.html"));
    expect(readFileSync(first.outputs.page ?? "", "utf8")).toContain("pools.shared");
    const artifacts = "https://github.example/me/infra/actions/runs/77#artifacts";
    expect(comment?.body).toContain(`\n[All changes as a page](${artifacts}): workspace-plan-default.html\n`);
    expect(report("metrics.prom")).toContain(
      'workspace_differences{command="plan",target="default",kind="pools"',
    );

    // What an outdated run found does not matter.
    site.program = site.script("bin/program", "exit 2");
    const outdated = await run("workspace-plan", "plan", { ...event, number: 6 });
    site.program = BIN;
    expect(outdated.output).toContain("Comment on pull request 5: outdated.");
    const last = await run("workspace-plan", "plan", pullRequest(8, specOf(10)));
    expect(last.outputs.changes).toBe("false");
    expect(site.host.comments.map(({ collapsed }) => collapsed)).toEqual([true]);
    expect((await site.pool()).max_capacity).toBe(10);
  });

  test("fail and comment with the errors when the spec is not valid", async () => {
    const done = await run("workspace-plan", "plan", pullRequest(7, "pools: { shared: { nope: 1 } }\n"));
    expect(done.code).toBe(1);
    expect(done.output).toMatch(/^::error file=workspace\.yaml,line=1/m);
    expect(site.host.comments[0]?.body).toContain("SPEC_UNKNOWN_FIELD");
  });

  test("fail with the missing right when the token may not comment", async () => {
    site.host.faults.push({ match: /comments$/, status: 403, times: 9 });
    const done = await run("workspace-plan", "plan", pullRequest(7, specOf(20)));
    expect(done.code).toBe(1);
    expect(done.output).toContain('needs the right "pull-requests: write"');
    expect(done.summary).toContain("pools.shared");
  });

  test("check a fork without a secret, then plan its spec as data, and execute none of its strings", async () => {
    const executed = join(site.folder, "executed");
    const name = JSON.stringify(HOSTILE);
    const head = site.pull(6, {
      "workspace.yaml": `${specOf(20)}groups:\n  ${name}: {}\n  ${JSON.stringify("\u2028\u0085::error::x")}: {}\nnotebooks:\n  /Shared/n: { source: link.py }\n`,
      // A filter, a script, a name for a shell, and a link to what the runner knows: none may have an effect.
      ".gitattributes": "* filter=evil export-subst\n",
      "package.json": JSON.stringify({ scripts: { preinstall: `touch ${executed}` } }),
      [`notebooks/$(touch ${"executed"})\n::error::x.py`]: "print(1)\n",
      "link.py": "symlink:/proc/self/environ",
    });
    const event = {
      ref: "refs/pull/6/merge",
      payload: { pull_request: { number: 6, head: { sha: head, ref: HOSTILE } } },
      number: 3,
    };
    const checked = await runJob(site, {
      workflow: "workspace-plan",
      job: "check",
      event,
      vars: {},
      secrets: {},
    });
    expect(site.host.requests).toEqual([]);

    site.host.pulls.push({ number: 6, head: `mallory:${HOSTILE}`, sha: head });
    const followed = (head_sha: string): Event => ({
      ...onMain(1, "0".repeat(40)),
      payload: {
        workflow_run: {
          id: 73,
          run_number: 1,
          run_attempt: 1,
          head_sha,
          head_branch: HOSTILE,
          head_repository: { owner: { login: "mallory" } },
        },
      },
    });
    // A filter that the machine has, such as that of Git LFS.
    site.git(site.folder, "config", "--global", "filter.evil.smudge", `touch ${executed}; cat`);
    const planned = await run("workspace-fork", "plan", followed(head));
    site.git(site.folder, "config", "--global", "--unset", "filter.evil.smudge");
    for (const done of [checked, planned]) {
      expect(done.output).toContain("link.py");
      expect(done.output).not.toContain(WORKSPACE_TOKEN);
      expect(
        commands(done.output).filter((line) => !/^::(?:error|warning|notice) (?:file|title)=/.test(line)),
      ).toEqual([]);
      expect(Object.keys(done.outputs).sort()).toEqual(["changes", "exit-code", "page", "reports", "sarif"]);
      expect(done.summary).not.toContain(WORKSPACE_TOKEN);
    }
    expect(site.host.comments.map(({ pull }) => pull)).toEqual([6]);
    expect(site.host.comments[0]?.body.match(/<!-- workspace:/g)).toHaveLength(1);
    expect(existsSync(executed)).toBe(false);

    const stale = await run("workspace-fork", "plan", followed("f".repeat(40)));
    expect(stale.code).toBe(0);
    expect(stale.output).toContain("Skipped: no open pull request has this commit as its head.");
  });

  test("plan a fork against the base that it is merged into", async () => {
    const from = site.git(site.origin, "rev-parse", "main");
    site.commit({ "workspace.yaml": specOf(10), "other.yaml": "x" }, "refs/heads/main");
    const sha = site.pull(6, { "workspace.yaml": specOf(20) }, from);
    site.host.pulls.push({ number: 6, head: "mallory:main", sha });
    const workflow_run = {
      id: 74,
      run_number: 1,
      head_sha: sha,
      head_branch: "main",
      head_repository: { owner: { login: "mallory" } },
    };
    const planned = await run("workspace-fork", "plan", { ...onMain(1, from), payload: { workflow_run } });
    expect({ code: planned.code, output: planned.output }).toMatchObject({ code: 0 });
    expect(site.host.comments[0]?.body).toContain("1 caused by this change");
    expect(site.host.comments[0]?.body).toContain("max_capacity");
    expect(site.host.comments[0]?.body).toContain(`commit ${sha.slice(0, 12)}`);
  });

  test("open one issue for drift, keep it when drift could not be read, and close it", async () => {
    const scheduled = (number: number, secrets = SECRETS) =>
      run("workspace-drift", "drift", onMain(number, "d".repeat(40)), secrets);
    await site.changePool(99);
    const found = await scheduled(2);
    expect({ code: found.code, output: found.output }).toMatchObject({ code: 0 });
    expect(found.output).toContain("Issue: opened.");
    expect(found.outputs.changes).toBe("true");
    expect(site.host.issues[0]?.body).toContain("pools.shared");
    const known = await scheduled(3);
    expect(known.output).toContain("Issue: updated.");
    expect(known.outputs.changes).toBe("false");
    expect(site.host.issues[0]?.body).toContain("reported before");
    expect(site.host.issues[0]?.notes).toEqual([]);
    const failed = await scheduled(4, { ...SECRETS, WORKSPACE_DRIFT_TOKEN: "wrong" });
    expect(failed.code).toBe(1);
    expect(site.host.issues.map(({ open }) => open)).toEqual([true]);
    await site.changePool(10);
    expect((await scheduled(5)).output).toContain("Issue: closed.");
    expect(site.host.issues.map(({ open }) => open)).toEqual([false]);
  });

  test("record accepted drift after its merge, so that the former value is drift from then on", async () => {
    const scheduled = (number: number) => run("workspace-drift", "drift", onMain(number, "d".repeat(40)));
    const merged = async (number: number, capacity: number) => {
      const sha = site.commit({ "workspace.yaml": specOf(capacity) }, "refs/heads/main");
      const planned = await run("workspace-apply", "plan", onMain(number, sha));
      expect(planned.outputs).toMatchObject({ changes: "true", "exit-code": "2" });
      const done = await run("workspace-apply", "apply", onMain(number, sha));
      expect({ code: done.code, output: done.output }).toMatchObject({ code: 0 });
      return { planned, sha };
    };
    await site.changePool(33);
    const { planned, sha } = await merged(60, 33);
    expect(planned.summary).toContain("1 resource has drift that the spec has already; an apply records it.");
    expect((await run("workspace-apply", "plan", onMain(61, sha))).outputs.changes).toBe("false");
    await site.changePool(10);
    const found = await scheduled(62);
    expect(found.outputs.changes).toBe("true");
    expect(found.output).toContain("Issue: opened.");
    await merged(63, 10);
  });

  test("open one pull request that accepts drift, update it, and close it when no drift is left", async () => {
    let number = 40;
    await expectProposal(site, { authorization: basic("x-access-token", TOKEN) }, () => {
      number += 1;
      const started = { ...onMain(number, "d".repeat(40)), inputs: { addresses: "pools.*" } };
      return run("workspace-accept", "accept", started);
    });
  });

  test("keep the tokens of the platform from the program", async () => {
    const dump = join(site.folder, "environment");
    site.program = site.script("bin/program", `env >"${dump}"; exit 0`);
    await run("workspace-plan", "plan", pullRequest(7, specOf(20)));
    const given = readFileSync(dump, "utf8");
    expect(given).toContain(`WORKSPACE_TOKEN=${WORKSPACE_TOKEN}`);
    expect(given).not.toContain("api-token");
  });
});
