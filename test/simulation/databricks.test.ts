// A sample of the suites in the Databricks dialect. `npm run simulate -- --dialect databricks` runs them in full.

import { vi } from "vitest";
import { testSuite } from "./run/suite-test.ts";
import { crash } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";

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
