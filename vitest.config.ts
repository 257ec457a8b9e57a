// How the tests run: all files under test/, and what coverage counts.

import { defineConfig } from "vitest/config";

/** Rooms whose tests share one process: they change nothing that another file reads. The tests of `api` and `providers` replace `node:http`. */
const SHARED = ["core", "emulator", "engine", "expressions", "laws", "planner", "report", "spec"];

const sharedTests = SHARED.map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    // One worker for each core: the default leaves one core idle, half of a small machine.
    maxWorkers: "100%",
    // A test without an assertion fails only if something throws.
    expect: { requireAssertions: true },
    coverage: { include: ["src/**/*.ts"], reporter: ["text", "json-summary"], reportsDirectory: "coverage" },
    projects: [
      { extends: true, test: { name: "shared", include: sharedTests, isolate: false } },
      { extends: true, test: { name: "own", include: ["test/**/*.test.ts"], exclude: sharedTests } },
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
