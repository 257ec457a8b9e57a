// Everything that must hold at every commit (`npm run check`): types, format and lint, unused code, house rules, fresh schemas.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const STEPS = [
  { name: "types", command: "tsc", args: ["-p", "."] },
  { name: "format and lint", command: "biome", args: ["ci", "--error-on-warnings", "--colors=off"] },
  { name: "unused code", command: "knip", args: ["--no-progress"] },
  {
    name: "house rules",
    command: "vitest",
    args: ["run", "test/tidy.test.ts", "test/house.test.ts", "test/words.test.ts"],
  },
  { name: "schemas fresh", command: process.execPath, args: ["scripts/schemas.ts", "--check"] },
] as const;

let failed = 0;
for (const { name, command, args } of STEPS) {
  const begun = performance.now();
  const done = spawnSync(command, args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const good = done.status === 0;
  if (!good) {
    failed += 1;
    process.stdout.write(`${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}\n`);
  }
  process.stdout.write(
    `${good ? "ok    " : "FAILED"} ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)\n`,
  );
}
process.stdout.write(`checks: ${STEPS.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
