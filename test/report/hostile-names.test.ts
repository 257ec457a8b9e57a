// Names and values that try to steer a terminal, a CI service or a reviewer, sent through every output.

import { describe, expect, test } from "vitest";
import type { Change } from "../../src/planner/model/change.ts";
import { planText } from "../../src/report/format/plan-text.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { SAMPLE_STEP } from "../sample-size.ts";
import { NAMES } from "./hostile-names.ts";
import { leaksOf } from "./hostile-outputs.ts";
import { planOf, update, viewOf } from "./plans.ts";

describe("hostile names", () => {
  // The simulation sends all of them. No step has a common divisor with the number of forms of each piece: each piece is here.
  const step = SAMPLE_STEP === 1 ? 4 : 11;
  const some = NAMES.filter((_, at) => at % step === 0);
  test(`none of ${some.length} names hides a character, runs a command or adds a line in any output, and JSON preserves each`, () => {
    expect(some.flatMap(leaksOf).slice(0, 20)).toEqual([]);
  }, 180_000);

  test("a value of several lines cannot pose as a change", () => {
    const diff = {
      path: ["node_type_id"],
      before: "a",
      after: "a\n  - DELETE  pools.x\nb",
      cause: "spec",
      replaces: false,
    } as const;
    const text = planText(viewOf(planOf([{ ...update, diffs: [diff] } as Change])), colorsFor(false));
    expect(text.split("\n").filter((line) => /^ {0,4}- DELETE/.test(line))).toEqual([]);
    expect(text).toContain("+   - DELETE  pools.x");
  });
});
