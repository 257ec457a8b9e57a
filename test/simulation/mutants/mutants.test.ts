// The self-test: each seeded bug is noticed by the suite that is there for it. The case that noticed it last is tried first.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sampleOf } from "../../sample-size.ts";
import { isPostgresHere } from "../../state/backends/postgres/server.ts";
import { recorded } from "../reliability/record.ts";
import { shuffled } from "../run/suite.ts";
import { seedOf } from "../run/suite-test.ts";
import { mutants } from "./mutants.ts";
import { isNoticedBy, trial } from "./trial.ts";

test("there are at least fifteen seeded bugs, each under its own name", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(15);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

test("each seeded bug changes one place of the present program", () => {
  const misplaced = mutants.filter(({ file, find }) => readFileSync(file, "utf8").split(find).length !== 2);
  expect(misplaced.map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
});

const noticedBy = recorded().mutants;
const possible = mutants.filter(({ needs }) => needs === undefined || isPostgresHere());
const tried = shuffled(possible, seedOf()).slice(0, sampleOf(possible.length));

test.for(tried)("$name is caught by $suite: $bug", { timeout: 300_000, concurrent: true }, async (mutant) => {
  const recordedCase = noticedBy[mutant.name]?.case ?? "";
  const isKnown = recordedCase !== "" && (await isNoticedBy(mutant, recordedCase));
  const { caught, said } = isKnown ? { caught: true, said: recordedCase } : await trial(mutant);
  expect(caught, said).toBe(true);
});

test.for(mutants.filter((mutant) => !possible.includes(mutant)))(
  "NOT TRIED WITHOUT POSTGRESQL: $name",
  (_, { skip }) => skip(),
);
