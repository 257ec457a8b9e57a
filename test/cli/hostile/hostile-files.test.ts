// Files that are made to hang, blow up, or mislead their reader, read by the real program in a separate process.

import { describe, expect, test } from "vitest";
import { sampleFrom } from "../../sample-size.ts";
import { HOSTILE_FILES } from "./hostile-files.ts";
import { meet } from "./met.ts";

describe("hostile files", () => {
  test.each(sampleFrom(HOSTILE_FILES).map((one) => [one.name, one] as const))(
    "%s: refused with a place, and nothing written",
    (_, one) => {
      expect(meet(one).wrong).toEqual([]);
    },
    60_000,
  );
});
