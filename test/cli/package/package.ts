// The project packed and unpacked by npm, in separate folders and without a network.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VERSION } from "../../../src/config/version.ts";

const ROOT = join(import.meta.dirname, "../../..");
const INSTALLED = join(ROOT, "node_modules");

/** What a clone has of the project that packing needs; no lockfile, so that nothing asks whether to install. */
const CLONED = [
  "bin",
  "src",
  "schemas",
  "examples",
  "docs",
  "tools",
  "scripts/build.ts",
  "scripts/lazy-builtins.ts",
  "scripts/install.js",
];

export interface ArchiveEntry {
  /** A clone of the project, with what is installed for development. */
  readonly clone: string;
  /** The package in a folder where only what it depends on is installed. */
  readonly installed: string;
  /** The program as npm links it there. */
  readonly command: string;
  /** The files of the package, by their paths in it. */
  readonly files: readonly string[];
}

export function pack(): ArchiveEntry {
  const folder = mkdtempSync(join(tmpdir(), "package-"));
  const clone = join(folder, "clone");
  const loose = readdirSync(ROOT).filter((name) => /^(?!package-lock).+\.(json|md)$|^LICENSE$/.test(name));
  for (const path of [...CLONED, ...loose]) cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  symlinkSync(INSTALLED, join(clone, "node_modules"));
  run("npm", ["pack", "--silent", "--offline", "--pack-destination", folder], clone);
  const archive = join(folder, `workspace-${VERSION}.tgz`);
  const files = run("tar", ["-tzf", archive], folder).trim().split("\n");
  return {
    clone,
    ...install(archive, join(folder, "site/node_modules")),
    files: files.map((path) => path.replace(/^package\//, "")),
  };
}

function install(archive: string, modules: string): Pick<ArchiveEntry, "installed" | "command"> {
  const installed = join(modules, "workspace");
  const command = join(modules, ".bin/workspace");
  for (const path of [installed, dirname(command)]) mkdirSync(path, { recursive: true });
  run("tar", ["-xzf", archive, "--strip-components=1", "-C", installed], modules);
  const { bin, dependencies } = manifest(installed);
  symlinkSync(join(installed, bin.workspace), command);
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(INSTALLED, name), join(modules, name));
  }
  return { installed, command };
}

interface Manifest {
  readonly bin: { readonly workspace: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** What the command says; fails with what it complains about. */
function run(command: string, words: readonly string[], cwd: string): string {
  const env = { ...process.env, PATH: `${join(INSTALLED, ".bin")}:${process.env.PATH}` };
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`${command} ${words.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}
