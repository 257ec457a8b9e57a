// Scenarios in the Databricks dialect: some of the contract's in its spelling, and those of its own folder.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inDatabricks } from "../engine/spelling.ts";
import { played } from "./stage.ts";

const CASES = join(import.meta.dirname, "cases");
const OWN = join(import.meta.dirname, "databricks");

/** Those whose output does not depend on the dialect, without the slow ones. */
const SHARED = [
  "causes",
  "drift-known",
  "drift-severity",
  "etl",
  "failures",
  "history",
  "missing-state",
  "only-destroy",
  "others-acls",
  "others-pool",
  "protected",
  "renamed-keys",
  "replace",
  "replaced-elsewhere",
  "saved-plan",
  "scope-taken-over",
  "secrets",
  "show",
  "state",
  "team",
];

/** Longer names move columns. */
const withoutColumns = (text: string): string => text.replaceAll(/ {2,}/g, " ");

describe("Databricks dialect", () => {
  test.each(SHARED)("%s: the same output as in the contract's dialect", async (name) => {
    const text = inDatabricks(readFileSync(join(CASES, `${name}.txt`), "utf8"));
    expect(withoutColumns(await played(text, "azure"))).toBe(withoutColumns(text));
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
