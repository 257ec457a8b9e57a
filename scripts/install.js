// Installs what the project needs when it is missing or not what the lockfile says. Plain JavaScript: runs on any Node from 20.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const LIBC = existsSync("/etc/alpine-release") ? "musl" : "glibc";

const reason = whyInstall();
if (reason !== undefined) install(reason);

/** Why an install is needed; undefined when everything is there. */
function whyInstall() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules/.package-lock.json"));
  if (present === undefined) return "nothing is installed yet";
  for (const [path, entry] of Object.entries(wanted ?? {})) {
    if (!path.startsWith("node_modules/") || entry.link === true) continue;
    if (entry.optional === true && present[path] === undefined && !isForHere(entry)) continue;
    // npm's record may list a package whose folder is missing, so the folder is checked too.
    if (present[path]?.version !== entry.version || !existsSync(join(root, path, "package.json")))
      return `${path.replace(/^.*node_modules\//, "")} is not at ${entry.version}`;
  }
  return hasNode() ? undefined : "Node 24 is missing";
}

/** npm leaves an optional package out without a word, also when its hash is wrong: those of this platform have to be there. */
function isForHere({ os, cpu, libc }) {
  const has = (list, one) => list === undefined || list.includes(one);
  return os !== undefined && has(os, process.platform) && has(cpu, process.arch) && has(libc, LIBC);
}

/** Where no package has a Node for this platform, the Node that runs this has to do. */
function hasNode() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const names = [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`];
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "tools/node/package.json"), "utf8"));
  const name = names.find((one) => one in optionalDependencies);
  if (name === undefined) return true;
  return ["bin/node", "bin/node.exe"].some((path) => existsSync(join(root, "node_modules", name, path)));
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** By the lockfile alone, so that npm compares each package with its hash there. */
function install(reason) {
  process.stderr.write(`Installing (${reason}) ...\n`);
  if (!npm(["ci", "--loglevel=error", "--no-audit", "--no-fund"]))
    fail("npm could not install what is needed; see above. The package registry must be reachable once.");
  const still = whyInstall();
  if (still !== undefined)
    fail(
      `npm left a package out (${still}): it cannot be reached, or its hash is not the one of the lockfile.`,
    );
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
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
