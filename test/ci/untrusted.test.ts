// The spec of an untrusted pull request as data, for each platform.

import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fetchUntrusted, Outdated, type PullRequestRef, type UntrustedSpec } from "../../ci/lib/untrusted.ts";
import { argumentsIn, basic, startGitServer } from "./runners/git-server.ts";
import { Site, specOf } from "./runners/pipeline.ts";

let site: Site;
let main: string;
let checkout: string;
const made: string[] = [];
beforeAll(async () => {
  site = await Site.open();
  main = site.commit({ "infra/workspace.yaml": specOf(10), "other/x": "x" }, "refs/heads/main");
  checkout = site.checkout("main");
});
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});
afterAll(() => site.close());

function fetch(
  ref: Partial<PullRequestRef>,
  limits?: { files: number; bytes: number },
  more: Readonly<Record<string, string>> = {},
): UntrustedSpec {
  const env = { ...process.env, GIT_DIR: join(checkout, ".git"), RUNNER_TEMP: site.folder, ...more };
  const whole: PullRequestRef = {
    platform: "github",
    number: 6,
    folder: "infra",
    sha: undefined,
    branch: "main",
    ...ref,
  };
  const spec = fetchUntrusted(env, whole, limits);
  made.push(dirname(spec.cwd));
  return spec;
}
const textIn = (spec: UntrustedSpec, path: string): string => readFileSync(join(spec.cwd, path), "utf8");

describe("the spec of an untrusted pull request", () => {
  test("is the merge of its head into the target branch, in a folder next to that branch", () => {
    site.commit({ "infra/merged.yaml": "later" }, "refs/heads/main");
    const head = site.pull(6, { "infra/workspace.yaml": specOf(20) }, main);
    const spec = fetch({ sha: head });
    expect(spec.commit).toBe(head);
    expect(textIn(spec, "infra/workspace.yaml")).toBe(specOf(20));
    expect(textIn(spec, "infra/merged.yaml")).toBe("later");
    expect(textIn(spec, `${spec.base}/infra/workspace.yaml`)).toBe(specOf(10));
    // Reports name the base as its folder is named.
    expect(spec.base).toMatch(/^\.\.\/[0-9a-f]{12}$/);
    expect(readdirSync(spec.cwd)).toEqual(["infra"]);
    expect(fetch({ platform: "azure" }).commit).toBe(head);
  });

  test("is its head alone where the merge is missing, or is one of an older head", () => {
    const head = site.commit({ "infra/workspace.yaml": specOf(30) }, "refs/pull/7/head", main);
    expect(fetch({ number: 7 })).toMatchObject({
      commit: head,
      base: undefined,
      notice: expect.stringContaining(
        "the plan of the branch alone, because it cannot be merged with `main` here",
      ),
    });
    site.pull(8, { "infra/workspace.yaml": specOf(20) });
    const newer = site.commit({ "infra/workspace.yaml": specOf(40) }, "refs/pull/8/head", main);
    const spec = fetch({ number: 8 });
    expect(spec).toMatchObject({ commit: newer, base: undefined });
    expect(textIn(spec, "infra/workspace.yaml")).toBe(specOf(40));
    const request = site.commit({ "infra/workspace.yaml": specOf(50) }, "refs/merge-requests/9/head", main);
    expect(fetch({ platform: "gitlab", number: 9 })).toMatchObject({ commit: request, base: undefined });
  });

  test("is its merge into the present branch, also if the platform merged it with an older one", () => {
    const from = site.commit({ "infra/workspace.yaml": specOf(10) }, "refs/heads/main");
    const head = site.pull(11, { "infra/workspace.yaml": specOf(20) }, from);
    const present = site.commit({ "infra/later.yaml": "later" }, "refs/heads/main");
    for (let more = 0; more < 3; more += 1) site.commit({ "other/x": String(more) }, "refs/heads/main");
    const tip = site.git(site.origin, "rev-parse", "main");
    const spec = fetch({ number: 11, sha: head });
    expect(spec).toMatchObject({ commit: head, base: `../${tip.slice(0, 12)}` });
    expect(spec.notice).toBeUndefined();
    expect(textIn(spec, "infra/later.yaml")).toBe("later");
    expect(textIn(spec, "infra/workspace.yaml")).toBe(specOf(20));
    expect(textIn(spec, `${spec.base}/infra/later.yaml`)).toBe("later");
    // A pull request of another branch keeps the base of its merge.
    const release = site.commit({ "infra/release.yaml": "1" }, "refs/heads/release", from);
    const tree = site.git(site.origin, "rev-parse", `${release}^{tree}`);
    const merge = site.git(site.origin, "commit-tree", tree, "-p", release, "-p", head, "-m", "merge");
    site.git(site.origin, "update-ref", "refs/pull/11/merge", merge);
    expect(fetch({ number: 11 })).toMatchObject({ base: `../${release.slice(0, 12)}`, notice: undefined });
    // The present branch has other values at the same place.
    site.pull(12, { "infra/workspace.yaml": specOf(30) }, present);
    const older = site.git(site.origin, "rev-parse", "main");
    site.commit({ "infra/workspace.yaml": specOf(31) }, "refs/heads/main");
    expect(fetch({ number: 12 })).toMatchObject({
      base: `../${older.slice(0, 12)}`,
      notice: expect.stringContaining(`the merge with commit ${older.slice(0, 12)} of \`main\``),
    });
  });

  test("is refused when the pull request has a newer commit", () => {
    const old = site.pull(6, { "infra/workspace.yaml": specOf(20) });
    site.pull(6, { "infra/workspace.yaml": specOf(21) });
    expect(() => fetch({ sha: old })).toThrow(Outdated);
  });

  test("has regular files only, under the names that they have", () => {
    const odd = 'infra/$(touch executed)\n::error::"`x`.py';
    site.pull(6, { [odd]: "print(1)", "infra/link": "symlink:/etc/passwd", "infra/up": "symlink:../other" });
    const spec = fetch({});
    expect(textIn(spec, odd)).toBe("print(1)");
    const entries = readdirSync(spec.cwd, { recursive: true, encoding: "utf8" });
    expect(entries.filter((path) => lstatSync(join(spec.cwd, path)).isSymbolicLink())).toEqual([]);
    expect(entries).not.toContain("infra/link");
    expect(entries).not.toContain("executed");
  });

  test("is fetched with the password of the remote, which no argument of a process contains", async () => {
    const password = "job/token 77";
    const server = await startGitServer(site.folder, basic("gitlab-ci-token", password));
    try {
      const head = site.commit({ "infra/workspace.yaml": specOf(60) }, "refs/merge-requests/10/head", main);
      const own = `http://gitlab-ci-token:${encodeURIComponent(password)}@`;
      const remote = `${server.url.replace("http://", own)}/origin.git`;
      const git = ["-C", checkout, "remote", "set-url", "origin"];
      site.git(site.folder, ...git, remote);
      const trace = join(site.folder, "trace.json");
      const spec = fetch({ platform: "gitlab", number: 10 }, undefined, {
        GIT_TRACE2_EVENT: trace,
        GIT_TRACE2_REDACT: "0",
      });
      site.git(site.folder, ...git, `file://${site.origin}`);
      expect(spec.commit).toBe(head);
      const started = argumentsIn(trace);
      expect(started.filter((words) => words.includes("fetch")).length).toBeGreaterThan(1);
      expect(started.filter((words) => /job.{1,3}token/.test(words))).toEqual([]);
    } finally {
      server.close();
    }
  });

  test("has a limited number of files and bytes", () => {
    site.pull(6, { "infra/a": "a", "infra/b": "b" });
    expect(() => fetch({}, { files: 2, bytes: 1000 })).toThrow(/^the spec has \d files, more than 2$/);
    expect(() => fetch({}, { files: 9, bytes: 50 })).toThrow(/^the spec has \d+ bytes, more than 50$/);
  });
});
