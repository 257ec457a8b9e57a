// Crashes at every moment of every write, and of the run that recovers from one.

import { expect, test } from "vitest";
import { testSuite } from "./run/suite-test.ts";
import { crash, emptyCells, writesOfProviders } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { double } from "./suites/crashes/double.ts";

test("no write of a kind is without a crash point at each of the seven moments", async () => {
  expect(writesOfProviders().size).toBeGreaterThan(30);
  expect(await emptyCells()).toEqual([]);
});

testSuite(crash, "the next run completes a run that crashed anywhere");
testSuite(double, "a later run completes a run whose recovery crashed as well");
testSuite(cut, "the next run completes a run that crashed with four requests in flight, received or not");
