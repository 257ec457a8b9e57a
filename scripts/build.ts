// Compiles src/ to plain JavaScript in dist/ (`npm run build`): what a package runs, for Node strips no types below node_modules.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = fileURLToPath(new URL("../dist", import.meta.url));

rmSync(DIST, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status === 0 ? 0 : 1;
if (status !== 0) rmSync(DIST, { recursive: true, force: true });
