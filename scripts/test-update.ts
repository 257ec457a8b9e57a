// `npm run test:update [-- --accept-failures] [-- -t NAME]`: writes the expected output of scenarios and pages, prints what changed
// by exit code and by diagnostic code, and refuses a changed exit code and an internal error without --accept-failures.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Rewrite, summaryLines } from "../test/acceptance/expected-output.ts";

const ROOT = join(import.meta.dirname, "..");

/** The scenarios of the contract come first: those of the Databricks dialect are compared with them. */
const RUNS = [
  ["test/acceptance/acceptance.test.ts"],
  ["test/acceptance/databricks.test.ts", "test/docs/docs.test.ts", "test/ci/example.test.ts"],
];

const options = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "test-update-"));
try {
  const log = join(folder, "rewrites");
  const env = {
    ...process.env,
    UPDATE: options.includes("--accept-failures") ? "failures" : "1",
    UPDATE_LOG: log,
  };
  const filters = options.filter((option) => option !== "--accept-failures");
  const statuses = RUNS.map(
    (files) =>
      spawnSync("vitest", ["run", ...files, ...filters], { cwd: ROOT, env, stdio: "inherit" }).status,
  );
  statuses.push(
    spawnSync(process.execPath, ["scripts/reference.ts"], { cwd: ROOT, stdio: "inherit" }).status,
  );
  const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
  const rewrites = lines.map((line) => JSON.parse(line) as Rewrite);
  process.stdout.write(`${summaryLines(rewrites).join("\n")}\n`);
  process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
