// Builds what is shipped (`npm run build`): dist/ for the npm package, and workspace.mjs, the whole program in one file.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeBundle } from "./bundle.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = fileURLToPath(new URL("../dist", import.meta.url));

rmSync(DIST, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status === 0 ? 0 : 1;
if (status === 0) await writeBundle(fileURLToPath(new URL("../workspace.mjs", import.meta.url)));
else rmSync(DIST, { recursive: true, force: true });
