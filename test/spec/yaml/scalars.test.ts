import { expect, it } from "vitest";
import { plainScalar } from "../../../src/spec/yaml/block-parser.ts";

it.each([
  ["", null],
  ["~", null],
  ["null", null],
  ["true", true],
  ["FALSE", false],
  ["yes", "yes"],
  ["on", "on"],
  ["0", 0],
  ["-17", -17],
  ["+3", 3],
  ["007", 7],
  ["0o17", 15],
  ["0x1F", 31],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["-9007199254740993", -9007199254740993n],
  ["1.5", 1.5],
  [".5", 0.5],
  ["1e3", 1000],
  ["6.4.x", "6.4.x"],
  ["1:30", "1:30"],
  ["2020-01-01", "2020-01-01"],
  ["-", "-"],
  ["1_000", "1_000"],
  ["x", "x"],
  [".inf", undefined],
  ["-.INF", undefined],
  [".nan", undefined],
  ["1e999", undefined],
  ["9".repeat(50), undefined],
])("%s is read by the core schema", (text, value) => {
  expect(plainScalar(text)).toBe(value);
});
