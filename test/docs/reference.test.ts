// docs/reference.md is what the program says about itself.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { referencePage, VARIABLES, variablesInSources } from "../../scripts/reference.ts";

describe("docs/reference.md", () => {
  test("matches the help of the commands, the codes, and the kinds (else run npm run reference)", {
    timeout: 120_000,
  }, async () => {
    expect(readFileSync("docs/reference.md", "utf8")).toBe(await referencePage());
  });

  test("lists every environment variable that the program reads", () => {
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining([...variablesInSources()]));
  });
});
