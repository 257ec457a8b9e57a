// The tests of a room for `npm run mutation`. MUTATION_TESTS lists their folders and files, separated by commas.

import { defineConfig } from "vitest/config";

const places = (process.env.MUTATION_TESTS ?? "test").split(",");

export default defineConfig({
  test: {
    include: places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`)),
    // Properties run a whole plan thousands of times, which is too slow for each mutant.
    exclude: ["test/planner/properties.test.ts", "test/planner/draft-plan.test.ts"],
  },
});
