// The page of figures hides nothing: what failed is counted, named and runs again.

import { expect, test } from "vitest";
import { pageOf } from "./page.ts";
import type { SuiteRecord } from "./record.ts";
import { zerosOf } from "./zeros.ts";

const record: SuiteRecord = {
  what: "things | go wrong",
  unit: "cases",
  seed: 3,
  count: 2000,
  tried: 2000,
  all: 54_321,
  failures: 1,
  zeros: { "duplicates left": 1 },
  notes: ["two were odd"],
  seconds: 12.3,
  failed: [{ name: "create|x|`y`", wrong: ["it is there twice"] }],
  date: "2026-01-31",
  node: "24.0.0",
  postgres: false,
};

test("a row says what was tried, of how many, what failed, and the command of the same cases", () => {
  const page = pageOf({ suites: { late: record }, matrix: {}, mutants: {} });
  expect(page).toContain(
    "| late | things \\| go wrong | **2,000** of 54,321 cases, failures = 1, duplicates left = 1; two were odd | 12.3 | `npm run simulate -- --suite late --seed 3 --count 2000` |",
  );
  expect(page).toContain("PostgreSQL was not installed");
});

test("failed cases are listed below the table with their commands and errors", () => {
  const page = pageOf({ suites: { late: record, two: record }, matrix: {}, mutants: {} });
  expect(page).toContain(
    "## Failures\n\nlate: 1, of which these come first.\n\n- `` npm run simulate -- --suite late --case 'create|x|`y`' ``\n  `it is there twice`\n",
  );
  expect(
    pageOf({ suites: { late: { ...record, failures: 0, failed: [] } }, matrix: {}, mutants: {} }),
  ).not.toContain("## Failures");
});

test("a seeded bug that no suite noticed is reported as such", () => {
  const mutant = { bug: "b", suite: "late", caught: false, after: 700, case: "" };
  const page = pageOf({ suites: {}, matrix: {}, mutants: { quiet: mutant } });
  expect(page).toContain("| quiet | b | late | **not caught** | 700 cases |");
});

test("a seeded bug that needs a missing server is reported as such", () => {
  const mutant = {
    bug: "b",
    suite: "shared",
    lacked: "postgres",
    caught: false,
    after: 0,
    case: "",
  } as const;
  const page = pageOf({ suites: {}, matrix: {}, mutants: { sql: mutant } });
  expect(page).toContain("| sql | b | shared | **not tried**: there was no PostgreSQL | 0 cases |");
});

test("a figure that has to be zero counts the cases that say so, each once", () => {
  const failed = [
    { name: "a", wrong: ["the world should not have: x", "clusters 7 is there and not recorded"] },
    { name: "b", wrong: ["the lock is held"] },
  ];
  expect(zerosOf("late", failed)).toEqual({ "duplicates left": 1 });
  expect(zerosOf("crash", failed)).toEqual({});
});

test("a folder has its score, and the changes that no test notices with their reasons", () => {
  const unnoticed = [{ in: "a.ts", change: "`x < y` to `x <= y`", count: 2, why: "they are never equal" }];
  const rooms = { "some/folder": { date: "2026-01-31", noticed: 1_998, unnoticed } };
  const page = pageOf({ suites: {}, matrix: {}, mutants: {}, rooms });
  expect(page).toContain("| `some/folder` | 2,000 | 1,998 | 99.9% | 2026-01-31 |");
  expect(page).toContain("| `some/folder` | a.ts | `x < y` to `x <= y` | 2 | they are never equal |");
  expect(pageOf({ suites: {}, matrix: {}, mutants: {} })).not.toContain("## Changes");
});

test("a folder has a row for each later run on its changed files", () => {
  const run = (date: string, noticed: number) => ({ date, noticed, unnoticed: [] });
  const second = { ...run("2026-02-02", 20), files: "b.ts" };
  const first = { ...run("2026-02-01", 10), files: "a.ts", changed: second };
  const rooms = { "some/folder": { ...run("2026-01-31", 5), changed: first } };
  const rows = pageOf({ suites: {}, matrix: {}, mutants: {}, rooms })
    .split("\n")
    .filter((line) => line.startsWith("| `some/folder`"));
  expect(rows).toEqual([
    "| `some/folder` | 5 | 5 | 100.0% | 2026-01-31 |",
    "| `some/folder`: a.ts | 10 | 10 | 100.0% | 2026-02-01 |",
    "| `some/folder`: b.ts | 20 | 20 | 100.0% | 2026-02-02 |",
  ]);
});
