// Runs the program again on the Node that npm installed with it; the process ends as that run does.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

/**
 * Returns false without such a Node.
 * @param {string} program @param {string} launcherVariable @param {(node: string, problem: Error) => void} failed
 */
export function runOnOwnNode(program, launcherVariable, failed) {
  const node = process.env[launcherVariable] === undefined ? ownNode(program) : undefined;
  if (node === undefined) return false;
  const child = spawn(node, [program, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, [launcherVariable]: "3" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (problem) => failed(node, problem));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  return true;
}

/** The package of this platform, which a clone installs, or `node`, which may be installed next to a package. */
function ownNode(program) {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const names = [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`, "node"];
  return names.flatMap((name) => nodesIn(program, name)).find((path) => existsSync(path));
}

function nodesIn(program, name) {
  try {
    const folder = dirname(createRequire(program).resolve(`${name}/package.json`));
    return [join(folder, "bin/node"), join(folder, "bin/node.exe")];
  } catch {
    return [];
  }
}
