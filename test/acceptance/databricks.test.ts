// Scenarios in the Databricks dialect: all of the contract's in its spelling, and those of the dialect's folder.

import { describe, expect, test } from "vitest";
import { inDatabricks } from "../engine/spelling.ts";
import { sampleFrom } from "../sample-size.ts";
import { casesIn } from "./cases.ts";
import { DIFFERENCES, withDifferences } from "./differences.ts";
import { expectedText } from "./expected-output.ts";
import { played } from "./stage.ts";

/** Scenarios whose output differs in too many lines: the dialect's folder has one with its own output. */
const OWN = new Set(["export"]);
const CASES = casesIn("cases");
const NAMES = CASES.map(({ name }) => name);

/** Longer names move columns, and the order of the members of an object is the service's. */
const comparable = (text: string): string =>
  text
    .replaceAll(/^ {4}\{\n[\s\S]*?^ {4}\}$/gm, (block) =>
      block
        .split("\n")
        .map((line) => ` ${line.trim().replace(/,$/, "")}`)
        .sort()
        .join("\n"),
    )
    .replaceAll(/^ +| {2,}/gm, " ");

describe("Databricks dialect", { timeout: 120_000 }, () => {
  const comparedHere = sampleFrom(CASES.filter(({ name }) => !OWN.has(name)));
  test.concurrent.each(comparedHere)(
    "$name: the output of the contract's dialect, but for documented differences",
    async ({ name, text }) => {
      const here = withDifferences(name, inDatabricks(text));
      expect(comparable(await played(here, "azure"))).toBe(comparable(here));
    },
  );

  test("every difference is one of a scenario that exists", () => {
    expect(DIFFERENCES.flatMap(({ cases }) => cases).filter((name) => !NAMES.includes(name))).toEqual([]);
  });

  test("the name of a scenario is unique, whatever its folder", () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  for (const { name, path, text, title } of casesIn("databricks"))
    test(`${name}.txt: ${title}`, async () => {
      const now = await played(text, "azure");
      const expected = expectedText(path, text, now);
      // A rewritten file is played again: its output must be the same twice.
      expect(expected === text ? now : await played(expected, "azure")).toBe(expected);
    });
});
