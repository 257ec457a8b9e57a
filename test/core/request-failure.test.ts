// What ended a run, as diagnostics.

import { expect, test } from "vitest";
import { diagnosticOf, diagnosticsOf, NotSent } from "../../src/core/request-failure.ts";

test.each(["EMFILE", "ENFILE"])(
  "a run without file descriptors (%s) ends with the cause and the fix",
  (code) => {
    const problem = Object.assign(new Error(`${code}: too many open files, open 'x'`), { code });
    expect(diagnosticsOf(problem)).toEqual([
      {
        severity: "error",
        code: "CLI_FILE",
        message: "too many open files",
        cause: problem.message,
        hint: expect.stringContaining("ulimit -n"),
      },
    ]);
  },
);

test("an unexpected error is a bug to report", () => {
  expect(diagnosticsOf(new Error("x"))).toMatchObject([{ code: "CLI_INTERNAL", cause: "Error: x" }]);
});

test("a source file that cannot be opened, because too many files are open, fails its change with the cause", () => {
  const problem = Object.assign(new Error("EMFILE: too many open files, open 'x'"), { code: "EMFILE" });
  expect(diagnosticOf(new NotSent(problem))).toMatchObject({ code: "CLI_FILE", cause: problem.message });
});

test("an unexpected failure has no diagnostic", () => {
  expect(diagnosticOf(new Error("x"))).toBeUndefined();
});
