// Builds what is shipped (`npm run build`): dist/ for the npm package, and workspace.mjs, the whole program in one file.

import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeBundle, writePackage } from "./bundle.ts";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
try {
  await writePackage(DIST);
  await writeBundle(fileURLToPath(new URL("../workspace.mjs", import.meta.url)));
} catch (problem) {
  rmSync(DIST, { recursive: true, force: true });
  throw problem;
}
