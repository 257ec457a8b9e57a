// The self-test: each seeded bug is noticed by the suite that is there for it, at the size of `npm test`.

import { expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { trial } from "./trial.ts";

test("there are at least fifteen seeded bugs, each under its own name", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(15);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

test.for(mutants)(
  "$name is caught by $suite: $bug",
  { timeout: 120_000, concurrent: true },
  async (mutant) => {
    const { caught, said } = await trial(mutant, mutant.suite);
    expect(caught, said).toBe(true);
  },
);
