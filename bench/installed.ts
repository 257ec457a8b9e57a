// Installs a checkout of the program as a package, without a network: built, and below `node_modules`.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { BASE } from "./process.ts";

const BUILT_FROM = [
  "bin",
  "src",
  "schemas",
  "scripts",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
];
const PACKED = ["bin", "dist", "schemas", "package.json"];

/** Returns the launcher. Throws if the checkout cannot be built. */
export function installProgram(home: string, name: string): string {
  const clone = join(BASE, `${name}-build`);
  const site = join(BASE, name, "node_modules/workspace");
  mkdirSync(clone, { recursive: true });
  mkdirSync(site, { recursive: true });
  for (const part of BUILT_FROM.filter((one) => existsSync(join(home, one))))
    cpSync(join(home, part), join(clone, part), { recursive: true });
  for (const folder of [clone, site]) symlinkSync(join(home, "node_modules"), join(folder, "node_modules"));
  const PATH = `${join(home, "node_modules/.bin")}:${process.env.PATH}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/build.ts"], {
    cwd: clone,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${home} could not be built: ${`${stderr}${stdout}`.slice(-2_000)}`);
  for (const part of PACKED) cpSync(join(clone, part), join(site, part), { recursive: true });
  const launcher = join(site, "bin/workspace.js");
  const started = spawnSync(process.execPath, [launcher, "validate", "--help"], {
    cwd: clone,
    encoding: "utf8",
  });
  if (started.status !== 0) throw new Error(`${home} does not start: ${started.stderr.slice(-2_000)}`);
  return launcher;
}
