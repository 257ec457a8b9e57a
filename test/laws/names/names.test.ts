// Unique names that people can edit pass from one object to another within one apply, in any permutation.

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { registry } from "../../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../src/resource/dialect-view.ts";
import { crashingProcess } from "../../engine/crashing.ts";
import { doing, results, Site } from "../../engine/site.ts";
import { sampleOf } from "../../sample-size.ts";

const POLICY = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
const MACHINES = ["Standard_DS3_v2", "Standard_DS4_v2"] as const;

/** One pool of a spec: the number of its name, its node type, and the maximum of idle instances. */
interface Wanted {
  readonly name: number;
  readonly machine: (typeof MACHINES)[number];
  readonly idle: number;
}

function yamlOf(wanted: readonly (Wanted | undefined)[]): string {
  const pools = wanted.flatMap((one, at) =>
    one === undefined
      ? []
      : [
          `  p${at}: { instance_pool_name: n${one.name}, node_type_id: ${one.machine}, min_idle_instances: ${one.idle} }\n`,
        ],
  );
  return `${POLICY}${pools.length === 0 ? "users: {}\n" : `pools:\n${pools.join("")}`}`;
}

async function freshSite(): Promise<Site> {
  const site = await Site.start();
  onTestFinished(() => site.close());
  return site;
}

async function apply(site: Site, yaml: string): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  expect(results(outcome).filter((one) => !one.startsWith("applied "))).toEqual([]);
}

async function poolNames(site: Site): Promise<readonly string[]> {
  const { body } = await site.world.get("instance-pools/list", {});
  return ((body.instance_pools ?? []) as { instance_pool_name: string }[])
    .map((one) => one.instance_pool_name)
    .sort();
}

/** Applies once; afterwards the names match the spec, and the next plan is empty without drift. */
async function converges(site: Site, wanted: readonly (Wanted | undefined)[]): Promise<void> {
  await apply(site, yamlOf(wanted));
  expect(await poolNames(site)).toEqual(
    wanted.flatMap((one) => (one === undefined ? [] : [`n${one.name}`])).sort(),
  );
  const plan = await site.drive(site.process().plan(await site.spec(yamlOf(wanted))));
  expect(doing(plan)).toEqual([]);
  expect(plan.drift).toEqual([]);
}

test("pools are the only kind whose unique name can be edited in place, and they can be renamed", () => {
  const editable = registryIn(registry, CONTRACT_FIELDS).kinds.filter(
    ({ unique, nameField, fields }) =>
      unique && nameField !== undefined && fields[nameField]?.onChange !== "replace",
  );
  expect(editable.map((one) => one.kind)).toEqual(["pools"]);
  expect(editable.every((one) => one.operations.rename !== undefined)).toBe(true);
});

/** The order without cycles: the first pool of each cycle takes a name of no other. */
function withoutCycles(order: readonly number[]): readonly number[] {
  const freed = new Map<number, number>();
  const passed = new Set<number>();
  for (const start of order.keys()) {
    const cycle: number[] = [];
    for (let at = start; !passed.has(at); at = order[at] ?? at) {
      passed.add(at);
      cycle.push(at);
    }
    if (cycle.length > 1) freed.set(start, order.length + start);
  }
  return order.map((name, at) => freed.get(at) ?? name);
}

test("names pass along any chains of pools in one apply, and the next plan is empty", async () => {
  const names = [0, 1, 2, 3, 4, 5];
  const plain = (order: readonly number[]) =>
    order.map((name): Wanted => ({ name, machine: "Standard_DS3_v2", idle: 0 }));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(names, { minLength: names.length }), async (order) => {
      const site = await freshSite();
      await apply(site, yamlOf(plain(names)));
      const ids = (await site.state()).records;
      await converges(site, plain(withoutCycles(order)));
      // A rename keeps each object.
      for (const [address, record] of (await site.state()).records)
        expect(record.id).toBe(ids.get(address)?.id);
    }),
    { numRuns: sampleOf(25) },
  );
}, 120_000);

test("names that go round in a cycle are refused with the pool to rename first, and nothing is written", async () => {
  const site = await freshSite();
  const pools = (order: readonly number[]) =>
    yamlOf(order.map((name): Wanted => ({ name, machine: "Standard_DS3_v2", idle: 0 })));
  await apply(site, pools([0, 1, 2]));
  const plan = await site.drive(site.process().plan(await site.spec(pools([1, 2, 0]))));
  expect(plan.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
    ["PLAN_ALREADY_EXISTS", expect.stringMatching(/^choose another name for pools\.p\d first/)],
  ]);
  expect(await poolNames(site)).toEqual(["n0", "n1", "n2"]);
});

test("names also pass along deletes, creations, replacements and other field changes, in any mixture", async () => {
  const one = fc.record({
    machine: fc.constantFrom(...MACHINES),
    idle: fc.integer({ min: 0, max: 2 }),
    there: fc.boolean(),
  });
  const scene = fc
    .tuple(
      fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
      fc.array(one, { minLength: 5, maxLength: 5 }),
    )
    .map(([order, pools]) =>
      pools.map(({ machine, idle, there }, at): Wanted | undefined =>
        there ? { name: order[at] ?? 0, machine, idle } : undefined,
      ),
    )
    .filter((wanted) => wanted.some((pool) => pool !== undefined));
  /** Whether names of `before` go round among the pools of `after`: these take two applies. */
  const goesRound = (before: readonly (Wanted | undefined)[], after: readonly (Wanted | undefined)[]) =>
    after.some((_, start) => {
      let at = start;
      for (let steps = 0; steps < after.length; steps++) {
        const next = before.findIndex((pool) => pool !== undefined && pool.name === after[at]?.name);
        if (next === -1 || next === at) return false;
        if (next === start) return true;
        at = next;
      }
      return false;
    });
  /** A creation under the name of a pool that the spec drops looks like a renamed key, and is refused. */
  const takesFromDropped = (
    before: readonly (Wanted | undefined)[],
    after: readonly (Wanted | undefined)[],
  ) =>
    after.some((pool, at) => {
      const dropped = before.findIndex((other) => other !== undefined && other.name === pool?.name);
      return pool !== undefined && before[at] === undefined && dropped !== -1 && after[dropped] === undefined;
    });
  await fc.assert(
    fc.asyncProperty(scene, scene, async (before, after) => {
      fc.pre(!takesFromDropped(before, after) && !goesRound(before, after));
      const site = await freshSite();
      await converges(site, before);
      await converges(site, after);
    }),
    { numRuns: sampleOf(40) },
  );
}, 120_000);

test("a run that stops after any step of a chain leaves no drift, no open intent, and a plan that finishes it", async () => {
  const before = [0, 1].map((name): Wanted => ({ name, machine: "Standard_DS3_v2", idle: 0 }));
  const after = [1, 2].map((name): Wanted => ({ name, machine: "Standard_DS3_v2", idle: 1 }));
  const whole = crashingProcess();
  const calm = await freshSite();
  await apply(calm, yamlOf(before));
  await calm.drive(calm.process({ ...whole.options, parallelism: 1 }).apply(await calm.spec(yamlOf(after))));
  expect(whole.points.length).toBeGreaterThan(12);
  for (let at = 0; at < whole.points.length; at++) {
    const site = await freshSite();
    await apply(site, yamlOf(before));
    const dying = crashingProcess(at);
    const run = site
      .process({ ...dying.options, parallelism: 1, pid: 2 })
      .apply(await site.spec(yamlOf(after)));
    run.catch(() => undefined);
    await site.drive(Promise.race([run, dying.stopped]));
    const plan = await site.drive(site.process().plan(await site.spec(yamlOf(after))));
    const names = [
      ...plan.drift.flatMap((one) => one.diffs),
      ...plan.changes.flatMap((one) => (one.action === "update" ? one.diffs : [])),
    ].filter((diff) => diff.path[0] === "instance_pool_name");
    for (const diff of names) expect(diff.cause, `stopped at ${whole.points[at]}`).toBe("spec");
    await converges(site, after);
    expect((await site.state()).open).toEqual([]);
  }
}, 60_000);
