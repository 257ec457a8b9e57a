// docs/internals/reliability.md is what was measured, and nothing that there is to measure is missing in it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutants } from "../mutants/mutants.ts";
import { suites } from "../suites.ts";
import { pageOf, runsOf, scoreOf } from "./page.ts";
import { PAGE, recorded } from "./record.ts";

const { suites: tried, databricks = {}, mutants: seeded, rooms = {} } = recorded();
const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name);

test("every suite has its row (npm run simulate -- --suite NAME --write)", () => {
  expect(Object.keys(tried)).toEqual(names(suites));
});

/** Suites of files and states, which no request of the service changes. */
const LOCAL = new Set(["corrupt", "specs", "files", "names", "plans"]);

test("every other suite has its row in the Databricks dialect (npm run simulate -- --dialect databricks --suite NAME --write)", () => {
  expect(Object.keys(databricks)).toEqual(names(suites).filter((name) => !LOCAL.has(name)));
  expect(Object.values(databricks).map(({ failures }) => failures)).toEqual(
    Object.keys(databricks).map(() => 0),
  );
});

test("every seeded bug has its row (npm run simulate -- --mutants --only NAME --write)", () => {
  const told = Object.entries(seeded).map(([name, { bug, suite }]) => [name, bug, suite]);
  expect(told).toEqual(mutants.map(({ name, bug, suite }) => [name, bug, suite]));
});

test("rows of `npm run mutation` are of its folders, with a score of at least 90%", () => {
  const script = readFileSync(join(import.meta.dirname, "../../../scripts/mutation.ts"), "utf8");
  const folders = [...script.matchAll(/^ {2}"?([a-z/]+)"?: \["test/gm)].map(([, folder]) => folder);
  expect(Object.keys(rooms).sort()).toEqual([...folders].sort());
  expect(runsOf(rooms).filter(({ record }) => scoreOf(record) < 90)).toEqual([]);
});

test("the page is what its figures make", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(pageOf(recorded()));
});
