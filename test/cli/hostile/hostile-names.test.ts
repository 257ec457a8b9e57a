// Hostile names through the real commands: in the spec, in the workspace, and in what a service says when it refuses.

import { expect, test } from "vitest";
import { throughCommands } from "./hostile-names.ts";

test("nothing hidden, no command of a CI service and no forged line leaves through any command", async () => {
  const { leaks, runs, shown } = await throughCommands();
  expect(leaks).toEqual([]);
  expect(runs).toBeGreaterThan(70);
  // The name was there to leak: its marks are shown as escapes.
  expect(shown).toMatch(/\\u202e.*\\u200b/);
}, 60_000);
