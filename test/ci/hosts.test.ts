// Hosts of pipelines cancel jobs, limit the length of reports, and keep the folders of their runners.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TOKEN } from "./code-host/code-host.ts";
import { runAzureJob } from "./runners/azure-runner.ts";
import { runJob } from "./runners/github-runner.ts";
import { ROOT, Site, STATE_KEY, type StepResult, specOf, WORKSPACE_TOKEN } from "./runners/pipeline.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.open();
  site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
}, 120_000);
afterEach(() => site.reset());
afterAll(() => site.close());

function github(number: number, spec: string) {
  const sha = site.pull(5, { "workspace.yaml": spec });
  const payload = { pull_request: { number: 5, head: { sha }, base: { ref: "main" } } };
  const { WORKSPACE_HOST = "", WORKSPACE_STATE = "" } = site.secrets();
  return runJob(site, {
    workflow: "workspace-plan",
    job: "plan",
    event: { ref: "refs/pull/5/merge", payload, number },
    vars: { WORKSPACE_HOST, WORKSPACE_STATE },
    secrets: { WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN, WORKSPACE_STATE_KEY: STATE_KEY },
  });
}

function azure(build: number, spec: string) {
  site.pull(5, { "workspace.yaml": spec });
  const variables = { ...site.secrets(), SYSTEM_PULLREQUEST_PULLREQUESTID: "5" };
  return runAzureJob(site, { stage: "plan", ref: "refs/pull/5/merge", build, variables });
}

const JOBS: readonly (readonly [string, (run: number, spec: string) => Promise<StepResult>])[] = [
  ["GitHub", github],
  ["Azure Pipelines", azure],
];

describe.each(JOBS)("a job of %s", (_, run) => {
  test("that is canceled stops the program, and does not change the comment", async () => {
    await run(7, specOf(20));
    const before = site.host.comments.map(({ body }) => body);
    expect(before).toHaveLength(1);
    site.program = site.script(
      "bin/program",
      `exec node -e 'process.on("SIGINT", () => { console.log("stopped"); process.exit(130); });
fetch(process.env.STARTED); setTimeout(() => process.exit(2), 20000)'`,
    );
    site.variables = { STARTED: `${site.host.url}/started` };
    site.host.before = ({ url }) => {
      if (url.pathname === "/started") site.cancel();
    };
    const done = await run(8, specOf(30));
    expect(done.output).toMatch(/^stopped$/m);
    expect(done.output).toContain("Canceled: ");
    expect(done.code).toBe(130);
    expect(site.host.comments.map(({ body }) => body)).toEqual(before);
  }, 60_000);

  test("that is canceled while it waits for the code host ends", async () => {
    site.program = site.script("bin/program", "exit 1");
    const comments = /^POST .*(?:comments|threads)$/;
    site.host.faults.push({ match: comments, status: 429, times: 9, headers: { "retry-after": "100" } });
    site.host.before = ({ method, url }) => {
      if (comments.test(`${method} ${url.pathname}`)) site.cancel();
    };
    expect((await run(9, specOf(20))).code).not.toBe(0);
    expect(site.host.requests.filter((one) => comments.test(one))).toHaveLength(1);
  }, 30_000);
});

describe("a secret of the spec, the host, or the code host", () => {
  test("is in no log, comment, summary, or report", async () => {
    const value = "päss'\"$(touch executed)`x`\n::warning::word";
    const spec = "scopes:\n  etl: { secrets: { password: { env: DB_PASSWORD } } }\n";
    const sha = site.commit({ "workspace.yaml": spec }, "refs/heads/main");
    site.variables = { DB_PASSWORD: value };
    const { WORKSPACE_HOST = "", WORKSPACE_STATE = "" } = site.secrets();
    const vars = { WORKSPACE_HOST, WORKSPACE_STATE };
    const tokens = { WORKSPACE_PLAN_TOKEN: WORKSPACE_TOKEN, WORKSPACE_APPLY_TOKEN: WORKSPACE_TOKEN };
    const secrets = { ...tokens, WORKSPACE_STATE_KEY: STATE_KEY };
    const written: string[] = [];
    for (const job of ["plan", "apply"]) {
      const event = { ref: "refs/heads/main", payload: {}, number: 30, sha };
      const done = await runJob(site, { workflow: "workspace-apply", job, event, vars, secrets });
      expect({ code: done.code, output: done.output }).toMatchObject({ code: 0 });
      const { reports = "" } = done.outputs;
      const files = readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"));
      written.push(done.output, done.summary, ...files);
    }
    const planned = await github(31, spec.replace("etl", "other"));
    written.push(planned.output, planned.summary, ...site.host.comments.map(({ body }) => body));
    const text = written.join("\n");
    expect(text).toContain("secrets.etl/password");
    expect(text).toContain("secrets.other/password");
    for (const secret of ["päss", "::warning::word", WORKSPACE_TOKEN, STATE_KEY, TOKEN])
      expect(text.includes(secret)).toBe(false);
  }, 60_000);
});

describe("a report of GitHub", () => {
  const MIB = 2 ** 20;

  test("that is too long for a comment or a summary is shortened", async () => {
    const names = Array.from({ length: 900 }, (_, at) => `  größe ${at} ${"漢".repeat(90)}: {}\n`);
    const done = await github(9, `policy: { max_deletes: 100% }\ngroups:\n${names.join("")}`);
    expect({ code: done.code, output: done.output.slice(-300) }).toMatchObject({ code: 0 });
    expect(site.host.comments[0]?.body).toContain("**Shortened to fit**");
    expect(Buffer.byteLength(done.summary)).toBeLessThan(MIB);
  }, 60_000);

  test("of a program that fails with any output fits into the comment and into the summary", async () => {
    const line = `console.error("漢".repeat(20000) + at)`;
    site.program = site.script(
      "bin/program",
      `node -e 'for (let at = 0; at < 150; at += 1) ${line}'; exit 1`,
    );
    const done = await github(10, specOf(20));
    expect(done.code).toBe(1);
    expect(site.host.comments[0]?.body).toContain("workspace plan failed with exit code 1");
    expect(site.host.comments[0]?.body).toMatch(/漢149$/m);
    expect(Buffer.byteLength(done.summary)).toBeLessThan(MIB);
  }, 60_000);
});

describe("a copy of the program on a runner that keeps its folders", () => {
  test("gets its packages again where they are not those of its lockfile", () => {
    const copy = join(site.folder, "copy");
    mkdirSync(join(copy, "ci/lib"), { recursive: true });
    cpSync(join(ROOT, "ci/lib/install.sh"), join(copy, "ci/lib/install.sh"));
    const lockfile = (version: string, more = {}): string =>
      JSON.stringify({ packages: { ...more, "node_modules/yaml": { version } } });
    site.script(
      "bin/npm",
      `echo "npm $1"; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json`,
    );
    const PATH = `${join(site.folder, "bin")}:${process.env.PATH}`;
    const install = (version: string): string => {
      const more = { "": { version: "0.1.0" }, "node_modules/vitest": { version: "1.0.0", dev: true } };
      writeFileSync(join(copy, "package-lock.json"), lockfile(version, more));
      const env = { ...process.env, PATH };
      return spawnSync(join(copy, "ci/lib/install.sh"), { encoding: "utf8", env }).stdout;
    };
    expect(install("2.0.0")).toBe("npm ci\n");
    // What an installation without the packages for development leaves.
    writeFileSync(join(copy, "node_modules/.package-lock.json"), lockfile("2.0.0"));
    expect(install("2.0.0")).toBe("workspace is installed already.\n");
    expect(install("2.1.0")).toBe("npm ci\n");
    expect(readFileSync(join(copy, "node_modules/.package-lock.json"), "utf8")).toContain("2.1.0");
  });
});
