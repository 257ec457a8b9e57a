// Failures of a run as diagnostics.

import { expect, test } from "vitest";
import { diagnosticOf, NotSent } from "../../src/engine/failures.ts";

test("a source file that cannot be opened, because too many files are open, fails its change with the cause", () => {
  const problem = Object.assign(new Error("EMFILE: too many open files, open 'x'"), { code: "EMFILE" });
  expect(diagnosticOf(new NotSent(problem))).toMatchObject({ code: "CLI_FILE", cause: problem.message });
});

test("an unexpected failure has no diagnostic", () => {
  expect(diagnosticOf(new Error("x"))).toBeUndefined();
});
