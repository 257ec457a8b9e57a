// A sample of the suites in the Databricks dialect. `npm run simulate -- --dialect databricks` runs them in full.

import { vi } from "vitest";
import { tryOut } from "./run/tried.ts";
import { crash } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { faults } from "./suites/faults/faults.ts";
import { late } from "./suites/faults/late.ts";

// Read by the suites when they are imported.
vi.hoisted(() => {
  process.env.SIMULATION_DIALECT = "databricks";
});

tryOut(
  { ...crash, sample: 60 },
  "in the Databricks dialect, an apply that crashes is finished by the next one",
);
tryOut(
  { ...cut, sample: 15 },
  "in the Databricks dialect, an apply of four requests at once is finished by the next one",
);
tryOut(
  { ...faults, sample: 25 },
  "in the Databricks dialect, an ill answer neither loses nor duplicates anything",
);
tryOut({ ...late, sample: 15 }, "in the Databricks dialect, a request that arrives late leaves no duplicate");
