// Installs what the project needs when it is missing or not what the lockfile says. Plain JavaScript: runs on any Node from 20.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const reason = whyInstall();
if (reason !== undefined) install(reason);

/** Why an install is needed; undefined when everything is there. */
function whyInstall() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules/.package-lock.json"));
  if (present === undefined) return "nothing is installed yet";
  for (const [path, entry] of Object.entries(wanted ?? {})) {
    if (path === "" || (entry.optional === true && present[path] === undefined)) continue;
    if (present[path]?.version !== entry.version)
      return `${path.replace(/^.*node_modules\//, "")} is not at ${entry.version}`;
  }
  if (
    !existsSync(join(root, "node_modules/node/bin/node")) &&
    !existsSync(join(root, "node_modules/node/bin/node.exe"))
  )
    return "Node 24 is missing";
  return undefined;
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** By the lockfile alone; where a registry lacks packages of other platforms, `npm ci` refuses and `npm install` does not. */
function install(reason) {
  process.stderr.write(`Installing (${reason}) ...\n`);
  const ways = [
    ["ci", "--loglevel=silent"],
    ["install", "--no-save", "--loglevel=error"],
  ];
  if (ways.some((args) => npm([...args, "--no-audit", "--no-fund"]))) return;
  process.stderr.write(
    "npm could not install what is needed; see above. The package registry must be reachable once.\n",
  );
  process.exit(1);
}

function npm(args) {
  const npmScript = process.env.npm_execpath;
  const options = { cwd: root, stdio: ["ignore", 2, 2] };
  const done = npmScript?.endsWith(".js")
    ? spawnSync(process.execPath, [npmScript, ...args], options)
    : spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
  return done.status === 0;
}
