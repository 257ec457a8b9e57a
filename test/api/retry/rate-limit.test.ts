import { expect, test } from "vitest";
import { createRateLimit, type RateLimitOptions } from "../../../src/api/retry/rate-limit.ts";
import { timeline } from "../scripted.ts";

function pace(over: Partial<RateLimitOptions> = {}) {
  const time = timeline();
  const { clock, sleep: pause } = time;
  const made = createRateLimit({
    parallelism: 2,
    perSecond: undefined,
    clock,
    pause,
    stopped: () => false,
    ...over,
  });
  return { time, ...made };
}

test("as many as allowed leave at once; the next one waits for a place", async () => {
  const { enter, leave } = pace();
  expect([enter("jobs/list"), enter("jobs/list")]).toEqual([undefined, undefined]);
  let entered = false;
  const third = enter("jobs/list")?.then(() => {
    entered = true;
  });
  await Promise.resolve();
  expect(entered).toBe(false);
  leave();
  await third;
  expect(entered).toBe(true);
});

test("places are given in the order in which they were asked for", async () => {
  const { enter, leave } = pace({ parallelism: 1 });
  enter("jobs/list");
  const order: number[] = [];
  const turns = [1, 2, 3].map((n) =>
    enter("jobs/list")?.then(() => {
      order.push(n);
      leave();
    }),
  );
  leave();
  await Promise.all(turns);
  expect(order).toEqual([1, 2, 3]);
});

test("after a hold everyone waits for its end, also those that stood in line", async () => {
  const { enter, leave, hold, time } = pace({ parallelism: 1 });
  enter("jobs/list");
  const second = enter("jobs/list");
  hold("jobs/list", time.clock() + 5_000);
  leave();
  await second;
  expect(time.waits).toEqual([5_000]);
});

test("a shorter hold does not shorten a longer one", async () => {
  const { enter, hold, time } = pace();
  hold("jobs/list", time.clock() + 5_000);
  hold("jobs/list", time.clock() + 1_000);
  await enter("jobs/list");
  expect(time.waits).toEqual([5_000]);
});

test("a rate spreads the beginnings over the second", async () => {
  const { enter, leave, time } = pace({ perSecond: 10 });
  for (let n = 0; n < 4; n++) {
    await enter("jobs/list");
    leave();
  }
  expect(time.waits).toEqual([100, 100, 100]);
});

test("timers that end early do not raise the rate", async () => {
  const time = timeline();
  const { enter, leave } = createRateLimit({
    parallelism: 1,
    perSecond: 10,
    clock: time.clock,
    pause: (ms) => time.sleep(ms > 2 ? ms - 2 : ms),
    stopped: () => false,
  });
  const begin = time.clock();
  for (let n = 0; n <= 10; n++) {
    await enter("jobs/list");
    leave();
  }
  expect(time.clock() - begin).toBe(1_000);
});

test("waiting that was called off does not turn into a busy loop", async () => {
  const { enter, hold, time } = pace({ stopped: () => true, pause: async () => undefined });
  hold("jobs/list", time.clock() + 5_000);
  expect(enter("jobs/list")).toBeUndefined();
});

test("a request that waits for its endpoint leaves its place to other endpoints", async () => {
  const { enter, leave, hold, time } = pace({ parallelism: 1 });
  hold("jobs/list", time.clock() + 5_000);
  const waits = enter("jobs/list");
  expect(enter("pools/list")).toBeUndefined();
  leave();
  await waits;
  expect(time.waits).toEqual([5_000]);
});

/** A clock and sleepers that are moved and woken by hand. */
function byHand(over: Partial<RateLimitOptions> = {}) {
  const sleepers: { readonly ms: number; readonly wake: () => void }[] = [];
  const order: string[] = [];
  const hand = { now: 0 };
  const limit = pace({
    clock: () => hand.now,
    pause: (ms) => new Promise((wake) => sleepers.push({ ms, wake })),
    ...over,
  });
  const enter = (endpoint: string, name = endpoint) => {
    const turn = limit.enter(endpoint);
    if (turn === undefined) order.push(name);
    else void turn.then(() => order.push(name));
  };
  const settled = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    return order;
  };
  return { ...limit, enter, sleepers, hand, settled };
}

test("requests of several endpoints leave in the order of their arrival", async () => {
  const { enter, leave, settled } = byHand({ parallelism: 1 });
  enter("pools/list", "first");
  for (const name of ["jobs/list 1", "pools/list 2", "jobs/list 3", "users/list 4"])
    enter(name.slice(0, -2), name);
  for (let left = 0; left < 5; left++) leave();
  expect(await settled()).toEqual(["first", "jobs/list 1", "pools/list 2", "jobs/list 3", "users/list 4"]);
});

test("the pause ends with the first endpoint that is due, and others wait on", async () => {
  const { enter, hold, sleepers, hand, settled } = byHand();
  hold("jobs/list", 5_000);
  hold("pools/list", 1_000);
  enter("jobs/list");
  enter("pools/list");
  expect(sleepers.map(({ ms }) => ms)).toEqual([5_000, 1_000]);
  hand.now = 1_000;
  sleepers[1]?.wake();
  expect(await settled()).toEqual(["pools/list"]);
  hand.now = 5_000;
  for (const { wake } of sleepers) wake();
  expect(await settled()).toEqual(["pools/list", "jobs/list"]);
});

test("one pause serves all requests that are due at its end", async () => {
  const { enter, hold, sleepers, hand, settled } = byHand();
  hold("jobs/list", 5_000);
  enter("jobs/list", "1");
  enter("jobs/list", "2");
  expect(sleepers).toHaveLength(1);
  hand.now = 5_000;
  sleepers[0]?.wake();
  expect(await settled()).toEqual(["1", "2"]);
  hold("jobs/list", 9_000);
  enter("jobs/list", "3");
  expect(sleepers.map(({ ms }) => ms)).toEqual([5_000]);
});

test("a timer that ends up to 50 ms early is set again; one that ends earlier has passed", async () => {
  const { enter, hold, sleepers, hand, settled } = byHand();
  hold("jobs/list", 5_000);
  enter("jobs/list");
  hand.now = 4_950;
  sleepers[0]?.wake();
  expect(await settled()).toEqual([]);
  expect(sleepers.map(({ ms }) => ms)).toEqual([5_000, 50]);
  hand.now = 4_949;
  sleepers[1]?.wake();
  expect(await settled()).toEqual(["jobs/list"]);
});

test("a request does not overtake one that waits for the same endpoint", async () => {
  const { enter, hold, hand, settled } = byHand({ parallelism: 1 });
  hold("jobs/list", 5_000);
  enter("jobs/list", "early");
  hand.now = 5_000;
  enter("jobs/list", "late");
  expect(await settled()).toEqual(["early"]);
});

test("without a limit, a clock that is set back delays nothing", async () => {
  const { enter, leave, hand, settled } = byHand({ parallelism: 1 });
  hand.now = 60_000;
  enter("jobs/list", "1");
  leave();
  hand.now = 0;
  enter("jobs/list", "2");
  expect(await settled()).toEqual(["1", "2"]);
});

test("after a 429, requests leave a little slower than they were served", async () => {
  const { enter, leave, answered, hold, time } = pace({ parallelism: 64 });
  const start = time.clock();
  for (let n = 0; n < 10; n++) {
    enter("jobs/list");
    leave();
    answered("jobs/list", start, false);
  }
  answered("jobs/list", start, true);
  hold("jobs/list", start + 1_000);
  for (let n = 0; n < 3; n++) await enter("jobs/list");
  const gap = 1_000 / 9.7;
  expect(time.waits[0]).toBe(1_000);
  expect(time.waits[1]).toBeCloseTo(gap - 2, 0);
  expect(time.waits[2]).toBeCloseTo(gap, 0);
  expect(enter("pools/list")).toBeUndefined();
});
