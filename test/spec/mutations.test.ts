// Specs that were damaged at random: each is read, or refused with a place; none makes the program fail.

import { expect, test } from "vitest";
import { tryOut } from "../simulation/run/tried.ts";
import { specs } from "../simulation/suites/input/specs.ts";
import { Damages } from "./damage.ts";

tryOut(specs, "a damaged spec is planned or refused with a place, and is never a bug's occasion");

test("the damage is such that a quarter of the specs at least is refused, and some are not", async () => {
  const damages = new Damages();
  for (let at = 0; at < 80; at++) await damages.verdict(1, at);
  damages.close();
  expect(damages.refused).toBeGreaterThan(20);
  expect(damages.refused).toBeLessThan(80);
});
