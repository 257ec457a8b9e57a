import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { markedBody, type RunMark } from "../../ci/lib/body.ts";
import { ApiError } from "../../ci/lib/http.ts";
import { DRIFT_LABEL, putIssue } from "../../ci/lib/issue.ts";
import { CodeHost, type StoredIssue } from "./code-host/code-host.ts";
import { PLATFORMS } from "./code-host/platforms.ts";

const SUBJECT = { target: "prod", folder: "." };
const mark = (number: number, open = true, digest = "d1"): RunMark => ({
  number,
  attempt: 1,
  commit: "c0ffee",
  open,
  digest,
});

let host: CodeHost;
beforeEach(async () => {
  host = await CodeHost.start();
});
afterEach(() => host.close());

describe.each(PLATFORMS)("the drift issue of $name", (platform) => {
  const put = (run: RunMark, text: string, hiddenIsNew = false) =>
    putIssue(platform.issues(host), SUBJECT, run, { text, run: "run 1", hiddenIsNew });

  test("is opened, updated, and closed, and a later drift opens a new one", async () => {
    expect(await put(mark(1, false), "no drift")).toBe("nothing to report");
    expect(host.issues).toEqual([]);
    expect(await put(mark(2), "pool <a> & co changed")).toBe("opened");
    expect(await put(mark(3), "pool <a> & co changed")).toBe("updated");
    expect(host.issues).toHaveLength(1);
    expect(host.issues[0]?.notes).toEqual([]);
    expect(await put(mark(4, true, "d2"), "two pools changed")).toBe("updated");
    expect(host.issues[0]?.notes).toEqual(["The drift changed, according to run 1."]);
    expect(host.issues[0]?.body).toContain("two pools changed");
    expect(await put(mark(5, false, "d3"), "no drift")).toBe("closed");
    expect(host.issues[0]?.open).toBe(false);
    expect(host.issues[0]?.notes.at(-1)).toBe("No drift is left that needs attention, according to run 1.");
    expect(await put(mark(6), "again")).toBe("opened");
    expect(host.issues.map(({ open, title }) => ({ open, title }))).toEqual([
      { open: false, title: "Drift: prod" },
      { open: true, title: "Drift: prod" },
    ]);
  });

  test("gets its note also if the first attempt to add it fails", async () => {
    await put(mark(1), "one pool changed");
    const issues = platform.issues(host);
    let attempts = 0;
    const note = async (id: string, text: string): Promise<void> => {
      attempts += 1;
      if (attempts === 1) throw new ApiError(503, "busy");
      await issues.note(id, text);
    };
    const report = { text: "two pools changed", run: "run 2", hiddenIsNew: false };
    await putIssue({ ...issues, note }, SUBJECT, mark(2, true, "d2"), report).catch(() => undefined);
    await put(mark(3, true, "d2"), "two pools changed");
    expect(host.issues[0]?.notes).toHaveLength(1);
    expect(host.issues[0]?.body).toContain("two pools changed");
  });

  test("gets a note when a hidden value changed, although the digest is the same", async () => {
    await put(mark(1), "k (sensitive) → (sensitive)  # new");
    await put(mark(2), "k (sensitive) → (sensitive)  # reported before");
    expect(host.issues[0]?.notes).toEqual([]);
    await put(mark(3), "k (sensitive) → (sensitive)  # new", true);
    expect(host.issues[0]?.notes).toEqual(["The drift changed, according to run 1."]);
  });

  test("gets no note on a hidden value that is new again because the state could not record it", async () => {
    for (const number of [1, 2, 3])
      await put({ ...mark(number), isUnrecorded: true }, "k (sensitive) → (sensitive)  # new", true);
    // Recorded by this run.
    await put(mark(4), "k (sensitive) → (sensitive)  # new", true);
    expect(host.issues[0]?.notes).toEqual([]);
    await put(mark(5), "k (sensitive) → (sensitive)  # new", true);
    expect(host.issues[0]?.notes).toEqual(["The drift changed, according to run 1."]);
  });

  test("gets the note on a hidden value from the next run if this run could not add it", async () => {
    await put(mark(1), "k (sensitive) → (sensitive)");
    const refused = { ...platform.issues(host), note: () => Promise.reject(new ApiError(403, "refused")) };
    const report = { text: "k (sensitive) → (sensitive)  # new", run: "run 2", hiddenIsNew: true };
    await expect(putIssue(refused, SUBJECT, mark(2), report)).rejects.toThrow("refused");
    expect(host.issues[0]?.body).toContain("# new");
    for (const number of [3, 4]) await put(mark(number), "k (sensitive) → (sensitive)  # reported before");
    expect(host.issues[0]?.notes).toEqual(["The drift changed, according to run 1."]);
    expect(host.issues[0]?.body).toContain("# reported before");
  });

  test("shows the address of a user without markup", async () => {
    await put(mark(1), "by root<span>&#64;</span>vm");
    const shown = platform.name === "Azure DevOps" ? "by root@vm" : "by root<span>&#64;</span>vm";
    expect(host.issues[0]?.body).toContain(shown);
  });

  test("is found on a later page and not changed by an outdated run", async () => {
    host.pageSize = 2;
    await put(mark(7), "newer");
    const others = [1, 2, 3].map(
      (id): StoredIssue => ({
        id,
        author: "ada",
        title: "x",
        body: "x",
        label: DRIFT_LABEL,
        open: true,
        notes: [],
      }),
    );
    host.issues.unshift(...others);
    expect(await put(mark(6, false), "older")).toBe("outdated");
    expect(host.issues.every(({ open }) => open)).toBe(true);
    expect(await put(mark(8, false), "no drift")).toBe("closed");
    expect(host.issues.filter(({ open }) => open)).toHaveLength(3);
  });

  test("exists once after a create whose answer was lost", async () => {
    host.faults.push({ match: /^POST .*(issues|\$Issue)$/, status: 502, times: 1, after: true });
    expect(await put(mark(1), "drift")).toBe("updated");
    expect(host.issues).toHaveLength(1);
  });

  test("of another user is never changed", async () => {
    const body = markedBody(SUBJECT, mark(99), "forged");
    host.issues.push({
      id: 1,
      author: "mallory",
      title: "x",
      body,
      label: DRIFT_LABEL,
      open: true,
      notes: [],
    });
    expect(await put(mark(1), "drift")).toBe("opened");
    expect(host.issues[0]?.body).toBe(body);
  });
});
