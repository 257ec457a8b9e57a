// The double crash: a process crashes, and the one that recovers crashes too, at every pair of moments; the third run
// finishes.

import { violations } from "../../checks/invariants.ts";
import { crashingProcess } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { randomFrom, type Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import type { Form } from "../../world/forms.ts";
import { scenarios } from "../../world/scenarios.ts";

/** The sampled second crashes after one first crash. */
const EACH = 5;

/** The number of moments of the run that recovers from a crash at `first`. */
export async function pointsAfter(scenario: string, first: number, form?: Form): Promise<number> {
  const { stage } = await faultFreeRun(scenario, form);
  const trial = await Trial.of(stage);
  try {
    const end = crashingProcess(first);
    await trial.apply(end.options, end);
    const recovering = crashingProcess();
    await trial.apply(recovering.options);
    return recovering.points.length;
  } finally {
    trial.close();
  }
}

async function sampled(seed: number, count: number): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const names: string[] = [];
  while (names.length < count) {
    const scenario = scenarios[pick(scenarios.length)]?.name ?? "create";
    const { points } = await faultFreeRun(scenario);
    const first = pick(points.length);
    const second = await pointsAfter(scenario, first);
    for (let each = 0; each < EACH && names.length < count; each++)
      names.push(`${scenario}/${first}/${pick(second)}`);
  }
  return names;
}

async function every(): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name } of scenarios) {
    const { points } = await faultFreeRun(name);
    for (let first = 0; first < points.length; first++) {
      const seconds = await pointsAfter(name, first);
      for (let second = 0; second < seconds; second++) names.push(`${name}/${first}/${second}`);
    }
  }
  return names;
}

/**
 * A process crashes at each point, one after the other, and the next one finishes. Odd points crash the machine too.
 */
export async function dieTwice(
  scenario: string,
  points: readonly number[],
  form?: Form,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    for (const at of points) {
      const end = crashingProcess(at);
      await trial.apply(end.options, end);
      if (at % 2 === 1) trial.site.disk.powerCut();
    }
    await trial.apply();
    return await violations(trial, reference);
  } finally {
    trial.close();
  }
}

export const double: Suite = {
  name: "double",
  what: "the process that recovers from a crash also crashes",
  unit: "pairs",
  sample: 20,

  cases: (seed, count) => (count === undefined ? every() : sampled(seed, count)),

  run(name) {
    const [scenario = "", first, second] = name.split("/");
    return dieTwice(scenario, [Number(first), Number(second)]);
  },
};
