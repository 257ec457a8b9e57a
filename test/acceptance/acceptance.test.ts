// Every scenario gives exactly the output in its file. `npm run test:update` rewrites that output.

import { describe, expect, test } from "vitest";
import { casesIn } from "./cases.ts";
import { expectedText } from "./expected-output.ts";
import { played } from "./stage.ts";

// The scenarios share a thread, so that one may wait for the work of others.
describe("acceptance", { timeout: 120_000 }, () => {
  for (const { name, path, text, title } of casesIn("cases"))
    test.concurrent(`${name}.txt: ${title}`, async () => {
      const now = await played(text);
      const expected = expectedText(path, text, now);
      // A rewritten file is played again: its output must be the same twice.
      expect(expected === text ? now : await played(expected)).toBe(expected);
    });
});
