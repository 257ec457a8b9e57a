// Properties of the instances of a pool under any order of taking, giving back, editing and waiting.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  advanceInstances,
  available,
  type Lot,
  nextChange,
  returnInstances,
  statsOf,
  take,
} from "../../../../src/emulator/routes/pools/pool.ts";

const size = fc
  .record({
    min_idle_instances: fc.integer({ min: 0, max: 6 }),
    room: fc.integer({ min: 0, max: 10 }),
    idle_instance_autotermination_minutes: fc.constantFrom(0, 1, 60),
  })
  .map(({ room, ...rest }) => ({ ...rest, max_capacity: rest.min_idle_instances + room }));

const steps = fc.array(
  fc.record({
    act: fc.constantFrom("take", "give", "wait"),
    cluster: fc.constantFrom("a", "b", "c"),
    count: fc.integer({ min: 0, max: 8 }),
  }),
  { maxLength: 40 },
);

const sum = (lots: readonly Lot[]): number => lots.reduce((total, lot) => total + lot.count, 0);

test("B2.1 stats: no order of events makes instances appear, vanish from a cluster, or exceed the capacity", () => {
  fc.assert(
    fc.property(size, steps, (pool, events) => {
      let now = 0;
      let lots = advanceInstances([], pool, now);
      const held = new Map<string, number>();
      for (const { act, cluster, count } of events) {
        const has = held.get(cluster) ?? 0;
        if (act === "take") {
          const could = available(lots, pool);
          const taken = take(lots, pool, cluster, count, now);
          expect(taken.granted).toBe(Math.min(count, could));
          held.set(cluster, has + taken.granted);
          lots = taken.lots;
        } else if (act === "give") {
          lots = returnInstances(lots, cluster, count, now);
          held.set(cluster, Math.max(0, has - count));
        } else {
          now += count * 100;
        }
        lots = advanceInstances(lots, pool, now);
        for (const [id, expected] of held) {
          expect(sum(lots.filter((lot) => lot.cluster_id === id))).toBe(expected);
        }
        expect(sum(lots)).toBeLessThanOrEqual(pool.max_capacity);
        expect(Object.values(statsOf(lots)).reduce<number>((a, b) => a + Number(b), 0)).toBe(sum(lots));
      }
    }),
  );
});

test("B2.1 max_capacity: a lower one ends as many idle instances as it must, and no other", () => {
  fc.assert(
    fc.property(size, steps, fc.integer({ min: 0, max: 16 }), (pool, events, lower) => {
      let lots = advanceInstances([], pool, 0);
      let now = 0;
      for (const { act, cluster, count } of events) {
        now += 100;
        lots =
          act === "take"
            ? take(lots, pool, cluster, count, now).lots
            : returnInstances(lots, cluster, count, now);
      }
      const keep = { ...pool, idle_instance_autotermination_minutes: 60 };
      const before = advanceInstances(lots, keep, now);
      const after = advanceInstances(before, { ...keep, min_idle_instances: 0, max_capacity: lower }, now);
      const used = sum(before.filter((lot) => lot.cluster_id !== undefined));
      expect(sum(after)).toBe(Math.max(used, Math.min(sum(before), lower)));
    }),
  );
});

test("B4.1 rule 1: whatever happened, after the next changes the pool is at rest with its idle minimum or full", () => {
  fc.assert(
    fc.property(size, steps, (pool, events) => {
      let now = 0;
      let lots = advanceInstances([], pool, now);
      for (const { cluster, count } of events) {
        lots = advanceInstances(take(lots, pool, cluster, count, now).lots, pool, now);
        lots = advanceInstances(returnInstances(lots, cluster, Math.ceil(count / 2), now), pool, now);
      }
      for (let due = nextChange(lots, pool, now); due !== undefined; due = nextChange(lots, pool, now)) {
        expect(due).toBeGreaterThan(now);
        now = due;
        lots = advanceInstances(lots, pool, now);
      }
      const idle = sum(lots.filter((lot) => lot.cluster_id === undefined));
      expect(idle === pool.min_idle_instances || sum(lots) === pool.max_capacity).toBe(true);
    }),
  );
});
