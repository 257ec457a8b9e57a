// Quartz expressions: what is one, and when it fires, also where clocks are put forward and back (contract B 2.2 CronSchedule).

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTimeZone, nextFiring, quartzProblem } from "../../../../src/core/quartz.ts";
import { sampleOf } from "../../../sample-size.ts";

/** The next times from an instant, as text in UTC. */
function times(expression: string, from: string, count: number, timezone = "UTC"): string[] {
  const out: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (out.length < count) {
    at = nextFiring(expression, timezone, at);
    if (at === undefined) break;
    out.push(new Date(at).toISOString().slice(0, 19));
  }
  return out;
}

describe("refused cron expressions", () => {
  test.each([
    ["five fields", "0 2 * * *"],
    ["eight fields", "0 0 0 ? * MON 2030 1"],
    ["nothing", ""],
    ["neither day as ?", "0 30 2,7,11,15 * * *"],
    ["both days as ?", "0 0 0 ? * ?"],
    ["second 60", "60 0 0 * * ?"],
    ["minute 60", "0 60 0 * * ?"],
    ["hour 24", "0 0 24 * * ?"],
    ["day 0", "0 0 0 0 * ?"],
    ["day 32", "0 0 0 32 * ?"],
    ["month 13", "0 0 0 1 13 ?"],
    ["weekday 0", "0 0 0 ? * 0"],
    ["weekday 8", "0 0 0 ? * 8"],
    ["year 1969", "0 0 0 1 1 ? 1969"],
    ["year 2100", "0 0 0 1 1 ? 2100"],
    ["a step of 0", "0 0/0 0 * * ?"],
    ["a step beyond the field", "0 0/60 0 * * ?"],
    ["a long name", "0 0 0 ? JANUARY MON"],
    ["a name of the wrong field", "0 0 0 ? MON MON"],
    ["an empty item", "0 0 0 1,,2 * ?"],
    ["L in a list", "0 0 0 1,L * ?"],
    ["L in the months", "0 0 0 1 L ?"],
    ["W without a day", "0 0 0 W * ?"],
    ["the sixth Friday", "0 0 0 ? * FRI#6"],
    ["two nth weekdays", "0 0 0 ? * MON#1,FRI#2"],
    ["? in the hours", "0 0 ? * * ?"],
    ["a nickname", "@daily"],
    ["an open range", "0 0 9- * * ?"],
  ])("B2.2 quartz_cron_expression: %s", (_what, expression) => {
    expect(quartzProblem(expression)).toBeDefined();
  });

  test("B2.2 quartz_cron_expression: any string has a problem or a schedule", () => {
    const number = fc.integer({ min: 0, max: 24 }).map(String);
    const range = fc.tuple(number, number).map(([from, to]) => `${from}-${to}`);
    const step = fc.tuple(fc.oneof(number, range, fc.constant("*")), number).map((parts) => parts.join("/"));
    const part = fc.oneof(fc.constant("*"), number, range, step);
    const day = fc.oneof(fc.constantFrom("?", "L", "LW", "L-3", "L-30W", "15W"), part);
    const month = fc.oneof(fc.constantFrom("*", "NOV-FEB"), part);
    const weekday = fc.oneof(fc.constantFrom("?", "?", "?", "L", "6L", "6#3", "FRI#5", "FRI-MON"), part);
    const text = fc.tuple(part, part, part, day, month, weekday).map((parts) => parts.join(" "));
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(text, (expression) => {
        const isValid = quartzProblem(expression) === undefined;
        if (isValid) nextFiring(expression, "Europe/Paris", Date.UTC(2020, 0, 1));
        verdicts.add(isValid);
      }),
      { numRuns: sampleOf(500) },
    );
    expect(verdicts.size).toBe(2);
  });
});

describe("when it fires", () => {
  test.each([
    ["0 30 2 * * ?", ["2020-03-01T02:30:00", "2020-03-02T02:30:00"]],
    ["0 0/20 * * * ?", ["2020-03-01T00:20:00", "2020-03-01T00:40:00"]],
    ["0 5/30 * * * ?", ["2020-03-01T00:05:00", "2020-03-01T00:35:00"]],
    ["30 * * * * ?", ["2020-03-01T00:00:30", "2020-03-01T00:01:30"]],
    ["0 0 12 ? * MON-FRI", ["2020-03-02T12:00:00", "2020-03-03T12:00:00"]],
    ["0 0 12 ? * FRI-MON", ["2020-03-01T12:00:00", "2020-03-02T12:00:00", "2020-03-06T12:00:00"]],
    ["0 0 12 ? * 1", ["2020-03-01T12:00:00", "2020-03-08T12:00:00"]],
    ["0 0 12 ? * 7", ["2020-03-07T12:00:00", "2020-03-14T12:00:00"]],
    ["0 0 12 ? * L", ["2020-03-07T12:00:00", "2020-03-14T12:00:00"]],
    ["0 0 22-1 * * ?", ["2020-03-01T01:00:00", "2020-03-01T22:00:00", "2020-03-01T23:00:00"]],
    ["0 0 0 L * ?", ["2020-03-31T00:00:00", "2020-04-30T00:00:00"]],
    ["0 0 0 L-3 * ?", ["2020-03-28T00:00:00", "2020-04-27T00:00:00"]],
    [
      "0 0 0 L-1 2 ?",
      ["2021-02-27T00:00:00", "2022-02-27T00:00:00", "2023-02-27T00:00:00", "2024-02-28T00:00:00"],
    ],
    ["0 0 0 LW * ?", ["2020-03-31T00:00:00", "2020-04-30T00:00:00", "2020-05-29T00:00:00"]],
    ["0 0 0 15W * ?", ["2020-03-16T00:00:00", "2020-04-15T00:00:00"]],
    ["0 0 0 1W * ?", ["2020-03-02T00:00:00", "2020-04-01T00:00:00"]],
    ["0 0 0 ? * 6L", ["2020-03-27T00:00:00", "2020-04-24T00:00:00"]],
    ["0 0 0 ? * FRIL", ["2020-03-27T00:00:00", "2020-04-24T00:00:00"]],
    ["0 0 0 ? * 6#3", ["2020-03-20T00:00:00", "2020-04-17T00:00:00"]],
    ["0 0 0 ? * SUN#5", ["2020-03-29T00:00:00", "2020-05-31T00:00:00"]],
    ["0 0 0 29 2 ?", ["2024-02-29T00:00:00", "2028-02-29T00:00:00"]],
    ["0 0 0 1 jan ? 2022-2023", ["2022-01-01T00:00:00", "2023-01-01T00:00:00"]],
    ["0 0 0 1/10 * ?", ["2020-03-11T00:00:00", "2020-03-21T00:00:00", "2020-03-31T00:00:00"]],
  ])("B2.2 quartz_cron_expression: %s", (expression, expected) => {
    expect(times(expression, "2020-03-01T00:00:00Z", expected.length)).toEqual(expected);
  });

  test("B2.2 quartz_cron_expression: one whose years are over never fires again", () => {
    expect(times("0 0 0 1 1 ? 2019", "2020-03-01T00:00:00Z", 1)).toEqual([]);
  });

  test("B2.2 quartz_cron_expression: 30 February never comes", () => {
    expect(times("0 0 0 30 2 ?", "2020-03-01T00:00:00Z", 1)).toEqual([]);
  });
});

describe("time zones", () => {
  test("B2.2 timezone_id: the expression is resolved in it", () => {
    expect(times("0 30 2 * * ?", "2020-02-01T00:00:00Z", 1, "Asia/Kolkata")).toEqual(["2020-02-01T21:00:00"]);
  });

  test("B2.2 daylight saving: a time that the clock skips still fires once that day", () => {
    // Paris goes from 2:00 to 3:00 on 29 March 2020.
    expect(times("0 30 2 * * ?", "2020-03-28T00:00:00Z", 3, "Europe/Paris")).toEqual([
      "2020-03-28T01:30:00",
      "2020-03-29T01:00:00",
      "2020-03-30T00:30:00",
    ]);
  });

  test("B2.2 daylight saving: a time that comes twice fires once", () => {
    // Paris goes from 3:00 back to 2:00 on 25 October 2020.
    expect(times("0 30 2 * * ?", "2020-10-24T00:00:00Z", 3, "Europe/Paris")).toEqual([
      "2020-10-24T00:30:00",
      "2020-10-25T00:30:00",
      "2020-10-26T01:30:00",
    ]);
  });

  test("B2.2 daylight saving: a schedule of every half hour fires every half hour of real time on both days", () => {
    for (const day of ["2020-03-29", "2020-10-25"]) {
      const fired = times("0 0/30 * * * ?", `${day}T00:00:00Z`, 8, "Europe/Paris").map((at) =>
        Date.parse(`${at}Z`),
      );
      const gaps = fired.slice(1).map((at, index) => at - (fired[index] ?? 0));
      expect(new Set(gaps)).toEqual(new Set([30 * 60_000]));
    }
  });

  test.each(["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "GMT"])(
    "B2.2 timezone_id: %s is one",
    (id) => {
      expect(isTimeZone(id)).toBe(true);
    },
  );

  test.each(["", "Mars/Olympus", "Europe/", "Paris"])("B2.2 timezone_id: %s is none", (id) => {
    expect(isTimeZone(id)).toBe(false);
  });
});
