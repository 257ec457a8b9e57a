// The documentation runs: every command block of every page, with the output that the page shows.

import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { expectedText } from "../acceptance/expected-output.ts";
import { sampleFrom } from "../sample-size.ts";
import { playPage } from "./page.ts";

const PAGES = sampleFrom(
  globSync(["README.md", "docs/*.md", "docs/ci/*.md", "docs/internals/*.md"])
    .sort()
    .filter((page) => readFileSync(page, "utf8").includes("\n```sh\n")),
);

/** Two pages run at a time: each waits for its commands, and more would starve the other tests. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];

function inLane<Result>(number: number, work: () => Promise<Result>): Promise<Result> {
  const lane = number % lanes.length;
  const done = (lanes[lane] ?? Promise.resolve()).then(work);
  lanes[lane] = done.catch(() => {});
  return done;
}

/** Programs that examples use and that a machine may lack: the pages with them are skipped. */
const missing = ["jq"].filter((program) => spawnSync(program, ["--version"]).error !== undefined);
if (missing.length > 0)
  console.warn(`${missing.join(", ")} is not installed: pages whose examples use it are not run`);

function canRun(page: string): boolean {
  const text = readFileSync(page, "utf8");
  return missing.every((program) => !new RegExp(`(^|[|] )${program} `, "m").test(text));
}

describe.concurrent("docs", () => {
  for (const [number, page] of PAGES.entries())
    test.runIf(canRun(page))(
      `${page} shows the real output of its commands`,
      { timeout: 300_000 },
      async ({ expect }) => {
        const text = readFileSync(page, "utf8");
        const played = await inLane(number, () => playPage(text));
        expect(played.failures).toEqual([]);
        const expected = expectedText(page, text, played.text);
        // A rewritten page is played again: its output must be the same twice.
        const again = expected === text ? played : await inLane(number, () => playPage(expected));
        expect(again.text).toBe(expected);
      },
    );
});
