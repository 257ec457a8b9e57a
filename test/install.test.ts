// `scripts/install.js`: what it notices before a command of a clone runs.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";

const LOCK = {
  packages: {
    "": { dependencies: { one: "1.0.0" } },
    "node_modules/one": { version: "1.0.0" },
    "node_modules/two": { version: "2.0.0" },
  },
};

let clone = "";

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "install-"));
  for (const folder of ["scripts", "tools/node", "bin", "node_modules/one", "node_modules/two"])
    mkdirSync(join(clone, folder), { recursive: true });
  cpSync("scripts/install.js", join(clone, "scripts/install.js"));
  writeFileSync(join(clone, "tools/node/package.json"), JSON.stringify({ optionalDependencies: {} }));
  for (const name of ["package-lock.json", "node_modules/.package-lock.json"])
    writeFileSync(join(clone, name), JSON.stringify(LOCK));
  for (const name of ["one", "two"]) writeFileSync(join(clone, `node_modules/${name}/package.json`), "{}");
  // A stand-in for npm that fails: the test asks only whether npm is called, and why.
  writeFileSync(join(clone, "bin/npm"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
});

function install(): { readonly code: number | null; readonly text: string } {
  const path = [join(clone, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  const { status, stderr } = spawnSync(process.execPath, [join(clone, "scripts/install.js")], {
    env: { PATH: path },
    encoding: "utf8",
  });
  return { code: status, text: stderr.split("\n")[0] ?? "" };
}

describe("the install step of a clone", () => {
  test("does nothing when every package of the lockfile is present", () => {
    expect(install()).toEqual({ code: 0, text: "" });
  });

  test("installs when a package has another version than the lockfile", () => {
    const older = { packages: { ...LOCK.packages, "node_modules/two": { version: "1.0.0" } } };
    writeFileSync(join(clone, "node_modules/.package-lock.json"), JSON.stringify(older));
    expect(install()).toEqual({ code: 1, text: "Installing (two is not at 2.0.0) ..." });
  });

  test("installs when npm's record lists a package whose folder is missing", () => {
    rmSync(join(clone, "node_modules/two"), { recursive: true });
    expect(install()).toEqual({ code: 1, text: "Installing (two is not at 2.0.0) ..." });
  });

  test("installs when nothing is installed yet", () => {
    rmSync(join(clone, "node_modules"), { recursive: true });
    expect(install()).toEqual({ code: 1, text: "Installing (nothing is installed yet) ..." });
  });
});
