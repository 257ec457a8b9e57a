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
