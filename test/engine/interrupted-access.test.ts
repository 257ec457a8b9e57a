// Crashes in changes of access lists and libraries, which are written after their object: none of what is missing then is blamed on others.

import { expect, test } from "vitest";
import { SAMPLE_STEP } from "../sample-size.ts";
import { blamedOnOthers, crashingProcess } from "./crashing.ts";
import { Site } from "./site.ts";

const LISTS = `
groups: { ops: {}, qa: {}, dev: {} }
pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: 5, access: { ops: CAN_MANAGE, qa: CAN_ATTACH_TO } }
clusters:
  adhoc:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: 2
    libraries: [{ jar: "dbfs:/a.jar" }, { pypi: { package: x } }]
    access: { ops: CAN_RESTART }
directories:
  /Shared/x: { access: { ops: CAN_READ } }
`;
const OTHER_LISTS = LISTS.replace("max_capacity: 5", "max_capacity: 6")
  .replace("ops: CAN_MANAGE, qa: CAN_ATTACH_TO", "dev: CAN_MANAGE, qa: CAN_MANAGE")
  .replace("a.jar", "b.jar")
  .replace("num_workers: 2", "num_workers: 3")
  .replace("ops: CAN_RESTART", "dev: CAN_RESTART")
  .replace("ops: CAN_READ", "dev: CAN_RUN");

async function siteAt(before: string | undefined): Promise<Site> {
  const site = await Site.start("azure");
  if (before !== undefined) await site.drive(site.process().apply(await site.spec(before)));
  return site;
}

test.each([
  ["created", undefined, LISTS],
  ["changed", LISTS, OTHER_LISTS],
])("access lists and libraries that are %s", { timeout: 120_000 }, async (_what, before, after) => {
  const calm = await siteAt(before);
  const counted = crashingProcess();
  await calm.drive(calm.process({ ...counted.options, parallelism: 1 }).apply(await calm.spec(after)));
  calm.close();
  const found: string[] = [];
  for (let at = 0; at < counted.points.length; at += 2 * SAMPLE_STEP) {
    const site = await siteAt(before);
    const spec = await site.spec(after);
    const end = crashingProcess(at);
    const dying = site.process({ ...end.options, parallelism: 1 }).apply(spec);
    await site.drive(Promise.race([dying.then(() => undefined), end.stopped]));
    for (const blame of await site.drive(blamedOnOthers(site.process({ pid: 2 }), spec)))
      found.push(`${at} ${end.points.at(-1)}: ${blame}`);
    site.close();
  }
  expect(counted.points.length).toBeGreaterThan(50);
  expect(found).toEqual([]);
});
