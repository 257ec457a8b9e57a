// Tests of pages that share a browser.

import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { CHROMIUM, Reader } from "./chromium.ts";

/** Names the tests `<subject> in Chromium`, and skips them if it is not installed. */
export function describeInChromium(subject: string, tests: (open: Reader["open"]) => void): void {
  const missing = " (skipped: none at /usr/bin/chromium; set WORKSPACE_TEST_CHROMIUM)";
  describe.skipIf(CHROMIUM === undefined)(
    `${subject} in Chromium${CHROMIUM === undefined ? missing : ""}`,
    () => {
      let reader: Reader;
      beforeAll(async () => {
        reader = await Reader.start();
      }, 120_000);
      afterAll(() => reader.close());
      tests(async (html, options) => {
        const opened = await reader.open(html, options);
        onTestFinished(opened.done);
        return opened;
      });
    },
  );
}
