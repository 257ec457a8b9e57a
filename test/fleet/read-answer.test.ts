// What the result of a run keeps of the JSON that its command printed.

import { expect, test } from "vitest";
import { answerOf } from "../../src/fleet/model/result.ts";

const finding = (severity: string, message: string) => ({ severity, code: "PLAN_UNREADABLE", message });
const WARNINGS = Array.from({ length: 60 }, (_, at) => finding("warning", `warning ${at}`));

test.each([
  ["plan", JSON.stringify({ diagnostics: [...WARNINGS, finding("error", "the cause")] })],
  [
    "apply",
    [...WARNINGS, finding("error", "the cause")]
      .map((diagnostic) => JSON.stringify({ diagnostic }))
      .join("\n"),
  ],
] as const)(
  "the error of a failed %s comes before its warnings, of which the last are left out",
  (command, text) => {
    const { diagnostics } = answerOf(command, text);
    expect(diagnostics).toHaveLength(50);
    expect(diagnostics[0]?.message).toBe("the cause");
    expect(diagnostics[1]?.message).toBe("warning 0");
  },
);
