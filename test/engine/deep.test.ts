// Several deaths in a row, at any step, with any parallelism, with and without a power cut: the run that lives finishes the work.

import { expect, test } from "vitest";
import type { Spec } from "../../src/spec/model/spec.ts";
import { crashingProcess } from "./crashing.ts";
import { FIRST, inventory, NOTHING, SECOND } from "./scenario.ts";
import { doing, Site } from "./site.ts";

/** DEEP_SEED and DEEP_COUNT repeat a sample or take a larger one. */
const SEED = Number(process.env.DEEP_SEED ?? 1);
const COUNT = Number(process.env.DEEP_COUNT ?? 6);

/** Whole numbers below `limit`, the same for the same seed. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * limit);
  };
}

async function siteAt(before: string | undefined): Promise<Site> {
  const site = await Site.start();
  site.env = { DB_PASSWORD: "first", OTHER_PASSWORD: "second" };
  if (before !== undefined) await site.drive(site.process().apply(await site.spec(before)));
  return site;
}

/** One run that crashes at a point, if it gets there. */
async function die(site: Site, spec: Spec, at: number, parallelism: number, pid: number): Promise<string> {
  const end = crashingProcess(at);
  const dying = site.process({ ...end.options, parallelism, pid }).apply(spec);
  await site.drive(Promise.race([dying, end.stopped]));
  return `${at} ${end.points.at(-1)}`;
}

async function sample(before: string | undefined, after: string, wanted: readonly string[], seed: number) {
  const roll = dice(seed);
  const site = await siteAt(before);
  const spec = await site.spec(after);
  const parallelism = [1, 2, 4, 10][roll(4)] ?? 1;
  const log: string[] = [`seed ${seed} parallelism ${parallelism}`];
  for (let death = 1 + roll(4); death > 0; death--) {
    log.push(await die(site, spec, roll(90), parallelism, 10 + death));
    if (roll(2) === 1) {
      site.disk.powerCut();
      log.push("power cut");
    }
  }
  const last = site.process({ pid: 99, parallelism });
  const { outcome } = await site.drive(last.apply(spec));
  const plan = await site.drive(last.plan(spec));
  const state = await site.state();
  const found = {
    failed: outcome.changes.filter((one) => one.result !== "applied" && one.action !== "noop"),
    again: doing(plan),
    open: state.open,
    live: await inventory(site),
    left: [...state.records.values()].filter((one) => one.deposed !== undefined || one.status !== "ready"),
  };
  site.close();
  const good = { failed: [], again: [], open: [], live: wanted, left: [] };
  return JSON.stringify(found) === JSON.stringify(good)
    ? []
    : [`${log.join(" | ")}: ${JSON.stringify(found)}`];
}

const WAYS = [
  ["creating everything", undefined, FIRST],
  ["updating and replacing", FIRST, SECOND],
  ["deleting everything", FIRST, NOTHING],
] as const;

for (const [way, before, after] of WAYS) {
  test(`up to four deaths in a row while ${way} leave nothing double, lost or open`, {
    timeout: 300_000,
  }, async () => {
    const calm = await siteAt(before);
    await calm.drive(calm.process().apply(await calm.spec(after)));
    const wanted = await inventory(calm);
    calm.close();
    const failures: string[] = [];
    for (let at = 0; at < COUNT; at++) failures.push(...(await sample(before, after, wanted, SEED + at)));
    expect(failures).toEqual([]);
  });
}
