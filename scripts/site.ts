// `npm run site`: builds docs/ into the static site site/dist. Installs the generator of site/package.json when it is missing.
// SITE_BASE is the path that the site is served at, and SITE_SOURCE the address of the sources.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const SITE = join(import.meta.dirname, "../site");

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: SITE, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(SITE, "node_modules/vitepress")))
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
run(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build"]);
