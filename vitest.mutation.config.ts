// The tests of a room for `npm run mutation`. MUTATION_TESTS lists their folders and files, separated by commas.

import { defineConfig } from "vitest/config";

const places = (process.env.MUTATION_TESTS ?? "test").split(",");

export default defineConfig({
  test: {
    include: places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`)),
    // One worker for all files of a run: a worker for each file takes longer than the tests.
    isolate: false,
    testTimeout: 60_000,
    // Properties run a whole plan thousands of times, which is too slow for each mutant.
    exclude: ["test/planner/properties.test.ts", "test/planner/draft-plan.test.ts"],
  },
});
