// docs/reference is what the program says about itself.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REFERENCE, referencePages, VARIABLES, variablesInSources } from "../../scripts/reference.ts";

describe("docs/reference", () => {
  test("matches the help of the commands, the codes, and the kinds (else run npm run reference)", {
    timeout: 120_000,
  }, async () => {
    const pages = await referencePages();
    expect(globSync("**/*.md", { cwd: REFERENCE }).sort()).toEqual([...pages.keys()].sort());
    for (const [path, text] of pages) expect(readFileSync(join(REFERENCE, path), "utf8"), path).toBe(text);
  });

  test("lists every environment variable that the program reads", () => {
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining([...variablesInSources()]));
  });
});
