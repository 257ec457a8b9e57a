// The list of prices: the example is valid, and a wrong list is refused with its place.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Invocation } from "../../../src/workflow/invocation/invocation.ts";
import { readPrices } from "../../../src/workflow/plan/prices.ts";
import { thrownDiagnostics } from "../../failures.ts";

const EXAMPLE = resolve("examples/analytics/prices.yaml");
const schema = JSON.parse(readFileSync("schemas/prices.schema.json", "utf8"));
const isValid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

function reading(
  pricesFile: string | undefined,
  untrusted = false,
  file = resolve("examples/analytics/workspace.yaml"),
) {
  return readPrices({ pricesFile, untrusted, file, cwd: process.cwd() } as unknown as Invocation);
}

function readingText(text: string) {
  const path = join(mkdtempSync(join(tmpdir(), "prices-")), "prices.yaml");
  writeFileSync(path, text);
  return reading(path);
}

test("the example is a list of prices, and the schema accepts it", () => {
  expect(isValid(parse(readFileSync(EXAMPLE, "utf8")))).toBe(true);
  expect(reading(EXAMPLE)).toMatchObject({
    currency: "USD",
    node_types: { Standard_DS3_v2: { per_hour: 0.3, dbu_per_hour: 0.75 } },
    dbu_rates: { jobs: 0.15 },
  });
});

test("prices.yaml next to the spec is the list of prices, unless the spec is untrusted", () => {
  expect(reading(undefined)).toEqual(reading(EXAMPLE));
  expect(reading(undefined, true)).toBeUndefined();
  expect(reading(undefined, false, resolve("examples/team/workspace.yaml"))).toBeUndefined();
});

test.each([
  ["[]", "it is not a map"],
  ["currency: 3", "currency must be a string"],
  ["{ currency: USD, prices: {} }", '"prices" is not a member'],
  ["{ currency: USD, node_types: { a: -1 } }", 'node_types: "a" needs a number of at least 0'],
  ["{ currency: USD, node_types: { a: { dbu_per_hour: 1 } } }", 'node_types: "a" needs a number'],
  ["{ currency: USD, dbu_rates: { spot: 1 } }", 'dbu_rates has "spot"'],
  ["{ currency: [", "it is not valid YAML"],
])("%s is refused by reader and schema", (text, problem) => {
  expect(thrownDiagnostics(() => readingText(text))).toMatchObject([
    { code: "PLAN_PRICES", message: expect.stringContaining(problem) },
  ]);
  if (!problem.includes("YAML")) expect(isValid(parse(text))).toBe(false);
});

test("a list inside an untrusted checkout is refused, and so is a missing file", () => {
  expect(thrownDiagnostics(() => reading(EXAMPLE, true))).toMatchObject([{ code: "PLAN_PRICES" }]);
  expect(thrownDiagnostics(() => reading(resolve("no-such-prices.yaml")))).toMatchObject([
    { code: "CLI_FILE" },
  ]);
});
