// Every scenario gives exactly the output that stands in its file. `npm run test:update` writes what it really gives.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { played } from "./stage.ts";

const CASES = join(import.meta.dirname, "cases");

// The scenarios share a thread, so that one may wait for the work of others.
describe("acceptance", { timeout: 120_000 }, () => {
  for (const file of readdirSync(CASES).sort()) {
    const path = join(CASES, file);
    const text = readFileSync(path, "utf8");
    test.concurrent(`${file}: ${(text.split("\n")[0] ?? "").replace(/^# /, "")}`, async () => {
      const now = await played(text);
      if (process.env.UPDATE === "1") writeFileSync(path, now);
      else expect(now).toBe(text);
    });
  }
});
