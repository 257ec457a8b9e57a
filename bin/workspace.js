#!/usr/bin/env node
// Starts the program. On a Node that cannot run TypeScript as it is, starts it again on the Node 24 that npm put beside it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const LAUNCHER_FD = "WORKSPACE_LAUNCHER_FD";
const here = fileURLToPath(import.meta.url);
const root = dirname(dirname(here));

if (Number(process.versions.node.split(".")[0]) >= 24) await start();
else again();

async function start() {
  if (!installed("commander")) sayNotInstalled();
  if (process.env[LAUNCHER_FD] !== undefined) await dieWithLauncher();
  // Compiled code is kept between runs: most of a short command's time is reading the program.
  if (process.env.NODE_COMPILE_CACHE === undefined)
    module.enableCompileCache(join(root, "node_modules/.cache/workspace"));
  await import("../src/main.ts");
}

/** The launcher holds the other end of a pipe; when it is gone, however it ended, this process goes too. */
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

function again() {
  const node = ownNode();
  if (node === undefined) sayNotInstalled();
  const child = spawn(node, [here, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, [LAUNCHER_FD]: "3" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(
      `error CLI_INTERNAL: ${node} does not start: ${error.message}\n  hint: run: npm ci\n`,
    );
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function ownNode() {
  try {
    const folder = dirname(createRequire(here).resolve("node/package.json"));
    return [join(folder, "bin/node"), join(folder, "bin/node.exe")].find((path) => existsSync(path));
  } catch {
    return undefined;
  }
}

function installed(name) {
  return existsSync(join(root, "node_modules", name)) || existsSync(join(root, "..", name));
}

function sayNotInstalled() {
  process.stderr.write(
    `error CLI_NOT_INSTALLED: what this program needs is not installed\n  hint: run \`npm ci\` in ${root} (or \`npm start\`, which does it first)\n`,
  );
  process.exit(1);
}
