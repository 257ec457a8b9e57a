// Options that have an effect only while a command waits.

import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";

test.each([
  ["run", "jobs.a", "--timeout", "5s"],
  ["run", "jobs.a", "--cancel-on-interrupt"],
  ["runs", "get", "1", "--timeout", "5s"],
  ["clusters", "start", "clusters.a", "--timeout", "5s"],
  ["clusters", "resize", "clusters.a", "--workers", "2", "--timeout", "5s"],
])("%s %s %s is refused without --wait, before a request", async (...argv) => {
  const context = contextWith();
  expect(await runProgram(context, argv)).toBe(1);
  expect(context.err()).toMatch(/^error CLI_USAGE: --(?:timeout|cancel-on-interrupt) requires --wait\n$/);
});
