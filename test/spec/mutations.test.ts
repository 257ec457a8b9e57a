// Randomly damaged specs: each is read, or rejected with a location; none causes an internal error.

import { expect, test } from "vitest";
import { testSuite } from "../simulation/run/suite-test.ts";
import { specs } from "../simulation/suites/input/specs.ts";
import { Damages } from "./damage.ts";

testSuite(specs, "a damaged spec is planned or rejected with a location, and never causes an internal error");

test("the damage makes at least a quarter of the specs invalid, but not all", async () => {
  const damages = new Damages();
  for (let at = 0; at < 80; at++) await damages.verdict(1, at);
  damages.close();
  expect(damages.refused).toBeGreaterThan(20);
  expect(damages.refused).toBeLessThan(80);
});
