// What `npm ci` verifies: every package that a clone runs has its hash in the lockfile, and no package runs a script at install.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const parsed = <T>(path: string): T =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", path), "utf8")) as T;

const { packages } = parsed<{ readonly packages: Readonly<Record<string, Locked>> }>("package-lock.json");
const tools = parsed<Locked>("tools/node/package.json");
const installed = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith("node_modules/") && link !== true,
);

describe("the lockfile", () => {
  test("has a Node 24 with its hash for each platform", () => {
    const nodes = installed.filter(([path]) => /^node_modules\/node(-(bin|darwin|linux|win)|$)/.test(path));
    const wanted = Object.entries(tools.optionalDependencies ?? {});
    expect(nodes.map(([path, { version }]) => [path, version])).toEqual(
      wanted.map(([name, version]) => [`node_modules/${name}`, version]),
    );
    for (const [path, { version, integrity }] of nodes) {
      expect(version, path).toMatch(/^24\.\d+\.\d+$/);
      expect(integrity, path).toMatch(/^sha512-[\w+/]{86}==$/);
    }
    expect(nodes.map(([, { os, cpu }]) => `${os}-${cpu}`).sort()).toEqual([
      "darwin-arm64",
      "darwin-x64",
      "linux-arm64",
      "linux-x64",
      "win32-x64",
    ]);
  });

  test("has every optional package that another one names, or npm ci would refuse it", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
      Object.entries(optionalDependencies ?? {})
        .filter(([name, version]) => !version.startsWith("file:") && !has(path, name))
        .map(([name]) => `${path} names ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("has the hash of every package, but for what other platforms than Linux on x64 may add", () => {
    const bare = installed.filter(([, { integrity }]) => integrity === undefined);
    const here = bare.filter(
      ([, { optional, os, cpu, libc }]) => optional !== true || `${os}-${cpu}-${libc}` === "linux-x64-glibc",
    );
    expect(here.map(([path]) => path)).toEqual([]);
  });

  test("has no package that runs a script at install", () => {
    const scripted = installed.filter(([, one]) => one.hasInstallScript === true && one.optional !== true);
    expect(scripted.map(([path]) => path)).toEqual([]);
  });
});

function has(path: string, name: string): boolean {
  return `${path}/node_modules/${name}` in packages || `node_modules/${name}` in packages;
}
