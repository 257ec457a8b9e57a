// `workspace test [FOLDER]`: runs the tests of specs, each on a workspace in memory. Needs no host, no token, and no network.

import { hasErrors } from "../../../core/diagnostic.ts";
import { TEST_FORMATS } from "../../../report/formats.ts";
import type { TestsView } from "../../../report/inspect/tests-view.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, integerOption, outputsOption, textsOption } from "../../command/option.ts";
import { inGroup } from "../../command/shared-options.ts";
import { testFailureDocument } from "../../output/failure-documents.ts";
import { withReports } from "../../output/reports.ts";

/** Tests share one thread. More at the same time would take each of them closer to its time limit. */
const PARALLELISM = 4;

export const testCommand = defineCommand({
  jsonSchema: "test-results",
  options: {
    filter: textsOption(
      "--filter <pattern>",
      "run only tests whose `FILE: NAME` contains this text; repeatable",
    ),
    update: flagOption("--update", "rewrite expectations that differ"),
    parallelism: integerOption(
      "--parallelism <number>",
      "number of tests at the same time (default: 4)",
      1,
      256,
    ),
    ...inGroup("Output", { output: outputsOption(["text", "json", "junit"]) }),
  },
  args: [{ name: "[folder]", description: "folder or test file (default: the current folder)" }],
  failureDocument: testFailureDocument,
  notes:
    "Test files are named NAME.test.yaml. Exit codes: 0 all tests passed, 1 a test failed, a file is invalid, or no test exists.",
  run: (context, options, [folder]) =>
    withReports(
      context,
      { output: options.output, untrusted: true },
      testFailureDocument,
      (reports, { onPathRead }) =>
        context.signals.during(async (signal) => {
          const { findTests, runTests } = await import("../../../workflow/spec-tests/run-tests.ts");
          const { cwd } = context;
          const { filter: filters, update, parallelism = PARALLELISM } = options;
          const foundTests = findTests(cwd, { folder, filters, onPathRead });
          const results = await runTests(foundTests, { cwd, parallelism, update, signal, onPathRead });
          const view = { results, diagnostics: foundTests.diagnostics };
          await reports.show<TestsView>(TEST_FORMATS, view, { host: "" });
          const failed = results.some(({ status }) => status === "failed");
          return failed || hasErrors(foundTests.diagnostics) ? EXIT.error : EXIT.ok;
        }),
    ),
});
