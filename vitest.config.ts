// How the tests run: all files under test/, and what coverage counts.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // One worker for each core: the default leaves one core idle, half of a small machine.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A test without an assertion fails only if something throws.
    expect: { requireAssertions: true },
    coverage: { include: ["src/**/*.ts"], reporter: ["text", "json-summary"], reportsDirectory: "coverage" },
  },
});
