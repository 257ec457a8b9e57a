// The double crash: a process dies, and the one that recovers dies too, at every pair of moments; the third run finishes.

import { calmRun } from "../calm.ts";
import { violations } from "../invariants.ts";
import { scenarios } from "../scenarios.ts";
import { randomFrom, type Suite } from "../suite.ts";
import { doom } from "../trace.ts";
import { Trial } from "../trial.ts";

/** Second deaths that are tried after one first death, where only some are. */
const EACH = 5;

/** How many moments the run has that recovers from a death at `first`. */
async function pointsAfter(scenario: string, first: number): Promise<number> {
  const { stage } = await calmRun(scenario);
  const trial = await Trial.of(stage);
  try {
    const end = doom(first);
    await trial.apply(end.options, end);
    const recovering = doom();
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
    const { points } = await calmRun(scenario);
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
    const { points } = await calmRun(name);
    for (let first = 0; first < points.length; first++) {
      const seconds = await pointsAfter(name, first);
      for (let second = 0; second < seconds; second++) names.push(`${name}/${first}/${second}`);
    }
  }
  return names;
}

export const double: Suite = {
  name: "double",
  what: "the process that recovers dies as well",
  unit: "pairs",
  sample: 60,

  cases: (seed, count) => (count === undefined ? every() : sampled(seed, count)),

  async run(name) {
    const [scenario = "", first, second] = name.split("/");
    const calm = await calmRun(scenario);
    const trial = await Trial.of(calm.stage);
    try {
      for (const at of [first, second]) {
        const end = doom(Number(at));
        await trial.apply(end.options, end);
        if (Number(at) % 2 === 1) trial.site.disk.powerCut();
      }
      await trial.apply();
      return await violations(trial, calm);
    } finally {
      trial.close();
    }
  },
};
