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
      // A low rate is tried once at a higher one.
      expect(between(refused, 2, 25)).toBeLessThanOrEqual(setting.limit < 20 ? 1 : 0);
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
  type Served = readonly [begun: number, answered: number];
  const refusedAfter = (answers: readonly Served[], refused: readonly number[], until: number): Pace => {
    const pace = createPace();
    for (const [begun, answered] of answers) pace.served(begun, answered);
    for (const begun of refused) pace.refused(begun);
    pace.hold(until);
    expect(pace.next(until)).toBe(until);
    return pace;
  };
  const evenly = (count: number, from: number, step: number, latency = 50): Served[] =>
    Array.from({ length: count }, (_, at) => [from + at * step, from + at * step + latency]);

  test.each<[string, readonly Served[], readonly number[], number]>([
    ["is the most that was served in a second", evenly(10, 0, 100), [950], 10],
    ["counts a later second with more", [...evenly(1, 0, 1), ...evenly(12, 1_200, 10)], [1_900], 12],
    ["counts no second and a bit", evenly(2, 0, 1_000), [1_000], 1],
    ["counts all of a second but its last instant", evenly(2, 0, 999), [1_000], 2],
    ["is one a second where nothing was served", [], [950], 1],
    [
      "counts requests by when they began",
      [
        [0, 100],
        [10, 1_200],
        [20, 2_300],
      ],
      [950],
      3,
    ],
    [
      "counts requests by when they were answered",
      [
        [0, 1_900],
        [1_000, 1_910],
        [2_000, 2_010],
      ],
      [2_001 - 2],
      2,
    ],
    [
      "counts answers in whatever order they come",
      [
        [101, 2_000],
        [1_101, 1_000],
        [2_100, 1_900],
      ],
      [2_100],
      2,
    ],
    [
      "counts only the two seconds before the refusal",
      [...evenly(50, 2_951, 1), ...evenly(4, 3_001, 300), [5_000, 5_050], ...evenly(40, 5_001, 1)],
      [5_000],
      4,
    ],
    ["counts up to the last refusal", [...evenly(2, 5_000, 1), ...evenly(3, 5_200, 1)], [5_400, 5_100], 5],
    ["keeps what it counts after ten seconds of requests", evenly(1_000, 0, 10), [9_990], 100],
    ["keeps the last seconds when it drops older ones", evenly(606, 0, 10), [6_050], 100],
  ])("%s", (_what, answers, refused, measured) => {
    expect(rateAt(refusedAfter(answers, refused, 20_000), 20_000)).toBeCloseTo(measured * 0.983, 6);
  });

  test("is set only at the end of the hold", () => {
    const pace = refusedAfter(evenly(10, 0, 100), [950], 2_000);
    pace.refused(2_000);
    pace.hold(4_000);
    pace.next(3_999);
    for (const [begun] of evenly(12, 1_980, 1)) pace.served(begun, 3_999);
    expect(rateAt(pace, 4_000)).toBeCloseTo(9.83 * 0.97, 6);
  });

  test.each([
    ["falls by a fifth where much less was served", 1, 9.83 * 0.8],
    ["falls to what was served", 9, 9 * 0.983],
    ["falls a little where more was served", 50, 9.83 * 0.97],
  ])("%s before the next refusal", (_what, count, expected) => {
    const pace = refusedAfter(evenly(10, 0, 100), [950], 2_000);
    for (const [begun, answered] of evenly(count, 4_000, 1)) pace.served(begun, answered);
    pace.refused(4_900);
    pace.hold(6_000);
    expect(rateAt(pace, 6_000)).toBeCloseTo(expected, 6);
  });

  test("does not fall for a refusal of a request from before it was set", () => {
    const pace = refusedAfter(evenly(10, 0, 100), [950], 2_000);
    pace.refused(1_999);
    expect(rateAt(pace, 2_500)).toBeCloseTo(9.83, 6);
    pace.refused(2_000);
    expect(rateAt(pace, 3_000)).toBeCloseTo(9 * 0.983, 6);
  });

  test("is a guess only while the guess is given", () => {
    const pace = createPace();
    pace.begin(1_000, 2);
    expect(pace.next(1_000, 2)).toBe(0);
    pace.begin(1_000, 2);
    expect(pace.next(1_000, 2)).toBe(1_998);
    expect(pace.next(1_000)).toBe(0);
    pace.hold(5_000);
    expect(pace.next(1_000, 2)).toBe(5_000);
  });

  test("lets one request begin in a second if a lower rate is guessed", () => {
    const pace = createPace();
    expect(pace.next(1_000, 0.5)).toBe(0);
    pace.begin(1_000, 0.5);
    expect(pace.next(1_000, 0.5)).toBe(2_000);
  });

  test("is never less than one request in two seconds", () => {
    const pace = refusedAfter([], [950], 2_000);
    for (let round = 1; round <= 40; round++) {
      pace.refused(2_000 + round * 1_000);
      pace.next(2_000 + round * 1_000);
    }
    expect(rateAt(pace, 60_000)).toBeCloseTo(0.5, 6);
  });

  const risen = (pace: Pace, times: readonly number[]) =>
    times.map((now) => {
      pace.served(now, now);
      return Math.round((pace.rate ?? 0) * 10) / 10;
    });

  test("rises after half a minute without a refusal, returns to the rate before, and then rises by one each second", () => {
    const pace = refusedAfter(evenly(40, 0, 20), [950], 2_000);
    expect(risen(pace, [31_999, 32_000, 32_999, 33_000])).toEqual([39.3, 59, 59, 88.5]);
    pace.refused(33_500);
    pace.hold(34_500);
    pace.next(34_500);
    expect(risen(pace, [64_499, 64_500, 65_000, 65_500])).toEqual([59, 60, 60, 61]);
    for (const begun of [65_600, 66_700]) {
      pace.refused(begun);
      pace.hold(begun + 1_000);
      pace.next(begun + 1_000);
    }
    expect(risen(pace, [97_699, 97_700])).toEqual([48, 49]);
  });

  test("rises within seconds if it is low, because the service may only refuse groups of requests", () => {
    const pace = refusedAfter([[900, 950]], [950], 2_000);
    expect(risen(pace, [2_999, 3_000, 3_999, 4_000, 5_000, 6_000])).toEqual([1, 1.5, 1.5, 2.2, 3.3, 5]);
  });

  test("falls faster each time that it is refused soon after it was set", () => {
    const pace = refusedAfter(evenly(100, 0, 9), [950], 2_000);
    const rates = [1, 2, 3, 4].map((round) => {
      for (const [begun, answered] of evenly(100, 2_000 * round, 9)) pace.served(begun, answered);
      pace.refused(2_000 * round + 950);
      pace.hold(2_000 * (round + 1));
      pace.next(2_000 * (round + 1));
      return pace.rate;
    });
    const first = 98.3 * 0.97;
    expect(rates).toEqual([first, first * 0.9, first * 0.9 * 0.8, first * 0.9 * 0.8 * 0.8]);
    for (const [begun, answered] of evenly(100, 14_000, 9)) pace.served(begun, answered);
    pace.refused(15_000);
    pace.hold(16_000);
    pace.next(16_000);
    expect(pace.rate).toBeCloseTo(first * 0.9 * 0.8 * 0.8 * 0.97, 6);
  });
});
