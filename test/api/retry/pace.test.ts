// The rate of requests to one endpoint, on a virtual clock, against a service that serves so many in any second.

import { describe, expect, test } from "vitest";
import { createPace, type Pace } from "../../../src/api/retry/rate-limit.ts";

interface Setting {
  /** Requests that the service serves in any second. */
  readonly limit: number;
  readonly latencyMs: number;
  /** Requests that may be in flight at once. */
  readonly parallelism: number;
  readonly seconds: number;
  /** Seconds in which the client has nothing to send. */
  readonly idle?: readonly [number, number];
}

interface Played {
  readonly begun: readonly number[];
  readonly served: readonly number[];
  readonly refused: readonly number[];
}

/** Sends as fast as the pace allows, one step for each millisecond. */
function played({ limit, latencyMs, parallelism, seconds, idle = [0, 0] }: Setting): Played {
  const pace = createPace();
  const begun: number[] = [];
  const served: number[] = [];
  const refused: number[] = [];
  let answers: { readonly at: number; readonly begun: number; readonly ok: boolean }[] = [];
  for (let now = 0; now < seconds * 1_000; now++) {
    for (const answer of answers.filter(({ at }) => at <= now)) {
      if (answer.ok) pace.served(answer.begun, now);
      else {
        pace.refused(answer.begun);
        pace.hold(now + 1_000);
      }
    }
    answers = answers.filter(({ at }) => at > now);
    const isIdle = now >= idle[0] * 1_000 && now < idle[1] * 1_000;
    while (!isIdle && answers.length < parallelism && pace.next(now) <= now) {
      pace.begin(now);
      begun.push(now);
      const ok = served.filter((at) => at > now - 1_000).length < limit;
      (ok ? served : refused).push(now);
      answers.push({ at: now + (ok ? latencyMs : 1), begun: now, ok });
    }
  }
  return { begun, served, refused };
}

const between = (times: readonly number[], from: number, to: number): number =>
  times.filter((at) => at >= from * 1_000 && at < to * 1_000).length;

describe("pace", () => {
  test.each([
    { limit: 30, latencyMs: 100, parallelism: 64 },
    { limit: 30, latencyMs: 100, parallelism: 10 },
    { limit: 30, latencyMs: 5, parallelism: 10 },
    { limit: 5, latencyMs: 400, parallelism: 10 },
    { limit: 200, latencyMs: 20, parallelism: 64 },
  ])(
    "finds a limit of $limit a second at $latencyMs ms and $parallelism at once, and keeps just below it",
    (setting) => {
      const { served, refused } = played({ ...setting, seconds: 25 });
      // A low rate is tried at a higher one.
      expect(between(refused, 2, 25)).toBeLessThanOrEqual(setting.limit < 20 ? 2 : 0);
      expect(between(refused, 10, 25)).toBe(0);
      expect(between(served, 5, 25)).toBeGreaterThanOrEqual(setting.limit * 20 * 0.93);
    },
  );

  test("is without effect as long as nothing is refused", () => {
    const { begun } = played({ limit: 10_000, latencyMs: 10, parallelism: 10, seconds: 2 });
    expect(begun.length).toBe(2_000);
  });

  test("sends no burst after a pause", () => {
    const { begun, refused } = played({
      limit: 30,
      latencyMs: 100,
      parallelism: 64,
      seconds: 20,
      idle: [5, 12],
    });
    expect(between(begun, 12, 12.5)).toBeLessThanOrEqual(16);
    expect(between(refused, 2, 20)).toBe(0);
  });

  test("rises slowly once the rate was steady for half a minute, and falls when the service refuses again", () => {
    const { refused, served } = played({ limit: 30, latencyMs: 100, parallelism: 64, seconds: 120 });
    expect(between(refused, 2, 31)).toBe(0);
    expect(between(refused, 31, 120)).toBeGreaterThan(0);
    expect(between(refused, 31, 120)).toBeLessThan(30);
    expect(between(served, 31, 120)).toBeGreaterThan(30 * 89 * 0.75);
  });
});

describe("the rate", () => {
  /** Requests a second from now on: a request begins at `now`, and 2 ms of a late start may be made up for. */
  const rateAt = (pace: Pace, now: number): number => {
    pace.next(now);
    pace.begin(now);
    return 1_000 / (pace.next(now) - (now - 2));
  };
  const refusedAfter = (begun: readonly number[], refused: readonly number[], until: number): Pace => {
    const pace = createPace();
    for (const at of begun) pace.served(at, at + 50);
    for (const at of refused) pace.refused(at);
    pace.hold(until);
    expect(pace.next(until)).toBe(until);
    return pace;
  };
  const evenly = (count: number, from: number, step: number): readonly number[] =>
    Array.from({ length: count }, (_, at) => from + at * step);

  test.each<[string, readonly number[], readonly number[], number]>([
    ["is a little less than what was served in the last second", evenly(10, 0, 100), [950], 9.7],
    ["counts no second and a bit", [0, 1_000], [1_000], 0.97],
    ["counts all of a second but its first instant", [1, 1_000], [1_000], 1.94],
    ["is about one a second where nothing was served", [], [950], 0.97],
    [
      "counts what began up to the last refusal",
      [...evenly(2, 5_000, 1), 5_200, 5_500],
      [5_400, 5_100],
      2.91,
    ],
    ["keeps what it counts after ten seconds of requests", evenly(1_000, 0, 10), [9_990], 97],
    ["keeps the last seconds when it drops older ones", evenly(606, 0, 10), [6_050], 97],
  ])("%s", (_what, begun, refused, expected) => {
    expect(rateAt(refusedAfter(begun, refused, 20_000), 20_000)).toBeCloseTo(expected, 6);
  });

  test("is set only at the end of the hold, when the answers to requests in flight are there", () => {
    const pace = createPace();
    pace.refused(1_000);
    pace.hold(2_000);
    pace.next(1_999);
    for (const at of evenly(10, 900, 10)) pace.served(at, 1_999);
    pace.next(2_000);
    expect(pace.rate).toBeCloseTo(9.7, 6);
  });

  test("falls by a fifth each time that it is refused, but not below one request in two seconds", () => {
    const pace = refusedAfter(evenly(10, 0, 100), [950], 2_000);
    const rates = [3_000, 4_000].map((now) => {
      pace.refused(now);
      pace.hold(now + 500);
      pace.next(now + 500);
      return pace.rate;
    });
    expect(rates[0]).toBeCloseTo(7.76, 6);
    expect(rates[1]).toBeCloseTo(6.208, 6);
    for (let now = 5_000; now < 45_000; now += 1_000) {
      pace.refused(now);
      pace.next(now);
    }
    expect(pace.rate).toBe(0.5);
  });

  test("does not fall for a refusal of a request from before it was set", () => {
    const pace = refusedAfter(evenly(10, 0, 100), [950], 2_000);
    pace.refused(1_999);
    expect(rateAt(pace, 2_500)).toBeCloseTo(9.7, 6);
    pace.refused(2_000);
    expect(rateAt(pace, 3_000)).toBeCloseTo(7.76, 6);
  });

  const risen = (pace: Pace, times: readonly number[]) =>
    times.map((now) => {
      pace.served(now, now);
      return Math.round((pace.rate ?? 0) * 10) / 10;
    });

  test("rises by one each second after half a minute without a refusal", () => {
    const pace = refusedAfter(evenly(40, 0, 20), [950], 2_000);
    expect(risen(pace, [31_999, 32_000, 32_999, 33_000])).toEqual([38.8, 39.8, 39.8, 40.8]);
    pace.refused(33_500);
    pace.hold(34_500);
    pace.next(34_500);
    expect(risen(pace, [64_499, 64_500, 65_000, 65_500])).toEqual([32.6, 33.6, 33.6, 34.6]);
  });

  test("rises within seconds if it is low, because the service may only refuse groups of requests", () => {
    const pace = refusedAfter([900], [950], 2_000);
    expect(risen(pace, [2_999, 3_000, 3_999, 4_000, 5_000, 6_000])).toEqual([1, 1.5, 1.5, 2.2, 3.3, 4.9]);
  });

  test("rises slowly from the first refusal of a low rate on", () => {
    const pace = refusedAfter([900], [950], 2_000);
    risen(pace, [3_000, 4_000, 5_000, 6_000]);
    pace.refused(6_500);
    pace.hold(7_500);
    pace.next(7_500);
    expect(risen(pace, [8_500, 37_499, 37_500])).toEqual([3.9, 3.9, 4.9]);
  });
});
