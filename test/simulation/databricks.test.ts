// A sample of the suites in the Databricks dialect. `npm run simulate -- --dialect databricks` runs them in full.

import { expect, test, vi } from "vitest";
import { faultFreeRun } from "./run/fault-free-run.ts";
import { againLine, outcomeOf } from "./run/suite.ts";
import { testSuite } from "./run/suite-test.ts";
import { crash } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";
import { repeat } from "./suites/faults/repeat.ts";
import { two } from "./suites/state/two.ts";

// Read by the suites when they are imported.
vi.hoisted(() => {
  process.env.SIMULATION_DIALECT = "databricks";
});

testSuite(
  { ...crash, sample: 60 },
  "in the Databricks dialect, the next run completes an apply that crashed",
);
testSuite(
  { ...cut, sample: 15 },
  "in the Databricks dialect, the next run completes an apply that crashed with four requests in flight",
);
testSuite(
  { ...faults, sample: 25 },
  "in the Databricks dialect, faulty responses never cause a lost or duplicate object",
);
testSuite(
  { ...late, sample: 15 },
  "in the Databricks dialect, a request that arrives late leaves no duplicate",
);

testSuite(
  { ...two, sample: 2 },
  "in the Databricks dialect, the second of two applies waits, recovers from a killed first, and is safe from a paused one",
);

test.each(["dialect", "dialect-create"])(
  "in the Databricks dialect, a run and the next one leave one object of each create that arrives twice (%s)",
  { timeout: 60_000 },
  async (scenario) => {
    const { writes } = await faultFreeRun(scenario);
    const creates = writes.flatMap(({ operation }, nth) =>
      operation.endsWith("/create") ? [String(nth)] : [],
    );
    for (const nth of ["all", ...creates])
      for (const answer of ["first", "second"]) {
        const name = `${scenario}/${nth}/${answer}`;
        expect(await outcomeOf(repeat, name), againLine(repeat, name)).toEqual([]);
      }
  },
);

test.each(["workspace-conf/get|wrong types|once", "scim/me|wrong types|always"])(
  "in the Databricks dialect, a run stops at an answer that hides a setting or the caller, and the next one finishes (%s)",
  async (cell) => {
    const name = `dialect|${cell}`;
    expect(await outcomeOf(faults, name), againLine(faults, name)).toEqual([]);
  },
);
