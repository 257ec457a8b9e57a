// A reporter of Vitest that names each test that passed only when it was tried again (`.ci/run`).

import type { Reporter, TestCase } from "vitest/node";

export default class FlakyReporter implements Reporter {
  onTestCaseResult(testCase: TestCase): void {
    const retries = testCase.diagnostic()?.retryCount ?? 0;
    if (testCase.result().state === "passed" && retries > 0)
      process.stdout.write(`FLAKY  ${testCase.module.relativeModuleId} > ${testCase.fullName}\n`);
  }
}
