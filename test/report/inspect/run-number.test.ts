// The number of a run within its job, as the text of a run shows it.

import { expect, test } from "vitest";
import { numberInJob } from "../../../src/report/inspect/cluster-text.ts";

test("is shown where the service counts the runs of a job, and not where it repeats the ID of the run", () => {
  expect(numberInJob({ run_id: 9400002, number_in_job: 2 })).toBe(", run 2 of it");
  expect(numberInJob({ run_id: 9400002, number_in_job: 9400002 })).toBe("");
  expect(numberInJob({ run_id: 9400002 })).toBe("");
});
