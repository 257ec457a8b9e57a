// The grammar of Quartz, by a table of expressions that it takes and of expressions that it refuses.

import { Cron } from "croner";
import { describe, expect, test, vi } from "vitest";
import { everFires, firingsPerMonth, isTimeZone, nextFiring, quartzProblem } from "../../src/core/quartz.ts";

const VALID = [
  "0 0 12 * * ?",
  "0 15 10 ? * *",
  "0 15 10 * * ? *",
  "0 15 10 * * ? 2030",
  "0 * 14 * * ?",
  "0 0/5 14 * * ?",
  "0 0/5 14,18 * * ?",
  "0 0-5 14 * * ?",
  "0 10,44 14 ? 3 WED",
  "0 15 10 ? * MON-FRI",
  "0 15 10 15 * ?",
  "0 15 10 L * ?",
  "0 15 10 L-2 * ?",
  "0 15 10 LW * ?",
  "0 15 10 L-3W * ?",
  "0 15 10 15W * ?",
  "0 15 10 ? * 6L",
  "0 15 10 ? * FRIL",
  "0 15 10 ? * 6L 2022-2035",
  "0 15 10 ? * 6#3",
  "0 15 10 ? * FRI#5",
  "0 15 10 ? * L",
  "0 0 12 1/5 * ?",
  "0 11 11 11 11 ?",
  "0 0 0 29 2 ?",
  "0 0 0 ? JAN,jul mon",
  "0 0 22-2 * * ?",
  "0 0 0 ? * FRI-MON",
  "0 0 0 ? NOV-FEB 2",
  "0 0 0 ? * 2,4,6",
  "*/10 * * * * ?",
  "/10 * * * * ?",
  "10-50/20 0 0 * * ?",
  "59 59 23 31 12 ?",
  "0 0 0 1 1 ? 2099",
  "0 0 0 1 1 ? 2024/2",
  "0\t30 2  * * ?",
  " 0 30 2 * * ? ",
];

const INVALID: readonly (readonly [string, string])[] = [
  ["", "empty"],
  ["   ", "empty"],
  ["0 12 * * *", "5 fields"],
  ["0", "1 field "],
  ["0 0 12 * * ? * *", "8 fields"],
  ["@daily", "1 field "],
  ["0 30 2,7,11,15 * * *", "must be ?"],
  ["0 0 12 1 * MON", "must be ?"],
  ["0 0 12 ? * ?", "only one"],
  ["? 0 12 * * ?", "day fields only"],
  ["0 0 12 * ? *", "day fields only"],
  ["60 0 12 * * ?", "0 to 59"],
  ["0 60 12 * * ?", "0 to 59"],
  ["0 0 24 * * ?", "0 to 23"],
  ["0 0 12 0 * ?", "1 to 31"],
  ["0 0 12 32 * ?", "1 to 31"],
  ["0 0 12 1 13 ?", "1 to 12, or JAN to DEC"],
  ["0 0 12 1 0 ?", "1 to 12"],
  ["0 0 12 ? * 0", "1 to 7, or SUN to SAT"],
  ["0 0 12 ? * 8", "1 to 7"],
  ["0 0 12 ? * MONDAY", "1 to 7"],
  ["0 0 12 ? FOO 2", "1 to 12"],
  ["0 0 12 * * ? 1969", "1970 to 2099"],
  ["0 0 12 * * ? 2100", "1970 to 2099"],
  ["0 0 12 * * ? 2030-2029", "ends before it begins"],
  ["0 0/0 12 * * ?", "step after /"],
  ["0 0/60 12 * * ?", "step after /"],
  ["0 0 0/24 * * ?", "step after /"],
  ["0 0/5/5 12 * * ?", "more than one /"],
  ["0 0/ 12 * * ?", "step after /"],
  ["0 0/x 12 * * ?", "step after /"],
  ["0 / 12 * * ?", "step after /"],
  ["0 1-2-3 12 * * ?", "two ends"],
  ["0 -5 12 * * ?", "0 to 59"],
  ["0 5- 12 * * ?", "0 to 59"],
  ["0 1,,2 12 * * ?", "0 to 59"],
  ["0 ,1 12 * * ?", "0 to 59"],
  ["0 1.5 12 * * ?", "0 to 59"],
  ["0 +5 12 * * ?", "0 to 59"],
  ["0 0 12 ? * MON/2", "cannot follow a name"],
  ["0 0 12 ? * MON-FRI/2", "cannot follow a name"],
  ["0 0 12 ? * MON-6", "two names or two numbers"],
  ["0 0 12 ? * 2-FRI", "two names or two numbers"],
  ["0 0 12 ? * 6#6", "1 to 5"],
  ["0 0 12 ? * 6#0", "1 to 5"],
  ["0 0 12 ? * 8#1", "1 (Sunday) to 7"],
  ["0 0 12 ? * FOOL", "1 (Sunday) to 7"],
  ["0 0 12 ? * 9L", "1 (Sunday) to 7"],
  ["0 0 12 L-31 * ?", "1 to 30"],
  ["0 0 12 L-0 * ?", "1 to 30"],
  ["0 0 12 32W * ?", "1 to 31"],
  ["0 0 12 0W * ?", "1 to 31"],
  ["0 0 12 W * ?", "allowed only in the day fields"],
  ["0 0 12 1,L * ?", "allowed only in the day fields"],
  ["0 0 12 15W,20 * ?", "allowed only in the day fields"],
  ["0 0 12 1-15W * ?", "allowed only in the day fields"],
  ["0 0 12 ? * 2,6L", "allowed only in the day fields"],
  ["0 0 12 ? * 6#3,2", "allowed only in the day fields"],
  ["0 0 L * * ?", "allowed only in the day fields"],
  ["0 0 12 5C * ?", "1 to 31"],
  ["0 0 12 * * ? *; rm", "8 fields"],
];

describe("cron expressions", () => {
  test.each(VALID)("%s is taken", (expression) => {
    expect(quartzProblem(expression)).toBeUndefined();
  });

  test.each(INVALID)("%j is refused: %s", (expression, why) => {
    expect(quartzProblem(expression)).toContain(why);
  });

  test.each(["0 0 12 30 2 ?", "0 0 12 31 4,6,9,11 ?", "0 0 12 29 2 ? 2023", "0 0 12 L-30 4 ?"])(
    "%s never fires",
    (expression) => {
      expect(quartzProblem(expression)).toBeUndefined();
      expect(everFires(expression)).toBe(false);
    },
  );

  test.each(VALID)("%s fires", (expression) => {
    expect(everFires(expression)).toBe(true);
  });

  test("the error about five fields explains the first one", () => {
    expect(quartzProblem("30 2 * * *")).toContain("seconds as the first field");
  });
});

describe("firings per month", () => {
  /** By a walk over the firings of a year at midnight. */
  function daysWalked(expression: string): number {
    const [, , , ...days] = expression.trim().split(/[ \t]+/);
    const end = Date.UTC(2028, 0, 1);
    let count = 0;
    let at: number | undefined = Date.UTC(2027, 0, 1) - 1;
    for (;;) {
      at = nextFiring(`0 0 0 ${days.slice(0, 3).join(" ")}`, "UTC", at);
      if (at === undefined || at >= end) return count;
      count += 1;
    }
  }

  test.each([...VALID, "0 0 12 30 2 ?", "0 0 12 31 4,6,9,11 ?", "0 0 0 L-30 4 ?", "0 0 0 L-30 * ?"])(
    "of %s are those of its days",
    (expression) => {
      const [second = "", minute = "", hour = ""] = expression.trim().split(/[ \t]+/);
      const everyDay = firingsPerMonth(`${second} ${minute} ${hour} * * ?`) ?? NaN;
      expect(firingsPerMonth(expression)).toBeCloseTo((everyDay * daysWalked(expression)) / 365);
    },
  );

  test("of schedules on the same days need the days of one year", () => {
    const calls = [vi.spyOn(Cron.prototype, "nextRun"), vi.spyOn(Cron.prototype, "match")];
    for (const hour of [1, 2, 3]) firingsPerMonth(`0 30 ${hour} ? MAR-NOV 2-6`);
    const compared = calls.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    vi.restoreAllMocks();
    expect(compared).toBeLessThanOrEqual(365);
  });
});

describe("time zones", () => {
  test.each(["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "GMT"])("%s exists", (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  test.each(["", "Paris", "Europe/Pariss", "+01:00", "../etc/localtime"])("%j does not exist", (name) => {
    expect(isTimeZone(name)).toBe(false);
  });
});
