// The documentation runs: every command block of every page, with the output that the page shows.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { playPage } from "./page.ts";

const PAGES = globSync(["docs/*.md", "docs/ci/*.md"])
  .sort()
  .filter((page) => readFileSync(page, "utf8").includes("\n```sh\n"));

describe("docs", () => {
  for (const page of PAGES)
    test(`${page} shows the real output of its commands`, { timeout: 300_000 }, () => {
      const text = readFileSync(page, "utf8");
      const played = playPage(text);
      expect(played.failures).toEqual([]);
      if (process.env.UPDATE !== undefined) writeFileSync(page, played.text);
      else expect(played.text).toBe(text);
    });
});
