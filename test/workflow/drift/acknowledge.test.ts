import { describe, expect, test } from "vitest";
import { acknowledgedUntil } from "../../../src/workflow/drift/drift.ts";

const NOW = Date.UTC(2026, 10, 23);

describe("the end of an acknowledgement", () => {
  test.each([
    ["2027-02-28", "2027-02-28T23:59:59.000Z"],
    ["2028-02-29", "2028-02-29T23:59:59.000Z"],
    ["2027-01-01T08:30Z", "2027-01-01T08:30:00.000Z"],
  ])("%s is %s", (given, until) => {
    expect(new Date(acknowledgedUntil(given, NOW)).toISOString()).toBe(until);
  });

  test.each(["2027-02-30", "2027-02-29", "2027-13-01", "2027-04-31T08:00Z", "99999-01-01", "tomorrow"])(
    "is refused when %s is not in the calendar",
    (given) => {
      expect(() => acknowledgedUntil(given, NOW)).toThrow(`--until ${given} is not a date`);
    },
  );
});
