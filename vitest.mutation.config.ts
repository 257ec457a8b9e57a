// The tests of a room for `npm run mutation`. MUTATION_TESTS lists their folders, separated by commas.

import { defineConfig } from "vitest/config";

const folders = (process.env.MUTATION_TESTS ?? "test").split(",");

export default defineConfig({
  test: {
    include: folders.map((folder) => `${folder}/**/*.test.ts`),
    // Properties run a whole plan thousands of times, which is too slow for each mutant.
    exclude: ["test/planner/properties.test.ts", "test/planner/draft-plan.test.ts"],
  },
});
