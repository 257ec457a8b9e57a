// The documentation runs: every command block of every page, with the output that the page shows.

import { globSync, readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { expectedText } from "../acceptance/expected-output.ts";
import { playPage } from "./page.ts";

const PAGES = globSync(["docs/*.md", "docs/ci/*.md", "docs/internals/*.md"])
  .sort()
  .filter((page) => readFileSync(page, "utf8").includes("\n```sh\n"));

/** Two pages run at a time: each waits for its commands, and more would starve the other tests. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];

function inLane<Result>(number: number, work: () => Promise<Result>): Promise<Result> {
  const lane = number % lanes.length;
  const done = (lanes[lane] ?? Promise.resolve()).then(work);
  lanes[lane] = done.catch(() => {});
  return done;
}

describe.concurrent("docs", () => {
  for (const [number, page] of PAGES.entries())
    test(`${page} shows the real output of its commands`, { timeout: 300_000 }, async ({ expect }) => {
      const text = readFileSync(page, "utf8");
      const played = await inLane(number, () => playPage(text));
      expect(played.failures).toEqual([]);
      const expected = expectedText(page, text, played.text);
      // A rewritten page is played again: its output must be the same twice.
      const again = expected === text ? played : await inLane(number, () => playPage(expected));
      expect(again.text).toBe(expected);
    });
});
