// The rate of requests to one endpoint, on a virtual clock, against a service that serves so many in any second.

import { describe, expect, test } from "vitest";
import { createPace } from "../../../src/api/retry/pace.ts";

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
      expect(between(refused, 2, 25)).toBe(0);
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
