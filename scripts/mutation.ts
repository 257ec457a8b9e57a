// `npm run mutation [-- PLACE ...]`: changes the code of a room in thousands of places, one at a time, and counts the
// changes that no test of the room notices. A place is a room, or a folder or file in it, such as `planner/decide`.
// Exits with 1 if a place scores below 90%.

import { Stryker } from "@stryker-mutator/core";

type MutantResult = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

/** The tests that must notice a change in each room. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  planner: ["test/planner"],
  "engine/recover": ["test/engine/recover"],
  "state/format": ["test/state/format"],
  "spec/resolve": ["test/spec/resolve", "test/spec/checks.test.ts"],
  "api/retry": ["test/api/retry", "test/api/client.test.ts"],
};
const REQUIRED = 90;

const chosen = process.argv.slice(2);
for (const place of chosen.length > 0 ? chosen : Object.keys(TESTS)) {
  const mutants = await mutated(place);
  const score = scoreOf(mutants);
  for (const { fileName, location, mutatorName, replacement, status } of mutants)
    if (status === "Survived" || status === "NoCoverage")
      process.stdout.write(
        `${fileName}:${location.start.line}:${location.start.column} ${status} ${mutatorName} ${replacement}\n`,
      );
  process.stdout.write(`${place}: ${mutants.length} mutants, score ${score.toFixed(1)}%\n`);
  if (score < REQUIRED) process.exitCode = 1;
}

async function mutated(place: string): Promise<MutantResult[]> {
  const [room, tests] = roomOf(place);
  process.env.MUTATION_TESTS = tests.join(",");
  const name = room.replace("/", "-");
  const results = await new Stryker({
    testRunner: "vitest",
    vitest: { configFile: "vitest.mutation.config.ts", related: false },
    mutate: [place.endsWith(".ts") ? `src/${place}` : `src/${place}/**/*.ts`],
    coverageAnalysis: "perTest",
    ignoreStatic: true,
    // Tests take seconds longer on a busy machine, without an endless loop.
    timeoutMS: 30_000,
    incremental: true,
    incrementalFile: `reports/mutation/${name}.json`,
    reporters: ["progress-append-only"],
    tempDirName: ".stryker-tmp",
    // A link to a folder, which Stryker cannot copy.
    ignorePatterns: ["site"],
    // Stryker reads this file with the JS API of TypeScript, which TypeScript 7 does not have.
    tsconfigFile: "no-tsconfig.json",
  }).runMutationTest();
  // The incremental file keeps the results of the rest of the room.
  const folder = place.endsWith(".ts") ? `src/${place}` : `src/${place}/`;
  return results.filter(({ fileName }) => fileName.includes(folder));
}

function roomOf(place: string): readonly [string, readonly string[]] {
  const found = Object.entries(TESTS).find(([room]) => place === room || place.startsWith(`${room}/`));
  if (found === undefined)
    throw new Error(`no room has ${place}; the rooms are ${Object.keys(TESTS).join(", ")}`);
  return found;
}

/** Percentage of the changes that a test noticed. A change that makes a test hang is noticed. */
function scoreOf(mutants: readonly MutantResult[]): number {
  const count = (...statuses: readonly string[]) =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const noticed = count("Killed", "Timeout");
  return (100 * noticed) / (noticed + count("Survived", "NoCoverage"));
}
