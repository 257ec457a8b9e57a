// Crashes at every moment of every write, and of the run that recovers from one.

import { expect, test } from "vitest";
import { tryOut } from "./run/tried.ts";
import { crash, emptyCells, writesOfProviders } from "./suites/crashes/crash.ts";
import { cut } from "./suites/crashes/cut.ts";
import { double } from "./suites/crashes/double.ts";

test("no write of a kind is without a crash point at each of the seven moments", async () => {
  expect(writesOfProviders().size).toBeGreaterThan(30);
  expect(await emptyCells()).toEqual([]);
});

tryOut(crash, "a run that dies anywhere is finished by the next one");
tryOut(double, "so is one whose successor dies as well");
tryOut(cut, "so is one with four requests on their way, received or not");
