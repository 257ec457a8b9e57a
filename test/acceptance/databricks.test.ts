// Scenarios in the Databricks dialect: all of the contract's in its spelling, and those of the dialect's folder.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inDatabricks } from "../engine/spelling.ts";
import { DIFFERENCES, withDifferences } from "./differences.ts";
import { played } from "./stage.ts";

const CASES = join(import.meta.dirname, "cases");
const OWN = join(import.meta.dirname, "databricks");

const NAMES = readdirSync(CASES)
  .sort()
  .map((file) => file.replace(/\.txt$/, ""));

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
  test.concurrent.each(NAMES)(
    "%s: the output of the contract's dialect, but for documented differences",
    async (name) => {
      const text = withDifferences(name, inDatabricks(readFileSync(join(CASES, `${name}.txt`), "utf8")));
      expect(comparable(await played(text, "azure"))).toBe(comparable(text));
    },
  );

  test("every difference is one of a scenario that exists", () => {
    expect(DIFFERENCES.flatMap(({ cases }) => cases).filter((name) => !NAMES.includes(name))).toEqual([]);
  });

  for (const file of readdirSync(OWN).sort()) {
    const path = join(OWN, file);
    const text = readFileSync(path, "utf8");
    test(`${file}: ${(text.split("\n")[0] ?? "").replace(/^# /, "")}`, async () => {
      const now = await played(text, "azure");
      if (process.env.UPDATE === "1") writeFileSync(path, now);
      else expect(now).toBe(text);
    });
  }
});
