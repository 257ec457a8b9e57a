// How the tests run: all files under test/, and what coverage counts.

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Files that need a process of their own: they replace modules or timers, set the environment before they import, or share a database. */
const OWN = [
  "test/fleet/queue/**/*.test.ts",
  "test/simulation/databricks.test.ts",
  "test/state/backends/postgres/server.test.ts",
  "test/workflow/operate/save-profile.test.ts",
  "test/workflow/rules/check-rules.test.ts",
];

/** Files that answer requests with nock, which replaces the HTTP client of its process. */
export const NOCKED = ["test/{api,providers}/**/*.test.ts"];

export default defineConfig({
  test: {
    // More workers than cores: many tests wait for processes.
    maxWorkers: availableParallelism() + 3,
    globalSetup: "test/run-folder.ts",
    // A test without an assertion fails only if something throws.
    expect: { requireAssertions: true },
    coverage: { include: ["src/**/*.ts"], reporter: ["text", "json-summary"], reportsDirectory: "coverage" },
    projects: [
      { extends: true, test: { name: "own", include: OWN } },
      { extends: true, test: { name: "nocked", include: NOCKED, isolate: false } },
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...OWN, ...NOCKED],
          isolate: false,
        },
      },
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
