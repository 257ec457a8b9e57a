// The documentation runs: every command block of every page, with the output that the page shows.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "vitest";
import { playPage } from "./page.ts";

const PAGES = globSync(["docs/*.md", "docs/ci/*.md"])
  .sort()
  .filter((page) => readFileSync(page, "utf8").includes("\n```sh\n"));

// The pages wait for their commands, so they run side by side.
describe.concurrent("docs", () => {
  for (const page of PAGES)
    test(`${page} shows the real output of its commands`, { timeout: 300_000 }, async ({ expect }) => {
      const text = readFileSync(page, "utf8");
      const played = await playPage(text);
      expect(played.failures).toEqual([]);
      if (process.env.UPDATE !== undefined) writeFileSync(page, played.text);
      else expect(played.text).toBe(text);
    });
});
