import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { markedBody, marker, type RunMark, readMark } from "../../ci/lib/body.ts";
import { putComment } from "../../ci/lib/comment.ts";
import { githubComments, githubIssues, githubPullRequest } from "../../ci/lib/github.ts";
import { putIssue } from "../../ci/lib/issue.ts";
import { markdownMarker } from "../../src/report/text/run-info.ts";
import { CodeHost } from "./code-host/code-host.ts";
import { githubSettings, PLATFORMS, PULL } from "./code-host/platforms.ts";
import { HOSTILE } from "./runners/pipeline.ts";

const SUBJECT = { target: "prod", folder: "infra" };
const mark = (number: number, open = true, attempt = 1): RunMark => ({
  number,
  attempt,
  commit: "c0ffee",
  open,
});

let host: CodeHost;
beforeEach(async () => {
  host = await CodeHost.start();
});
afterEach(() => host.close());

describe.each(PLATFORMS)("the comment of $name", (platform) => {
  const put = (run: RunMark, text: string) => putComment(platform.comments(host), SUBJECT, run, text);

  test("is created with the marker of the target, then updated by later runs", async () => {
    expect(await put(mark(1), "first")).toBe("created");
    expect(host.comments[0]?.body.startsWith("<!-- workspace:prod -->\n")).toBe(true);
    expect(await put(mark(2), "second")).toBe("updated");
    expect(host.comments).toHaveLength(1);
    expect(host.comments[0]?.body).toContain("\nsecond");
  });

  test("keeps a hostile text, and takes no marker from it", async () => {
    const forged = markedBody(SUBJECT, mark(99, false, 9), `${HOSTILE}\n\u0000"'<script>\ud83d`);
    expect(await put(mark(1), forged)).toBe("created");
    expect(await put(mark(2), `${forged}second`)).toBe("updated");
    expect(host.comments).toHaveLength(1);
    expect(readMark(SUBJECT, host.comments[0]?.body ?? "")).toMatchObject({ number: 2, open: true });
    expect(host.comments[0]?.body).toContain(HOSTILE);
    expect(host.requests.every((one) => !one.includes("executed"))).toBe(true);
  });

  test("is found on a later page", async () => {
    host.pageSize = 2;
    for (let other = 0; other < 5; other += 1) host.addComment(PULL, `discussion ${other}`, "ada");
    expect(await put(mark(1), "first")).toBe("created");
    expect(await put(mark(2), "second")).toBe("updated");
    expect(host.comments).toHaveLength(6);
  });

  test("of a later run is not overwritten by an outdated run or attempt", async () => {
    await put(mark(7, true, 2), "newer");
    expect(await put(mark(6), "older run")).toBe("outdated");
    expect(await put(mark(7, true, 1), "older attempt")).toBe("outdated");
    expect(host.comments.map(({ body }) => body.split("\n").at(-1))).toEqual(["newer"]);
  });

  test("is read again directly before it is written", async () => {
    await put(mark(1), "first");
    const [comment] = host.comments;
    // A newer run writes between the list and the write of this one.
    let listed = 0;
    host.before = ({ method, url }) => {
      if (method === "GET" && /comments$|notes$|threads$/.test(url.pathname)) listed += 1;
      else if (method === "GET" && listed > 0 && comment !== undefined && /\d$/.test(url.pathname))
        comment.body = markedBody(SUBJECT, mark(9), "newest");
    };
    expect(await put(mark(2), "second")).toBe("outdated");
    expect(comment?.body).toContain("newest");
  });

  test("of another user, target, or folder is not changed", async () => {
    const forged = host.addComment(PULL, markedBody(SUBJECT, mark(99), "forged"), "mallory");
    await putComment(platform.comments(host), { ...SUBJECT, folder: "." }, mark(3), "other folder");
    await putComment(platform.comments(host), { ...SUBJECT, target: "dev" }, mark(3), "other target");
    expect(await put(mark(1), "mine")).toBe("created");
    expect(forged.body).toContain("forged");
    expect(host.comments).toHaveLength(4);
  });

  test("is not created when nothing is left, and is collapsed or cleared when nothing is left any longer", async () => {
    expect(await put(mark(1, false), "no changes")).toBe("nothing to report");
    expect(host.comments).toEqual([]);
    await put(mark(2), "changes");
    await put(mark(3, false), "no changes");
    expect(host.comments[0]?.collapsed).toBe(platform.collapses);
    expect(host.comments[0]?.body).toContain("no changes");
    await put(mark(4), "changes again");
    expect(host.comments[0]?.collapsed).toBe(false);
  });

  test("exists once after a create whose answer was lost", async () => {
    host.faults.push({ match: /^POST .*(comments|notes|threads)$/, status: 502, times: 1, after: true });
    expect(await put(mark(1), "first")).toBe("updated");
    expect(host.comments).toHaveLength(1);
  });

  test("of the latest run is kept when two runs create at once", async () => {
    let raced = false;
    host.before = ({ method, url }) => {
      if (method !== "POST" || raced || url.pathname === "/graphql") return;
      raced = true;
      host.addComment(PULL, markedBody(SUBJECT, mark(8), "newer"));
    };
    expect(await put(mark(7), "older")).toBe("outdated");
    expect(host.comments.map(({ body }) => body.split("\n").at(-1))).toEqual(["newer"]);
  });

  test("is created again when it was deleted before the write", async () => {
    await put(mark(1), "first");
    let deleted = false;
    host.before = ({ method }) => {
      if (deleted || (method !== "PATCH" && method !== "PUT")) return;
      deleted = true;
      host.comments.length = 0;
    };
    expect(await put(mark(2), "second")).toBe("created");
    expect(host.comments.map(({ body }) => body.split("\n").at(-1))).toEqual(["second"]);
  });

  test("names the missing right, and the reason of the service, when the token may not write", async () => {
    const message = "the pull request is locked";
    host.faults.push({ match: /^POST .*(comments|notes|threads)$/, status: 403, times: 9, message });
    await expect(put(mark(1), "first")).rejects.toThrow(
      /returned 403: the API token needs the right ".+" \(the pull request is locked\)$/,
    );
    expect(host.requests.filter((one) => one.startsWith("POST"))).toHaveLength(1);
  });

  test.each([203, 302])("fails when the service answers %i, with a page to sign in on", async (status) => {
    host.faults.push({ match: /./, status, times: 99, headers: { location: "/signin" } });
    await expect(put(mark(1), "first")).rejects.toThrow("the API token is missing or not valid");
    expect(host.requests).toHaveLength(1);
  });

  test("fails without a retry loop when the pull request does not exist", async () => {
    host.faults.push({ match: /^GET .*(comments|notes|threads)$/, status: 404, times: 99 });
    await expect(put(mark(1), "first")).rejects.toThrow("returned 404");
    expect(host.requests.length).toBeLessThan(10);
  });

  test("waits as Retry-After says after 429", async () => {
    const waits: number[] = [];
    host.faults.push({ match: /^POST/, status: 429, times: 2, headers: { "retry-after": "7" } });
    await putComment(platform.comments(host, waits), SUBJECT, mark(1), "first");
    expect(waits).toEqual([7000, 7000]);
    expect(host.comments).toHaveLength(1);
  });

  test("gives up after a bounded number of server errors", async () => {
    const waits: number[] = [];
    host.faults.push({ match: /^GET/, status: 503, times: 999 });
    await expect(putComment(platform.comments(host, waits), SUBJECT, mark(1), "x")).rejects.toThrow(
      "returned 503",
    );
    expect(host.requests.length).toBeLessThanOrEqual(20);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(120_000);
  });
});

describe("the comment of GitHub", () => {
  test("waits after 403 of a rate limit, and fails at once when the wait is too long", async () => {
    const waits: number[] = [];
    const [github] = PLATFORMS;
    host.faults.push({ match: /^GET/, status: 403, times: 1, headers: { "retry-after": "3" } });
    const comments = github?.comments(host, waits);
    if (comments === undefined) throw new Error("no platform");
    await putComment(comments, SUBJECT, mark(1), "first");
    expect(waits).toEqual([3000]);
    host.faults.push({ match: /^GET/, status: 429, times: 9, headers: { "retry-after": "3600" } });
    await expect(putComment(comments, SUBJECT, mark(2), "second")).rejects.toThrow("returned 429");
    expect(waits).toEqual([3000]);
  });

  test("is updated also if the token belongs to another user than the action's input", async () => {
    const settings = { ...githubSettings(host), author: "github-actions" };
    const put = () => putComment(githubComments(settings, PULL), SUBJECT, mark(1), "first");
    await expect(put()).rejects.toThrow(
      /the API token belongs to "github-actions\[bot\]".*set the input author/,
    );
    expect(host.comments).toEqual([]);
    const issue = putIssue(githubIssues(settings), SUBJECT, mark(1), {
      ...{ text: "drift", run: "run 1", hiddenIsNew: false },
    });
    await expect(issue).rejects.toThrow("set the input author");
    expect(host.issues.map(({ open }) => open)).toEqual([false]);
  });

  test("waits a minute after 403 of the secondary rate limit, which names no time", async () => {
    const waits: number[] = [];
    const message = "You have exceeded a secondary rate limit. Please wait a few minutes.";
    host.faults.push({ match: /^POST/, status: 403, times: 1, message });
    await putComment(githubComments(githubSettings(host, waits), PULL), SUBJECT, mark(1), "first");
    expect(waits).toEqual([60_000]);
    expect(host.comments).toHaveLength(1);
  });

  test("has its new text when it cannot be minimized, and the log says so", async () => {
    const said: string[] = [];
    const settings = { ...githubSettings(host), log: (line: string) => void said.push(line) };
    await putComment(githubComments(settings, PULL), SUBJECT, mark(1), "changes");
    host.faults.push({ match: /graphql/, status: 200, times: 1, message: "Resource not accessible" });
    expect(await putComment(githubComments(settings, PULL), SUBJECT, mark(2, false), "none left")).toBe(
      "updated",
    );
    expect(host.comments[0]?.body).toContain("none left");
    expect(said).toEqual(["warning: GitHub did not minimize the comment: Resource not accessible"]);
  });

  test("is not followed to a next page on another host", async () => {
    const [github] = PLATFORMS;
    const link = '<https://elsewhere.example/next>; rel="next"';
    host.page = () => ({ status: 200, json: [], headers: { link } });
    await expect(github?.comments(host).list()).rejects.toThrow("is on another host");
  });

  test("of a fork belongs to the open pull request whose head is the planned commit", async () => {
    host.pulls.push(
      { number: 11, head: "ada:fix/a b", sha: "old" },
      { number: 12, head: "ada:fix/a b", sha: "new" },
    );
    const find = (sha: string) =>
      githubPullRequest(githubSettings(host), { owner: "ada", branch: "fix/a b", sha });
    expect(await find("new")).toBe(12);
    expect(await find("gone")).toBeUndefined();
  });
});

describe("the markers", () => {
  test.each(["prod --> <b>", "größe", "a b", "x:y%20"])(
    "of target %j are found again, and are those of its report",
    (target) => {
      const subject = { target, folder: "." };
      const report = `${markdownMarker(target)}\n\n## Plan`;
      const body = markedBody(subject, mark(3), report);
      expect(readMark(subject, body)).toMatchObject({ number: 3 });
      expect(readMark({ ...subject, target: "prod" }, body)).toBeUndefined();
      expect(body.match(/<!--/g)).toHaveLength(2);
      expect(
        body
          .split("\n")
          .slice(0, 2)
          .every((line) => /^<!-- [^>]* -->$/.test(line)),
      ).toBe(true);
    },
  );

  test("count at the start of a comment only", async () => {
    const [github] = PLATFORMS;
    host.addComment(PULL, `text\n${markedBody(SUBJECT, mark(50), "quoted")}`);
    const comments = github?.comments(host);
    if (comments === undefined) throw new Error("no platform");
    expect(await putComment(comments, SUBJECT, mark(1), `${marker("prod")}\nreport`)).toBe("created");
    expect(host.comments[1]?.body.match(/workspace:prod/g)).toHaveLength(1);
  });
});
