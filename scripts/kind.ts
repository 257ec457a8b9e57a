// Adds a kind and checks one: `npm run new:kind NAME` writes its skeleton, `npm run check:kind NAME` lists what is missing and
// runs the tests that every kind must pass.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { registry } from "../src/providers/index.ts";
import { kindFiles, listEntries } from "./kind/skeleton.ts";

const [task, name = ""] = process.argv.slice(2);

/** The tests that every kind must pass. They take the kinds from the registry. */
const TESTS = [
  "test/laws/laws.test.ts",
  "test/laws/databricks.test.ts",
  "test/laws/export.test.ts",
  "test/laws/sensitive.test.ts",
  "test/laws/plan-json.test.ts",
  "test/providers/fields.test.ts",
  "test/providers/severity.test.ts",
  "test/providers/requests.test.ts",
  "test/api/contract/operations.test.ts",
  "test/emulator/http/contract.test.ts",
  "test/emulator/dialect/description.test.ts",
  "test/spec/schema",
  "test/tidy.test.ts",
  "test/house.test.ts",
];

if (task === "new") addKind(name);
else if (task === "check") checkKind(name);
else fail("use: node scripts/kind.ts new|check NAME");

function addKind(kind: string): void {
  if (!/^[a-z]{3,30}s$/.test(kind))
    fail("the name of a kind is a plural in lower-case letters, such as queues");
  for (const [path, text] of Object.entries(kindFiles(kind))) {
    if (existsSync(path)) fail(`${path} exists`);
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
  for (const { path, before, text } of listEntries(kind)) {
    const old = readFileSync(path, "utf8");
    const at = old.lastIndexOf(before);
    if (at < 0) fail(`${path} has no ${JSON.stringify(before)}`);
    writeFileSync(path, old.slice(0, at) + text + old.slice(at));
    console.log(`added ${kind} to ${path}`);
  }
  execFileSync("npx", ["biome", "check", "--write", "src", "test/laws"], { stdio: "ignore" });
  execFileSync(process.execPath, ["scripts/schemas.ts"], { stdio: "inherit" });
  execFileSync(process.execPath, ["scripts/reference.ts"], { stdio: "inherit" });
  console.log(`\nReplace each TODO: grep -rn TODO src/providers/${kind}.ts src/emulator/routes/${kind}.ts\n`);
  console.log(`Then run: npm run check:kind ${kind}`);
}

function checkKind(kind: string): void {
  const missing = missingParts(kind);
  for (const part of missing) console.log(`missing: ${part}`);
  const steps: readonly (readonly [command: string, ...arguments_: string[]])[] = [
    ["npx", "tsc", "-p", "."],
    [process.execPath, "scripts/schemas.ts", "--check"],
    ["npx", "vitest", "run", "--maxWorkers=1", "--reporter=dot", ...TESTS],
  ];
  const failed = steps.filter(
    ([command, ...rest]) =>
      spawnSync(command, rest, { stdio: "inherit", env: { ...process.env, TEST_SAMPLE: "1" } }).status !== 0,
  );
  for (const step of failed)
    console.log(
      `failed: ${step
        .map((word) => basename(word))
        .slice(0, 3)
        .join(" ")}`,
    );
  if (missing.length + failed.length > 0) process.exit(1);
  console.log(`${kind} has every part that a kind needs, and passes the tests of a kind`);
}

function missingParts(kind: string): readonly string[] {
  const parts: readonly (readonly [part: string, isThere: boolean])[] = [
    ["the kind in the registry: src/providers/index.ts", registry.find(kind) !== undefined],
    [
      `the sample of ${kind} in test/laws/samples.ts, or in test/laws/databricks-samples.ts`,
      contains("test/laws/*samples.ts", `kind: "${kind}"`),
    ],
    ["a test of the rules of the kind in test/providers", contains("test/providers/**/*.test.ts", kind)],
    ...partsOfSkeleton(kind),
  ];
  return parts.filter(([, isThere]) => !isThere).map(([part]) => part);
}

/** The parts that `npm run new:kind` writes for a kind that has separate calls. */
function partsOfSkeleton(kind: string): readonly (readonly [part: string, isThere: boolean])[] {
  if (!existsSync(`src/emulator/routes/${kind}.ts`)) return [];
  return [
    [
      `the operations ${kind}/… in src/api/contract/operations.ts`,
      contains("src/api/contract/operations.ts", `"${kind}/`),
    ],
    [
      `the calls ${kind}/… of the emulator: src/emulator/routes/areas.ts`,
      contains("src/emulator/routes/areas.ts", `${kind}Area`),
    ],
    [
      `the description of ${kind}/… in schemas/openapi.yaml`,
      contains("schemas/openapi.yaml", `operationId: ${kind}/`),
    ],
    [
      `the requests of ${kind}, written out: test/providers/requests.test.ts`,
      contains("test/providers/requests.test.ts", kind),
    ],
    [
      `the calls of ${kind} and the rules of their contract: test/emulator/contract`,
      contains("test/emulator/contract/*.ts", `${kind}/`),
    ],
    [
      `nothing left to do: replace each TODO in src/providers/${kind}.ts`,
      !contains(`src/providers/${kind}.ts`, "TODO"),
    ],
  ];
}

function contains(pattern: string, text: string): boolean {
  return globSync(pattern).some((path) => readFileSync(path, "utf8").includes(text));
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
