// What ended a run, as diagnostics.

import { expect, test } from "vitest";
import { diagnosticsOf } from "../../src/core/request-failure.ts";

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
