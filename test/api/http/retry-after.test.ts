import { expect, test } from "vitest";
import { retryAfterMs } from "../../../src/api/http/retry-after.ts";

const NOW = Date.UTC(2020, 2, 1, 12, 0, 0);

test("seconds are seconds", () => {
  expect(retryAfterMs({ "retry-after": "120" }, NOW)).toBe(120_000);
  expect(retryAfterMs({ "retry-after": " 0 " }, NOW)).toBe(0);
  expect(retryAfterMs({ "retry-after": "1.5" }, NOW)).toBe(1_500);
});

test("a date is counted from now", () => {
  expect(retryAfterMs({ "retry-after": "Sun, 01 Mar 2020 12:00:30 GMT" }, NOW)).toBe(30_000);
});

test("a date is relative to the service's own clock if the answer has it", () => {
  const headers = { "retry-after": "Sun, 01 Mar 2020 15:00:30 GMT", date: "Sun, 01 Mar 2020 15:00:00 GMT" };
  expect(retryAfterMs(headers, NOW)).toBe(30_000);
});

test("the older forms of HTTP dates are read", () => {
  expect(retryAfterMs({ "retry-after": "Sunday, 01-Mar-20 12:00:10 GMT" }, NOW)).toBe(10_000);
  expect(retryAfterMs({ "retry-after": "Sun Mar  1 12:00:10 2020 GMT" }, NOW)).toBe(10_000);
});

test("a date in the past means no wait", () => {
  expect(retryAfterMs({ "retry-after": "Sun, 01 Mar 2020 11:00:00 GMT" }, NOW)).toBe(0);
});

test("a time of more than an hour means that nothing was asked", () => {
  expect(retryAfterMs({ "retry-after": "3600" }, NOW)).toBe(3_600_000);
  for (const text of ["3601", "999999999", "9".repeat(400), "Sun, 01 Mar 2020 13:00:01 GMT"])
    expect(retryAfterMs({ "retry-after": text }, NOW), text).toBeUndefined();
});

test("garbage and absence mean that nothing was asked", () => {
  for (const text of ["", "soon", "-5", "7 apples", "1e9x", "NaN", "Sun, 01 Foo 2020 99:99:99 GMT"])
    expect(retryAfterMs({ "retry-after": text }, NOW), text).toBeUndefined();
  expect(retryAfterMs({}, NOW)).toBeUndefined();
});
