// The outcome of an apply as text: failures by cause, in few lines at any size.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { type Diagnostic, error } from "../../../src/core/diagnostic.ts";
import type { ApplyOutcome, ChangeOutcome } from "../../../src/planner/model/plan.ts";
import { outcomeText } from "../../../src/report/format/outcome-text.ts";
import type { RunInfo } from "../../../src/report/text/run-info.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { INFO as PIPELINE } from "../plans.ts";

const changed = (
  name: string,
  rest: Pick<ChangeOutcome, "result"> & Partial<ChangeOutcome>,
): ChangeOutcome => ({
  ...{ address: addressOf("jobs", name), kind: "jobs", action: "update", elapsedMs: 1 },
  ...rest,
});

const failed = (name: string, diagnostic: Diagnostic): ChangeOutcome =>
  changed(name, { result: "failed", diagnostic });

const refused = (line: number): Diagnostic =>
  error("API_FORBIDDEN", "jobs/reset is not allowed", {
    at: { file: "workspace.yaml", line, column: 3 },
    hint: "use another token",
  });

const many = <T>(number: number, make: (at: number) => T): T[] =>
  Array.from({ length: number }, (_, at) => make(at));

const textOf = (changes: readonly ChangeOutcome[]): string => {
  const outcome: ApplyOutcome = { changes, diagnostics: [], interrupted: false, elapsedMs: 1_000 };
  return outcomeText(outcomeView(outcome), colorsFor(false));
};

describe("the text of an apply", () => {
  test("has a cause of several failures once, with their number and the first of them", () => {
    expect(textOf(many(72, (at) => failed(`job-${at}`, refused(at))))).toMatchInlineSnapshot(`
      "error API_FORBIDDEN: 72 changes failed: jobs/reset is not allowed
        hint: use another token
        update jobs.job-0, jobs.job-1, jobs.job-2, jobs.job-3, jobs.job-4, and 67 more

      Failed after 1.0 s: 72 failed; 0 created, 0 updated, 0 replaced, 0 deleted.
      Next: fix the causes, then run the same command again; it makes the changes that are missing.
      "
    `);
  });

  test("of a saved plan says to make a new one, since a plan is applied once", () => {
    const outcome = {
      changes: [failed("a", refused(1))],
      diagnostics: [],
      interrupted: false,
      elapsedMs: 1_000,
    };
    const shown = (info: RunInfo) => outcomeText(outcomeView(outcome), colorsFor(false), info);
    expect(shown({ ...PIPELINE, runUrl: undefined, savedPlan: true })).toContain(
      "Next: fix the causes, then make a new plan and apply it;",
    );
    expect(shown({ ...PIPELINE, savedPlan: true })).toContain(
      "Next: fix the causes, then run the pipeline again;",
    );
  });

  test("stays below 60 lines with 3,000 failures, causes, and blocked changes", () => {
    const text = textOf([
      ...many(1_000, (at) => failed(`a-${at}`, refused(at))),
      ...many(1_000, (at) => failed(`b-${at}`, error("API_REFUSED", `value ${at} is invalid`))),
      ...many(1_000, (at) =>
        changed(`c-${at}`, { result: "blocked", blockedBy: addressOf("jobs", `b-${at % 500}`) }),
      ),
    ]);
    expect(text.split("\n").length).toBeLessThan(60);
    expect(text).toContain("… and 992 more failures; `-o json` and `-o html=FILE` list each change");
    expect(text).toContain("… and 990 more blocked changes; `-o json` and `-o html=FILE` list each change");
  });

  test("of 3,000 changes that succeeded is one line", () => {
    expect(textOf(many(3_000, (at) => changed(`a-${at}`, { result: "applied" })))).toBe(
      "Applied in 1.0 s: 0 created, 3,000 updated, 0 replaced, 0 deleted.\n",
    );
  });
});
