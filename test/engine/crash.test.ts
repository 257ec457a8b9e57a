// Crashes of a whole apply at each of its steps: the next run finishes the work, with nothing double, lost or left open.

import { afterEach, expect, test } from "vitest";
import { SAMPLE_STEP } from "../sample-size.ts";
import { crashingProcess } from "./crashing.ts";
import { FIRST, inventory, NOTHING, SECOND } from "./scenario.ts";
import { doing, Site } from "./site.ts";

const sites: Site[] = [];
afterEach(() => {
  for (const site of sites.splice(0)) site.close();
});

async function siteAt(before: string | undefined): Promise<Site> {
  const site = await Site.start();
  sites.push(site);
  site.env = { DB_PASSWORD: "first", OTHER_PASSWORD: "second" };
  if (before !== undefined) await site.drive(site.process().apply(await site.spec(before)));
  return site;
}

/** Every second point of those that the run samples, other ones for each scenario; CRASH_STEP=1 tries them all. */
const STEP = Number(process.env.CRASH_STEP ?? 2 * SAMPLE_STEP);
let offset = 0;

async function crashEverywhere(
  before: string | undefined,
  after: string,
  powerCut: boolean,
): Promise<number> {
  const calm = await siteAt(before);
  const counted = crashingProcess();
  await calm.drive(calm.process({ ...counted.options, parallelism: 1 }).apply(await calm.spec(after)));
  const wanted = await inventory(calm);
  const failures: string[] = [];
  offset += 1;
  for (let at = offset % STEP; at < counted.points.length; at += STEP) {
    const site = await siteAt(before);
    const spec = await site.spec(after);
    const end = crashingProcess(at);
    const dying = site
      .process({ ...end.options, parallelism: 1 })
      .apply(spec)
      .then(() => undefined);
    await site.drive(Promise.race([dying, end.stopped]));
    if (powerCut) site.disk.powerCut();
    const where = `${at} ${end.points.at(-1)}`;
    try {
      const second = site.process({ pid: 2 });
      await site.drive(second.apply(spec));
      const plan = await site.drive(second.plan(spec));
      const state = await site.state();
      const found = {
        again: doing(plan),
        diagnostics: plan.diagnostics,
        open: state.open,
        live: await inventory(site),
        deposed: [...state.records.values()].filter(
          (one) => one.deposed !== undefined || one.status !== "ready",
        ),
      };
      const good = { again: [], diagnostics: [], open: [], live: wanted, deposed: [] };
      if (JSON.stringify(found) !== JSON.stringify(good)) failures.push(`${where}: ${JSON.stringify(found)}`);
    } catch (failure) {
      failures.push(`${where}: ${String(failure)}`);
    }
    site.close();
    sites.splice(sites.indexOf(site), 1);
  }
  expect(failures).toEqual([]);
  return counted.points.length;
}

for (const powerCut of [false, true]) {
  const how = powerCut ? "power cut" : "kill";
  test(`a ${how} at any step of creating everything is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(undefined, FIRST, powerCut)).toBeGreaterThan(50);
  });
  test(`a ${how} at any step of updating and replacing is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(FIRST, SECOND, powerCut)).toBeGreaterThan(50);
  });
  test(`a ${how} at any step of deleting everything is finished by the next run`, {
    timeout: 120_000,
  }, async () => {
    expect(await crashEverywhere(FIRST, NOTHING, powerCut)).toBeGreaterThan(50);
  });
}
