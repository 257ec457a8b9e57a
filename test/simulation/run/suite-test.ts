// Runs a suite at the size of `npm test`, as one test that shows how to repeat each failure.

import { expect, test } from "vitest";
import { sampleOf } from "../../sample-size.ts";
import { againLine, runSuite, type Suite } from "./suite.ts";

const MINUTES = 60_000;

export function testSuite(suite: Suite, claim: string): void {
  const count = sampleOf(suite.sample);
  test(`${claim} (${suite.name}: ${count} ${suite.unit})`, { timeout: 10 * MINUTES }, async () => {
    const { tried, failed } = await runSuite(suite, { seed: seedOf(), count });
    expect(failed.map(({ name, wrong }) => [againLine(suite, name), ...wrong.slice(0, 5)])).toEqual([]);
    expect(tried).toBeGreaterThan(0);
  });
}

/** SIMULATION_SEED tries other cases. */
export function seedOf(): number {
  return Number(process.env.SIMULATION_SEED ?? 1);
}
