#!/usr/bin/env node
// Starts the program. On a Node that is too old for it, starts it again on the Node that npm installed with it.

import module from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// An import of `node:fs` evaluates all streams, which takes as long as the rest of this file. An old Node lacks the function.
const { existsSync } = process.getBuiltinModule?.("node:fs") ?? (await import("node:fs"));

const LAUNCHER_FD = "WORKSPACE_LAUNCHER_FD";
const here = fileURLToPath(import.meta.url);
const root = dirname(dirname(here));

// A clone runs its sources, never what was built from them once. A package runs what was built: Node strips no types there.
const packaged = root.split(sep).includes("node_modules") || !existsSync(join(root, "src"));

if (newEnough(process.versions.node)) await start();
else await again();

/** As `engines` in package.json says; the types of a clone need Node 24. */
function newEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major >= 24 || (packaged && major === 22 && minor >= 19);
}

async function start() {
  if (!installed("yaml")) sayNotInstalled();
  if (packaged && !existsSync(join(root, "dist/main.js"))) sayNotBuilt();
  if (process.env[LAUNCHER_FD] !== undefined) await dieWithLauncher();
  keepQuietAboutSqlite();
  await keepCompiledCode();
  resolveOwnFiles();
  try {
    await import(packaged ? "../dist/main.js" : "../src/main.ts");
  } catch (problem) {
    if (problem?.code !== "EMFILE" && problem?.code !== "ENFILE") throw problem;
    say(
      "CLI_FILE",
      `too many open files: ${problem.path}`,
      "raise the limit, for example with `ulimit -n 1024`",
    );
  }
}

/** Most of a short command's time is reading the program. A clone keeps the code where its packages are. */
async function keepCompiledCode() {
  const { env } = process;
  // Node follows these itself.
  if (env.NODE_COMPILE_CACHE !== undefined || env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  const folder = packaged ? await ownCacheFolder() : join(root, "node_modules/.cache/workspace");
  if (folder !== undefined) module.enableCompileCache(folder);
}

async function ownCacheFolder() {
  const { env, platform } = process;
  const { cacheFolder } = await import("./cache-folder.js");
  const { homedir } = process.getBuiltinModule("node:os");
  try {
    return cacheFolder({ env, home: homedir(), cwd: process.cwd(), platform, uid: process.getuid?.() });
  } catch {
    // The folder of the process was deleted, or its user has no home.
    return undefined;
  }
}

/** Imports of the program's own files have full names; without a file lookup for each, loading takes a fifth less. */
function resolveOwnFiles() {
  const own = pathToFileURL(join(root, packaged ? "dist" : "src", sep)).href;
  const [ending, format] = packaged ? [".js", "module"] : [".ts", "module-typescript"];
  module.registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith(".") || !specifier.endsWith(ending) || !context.parentURL?.startsWith(own))
        return next(specifier, context);
      return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true };
    },
  });
}

/** The launcher holds the other end of a pipe; when the launcher ends in any way, this process ends too. */
async function dieWithLauncher() {
  const fd = Number(process.env[LAUNCHER_FD]);
  delete process.env[LAUNCHER_FD];
  const { Socket } = await import("node:net");
  const line = new Socket({ fd, readable: true, writable: false });
  line.on("error", () => process.kill(process.pid, "SIGKILL"));
  line.on("close", () => process.kill(process.pid, "SIGKILL"));
  line.resume();
  line.unref();
}

/** Node 22 warns of its SQLite in each run; what the emulator uses of it is the same in Node 24. */
function keepQuietAboutSqlite() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith("SQLite is an experimental")) emitWarning(warning, ...rest);
  };
}

async function again() {
  const { runOnOwnNode } = await import("./other-node.js");
  const failed = (node, problem) =>
    say("CLI_INTERNAL", `${node} does not start: ${problem.message}`, installHint());
  if (!runOnOwnNode(here, LAUNCHER_FD, failed)) sayTooOld();
}

/** Where npm puts packages; elsewhere Node finds them, which takes 2 ms. */
function installed(name) {
  const folders = [join(root, "node_modules"), ...(packaged ? [dirname(root)] : [])];
  if (folders.some((folder) => existsSync(join(folder, name)))) return true;
  try {
    return existsSync(fileURLToPath(import.meta.resolve(name)));
  } catch {
    return false;
  }
}

function sayNotInstalled() {
  say("CLI_NOT_INSTALLED", "the dependencies of this program are not installed", installHint());
}

function sayNotBuilt() {
  say(
    "CLI_NOT_INSTALLED",
    `${root} has no dist: it was packed without being built`,
    "run `npm pack` in a clone and install what it makes",
  );
}

/** A clone installs the required Node; a package finds one that was installed next to it. */
function sayTooOld() {
  if (!packaged) sayNotInstalled();
  say(
    "CLI_NOT_INSTALLED",
    `Node ${process.versions.node} is too old: this program needs Node 24 or newer (or Node 22 from 22.19 on)`,
    "install a newer Node, or one next to this program: `npm install node@24`",
  );
}

function installHint() {
  return packaged
    ? "install the package again with npm"
    : `run \`npm ci\` in ${root} (or \`npm start\`, which does it first)`;
}

function say(code, message, hint) {
  process.stderr.write(`error ${code}: ${message}\n  hint: ${hint}\n`);
  process.exit(1);
}
