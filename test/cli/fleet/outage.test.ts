// What a worker learns about a database that does not answer.

import { expect, test } from "vitest";
import { outageWatch } from "../../../src/cli/fleet/fleet-database.ts";

/** A database that does not answer the first `failures` probes, and a clock on which only a sleep takes time. */
function watched(failures: number) {
  const lengths: number[] = [];
  const closed = new AbortController();
  let [probes, elapsed] = [0, 0];
  const problem = outageWatch({
    probe: () => {
      probes += 1;
      return probes <= failures ? Promise.reject(new Error("gone")) : Promise.resolve();
    },
    clock: {
      elapsed: () => elapsed,
      sleep: (ms) => {
        elapsed += ms;
        return new Promise((resolve) => setImmediate(resolve));
      },
    },
    closed: closed.signal,
    answersAgain: (outageMs) => lengths.push(outageMs),
  });
  return { problem, lengths, closed, probes: () => probes };
}

test("many problems of one outage are one outage, which has its length", async () => {
  const { problem, lengths } = watched(42);
  for (let at = 0; at < 5; at += 1) problem();
  await expect.poll(() => lengths).toEqual([42_000]);
});

test("a problem of a database that answers does not count as an outage", async () => {
  const { problem, lengths, probes } = watched(0);
  problem();
  await expect.poll(probes).toBe(1);
  expect(lengths).toEqual([]);
});

test("a watch that is closed says nothing", async () => {
  const { problem, lengths, closed, probes } = watched(Number.POSITIVE_INFINITY);
  problem();
  await expect.poll(probes).toBeGreaterThan(0);
  closed.abort();
  const last = probes();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([lengths, probes() - last]).toEqual([[], 0]);
});
