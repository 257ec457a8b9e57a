// Files for people are written atomically.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openWholeFile, writeFilesTogether, writeWholeFile } from "../../src/config/write-file.ts";
import { COMPILE_CACHE } from "../built-program.ts";
import { BIN, folderWith } from "../cli/program.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "whole-"));
  file = join(folder, "out");
});

test("a file is replaced whole, and nothing else is left in its folder", () => {
  writeFileSync(file, "before");
  writeWholeFile(file, "after", { over: true, mode: 0o600 });
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["after", 0o600]);
  expect(readdirSync(folder)).toEqual(["out"]);
});

test("the old content stays until the new one is complete, and also if that is given up", () => {
  writeFileSync(file, "before");
  const into = openWholeFile(file, { over: true });
  into.write(new TextEncoder().encode("half"));
  expect(readFileSync(file, "utf8")).toBe("before");
  into.drop();
  expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["before", ["out"]]);
});

test("without permission to overwrite, an existing file is refused and a partial one removed", () => {
  writeFileSync(file, "before");
  expect(() => writeWholeFile(file, "after", { over: false })).toThrow("EEXIST");
  const into = openWholeFile(join(folder, "other"), { over: false });
  into.write(new TextEncoder().encode("half"));
  into.drop();
  expect(readdirSync(folder)).toEqual(["out"]);
});

describe("files that are written together", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const change = (name: string, before: string | undefined, after: string) => ({
    path: join(folder, name),
    before: before === undefined ? undefined : bytes(before),
    after: bytes(after),
  });
  const contents = () =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

  test("are all replaced, and new ones are created", () => {
    writeFileSync(file, "old");
    writeFilesTogether([change("out", "old", "new"), change("other", undefined, "made")]);
    expect(contents()).toEqual({ out: "new", other: "made" });
  });

  test.each([
    ["another program changed one of them", { out: "old", other: "edited" }],
    ["another program created one of them", { out: "old", other: "edited", third: "x" }],
    ["another program deleted one of them", { out: "old" }],
  ])("are all left unchanged if %s since it was read", (_what, now) => {
    for (const [name, text] of Object.entries(now)) writeFileSync(join(folder, name), text);
    const others = "third" in now ? [change("third", undefined, "y")] : [change("other", "old", "new")];
    expect(() => writeFilesTogether([change("out", "old", "new"), ...others])).toThrow(
      "was changed by another program in the meantime, so nothing is written",
    );
    expect(contents()).toEqual(now);
  });

  test("are restored if a later one cannot be put in place", () => {
    writeFileSync(file, "old");
    writeFileSync(join(folder, "last"), "old");
    const changes = [
      change("out", "old", "new"),
      change("made", undefined, "new"),
      change("last", "old", "new"),
    ];
    const last = changes[2];
    if (last === undefined) throw new Error("no change");
    // A file cannot replace the folder that is there now.
    const failing = Object.defineProperty({ ...last }, "after", {
      get: () => {
        rmSync(last.path);
        mkdirSync(join(last.path, "inside"), { recursive: true });
        return bytes("new");
      },
    });
    expect(() =>
      writeFilesTogether([changes[0], changes[1], failing].flatMap((item) => item ?? [])),
    ).toThrow();
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(folder).sort()).toEqual(["last", "out"]);
  });
});

test("a link stays a link, a file keeps its permissions, a device takes what it is given", () => {
  writeFileSync(join(folder, "real"), "before", { mode: 0o640 });
  symlinkSync("real", file);
  writeWholeFile(file, "after", { over: true });
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "real"), "utf8")).toBe("after");
  expect(statSync(join(folder, "real")).mode & 0o777).toBe(0o640);
  writeWholeFile("/dev/null", "x", { over: true });
});

test("a file keeps its permissions also if the umask would remove them from a new file", () => {
  writeFileSync(file, "before");
  chmodSync(file, 0o664);
  const before = process.umask(0o077);
  try {
    writeWholeFile(file, "after", { over: true });
  } finally {
    process.umask(before);
  }
  expect(statSync(file).mode & 0o777).toBe(0o664);
});

test("a file is replaced although a killed process with the same ID left an incomplete one", () => {
  writeFileSync(`${file}.${process.pid}.new`, "half");
  writeWholeFile(file, "whole", { over: true });
  expect(readFileSync(file, "utf8")).toBe("whole");
});

describe("on a disk without room for the whole", () => {
  const SPEC = `pools:\n${Array.from({ length: 40 }, (_, at) => `  p${at}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`;
  const run = (cwd: string, limit: string, ...words: readonly string[]) => {
    const env = { PATH: process.env.PATH ?? "", HOME: cwd, ...COMPILE_CACHE, WORKSPACE_HOST: "embedded" };
    const script = `${limit} exec "$0" "$@"`;
    return spawnSync("/bin/bash", ["-c", script, process.execPath, BIN, ...words], {
      cwd,
      env,
      encoding: "utf8",
    });
  };
  test("state pull --out fails, and an older file is unchanged", () => {
    const cwd = folderWith(SPEC);
    expect(run(cwd, "", "apply", "--auto-approve").status).toBe(0);
    writeFileSync(join(cwd, "out"), "before");
    const { status, stderr } = run(cwd, "ulimit -f 4;", "state", "pull", "--out", "out");
    expect([status, stderr]).toEqual([1, expect.stringContaining("CLI_FILE: the state cannot be written")]);
    expect(readFileSync(join(cwd, "out"), "utf8")).toBe("before");
    expect(readdirSync(cwd).filter((name) => name.startsWith("out"))).toEqual(["out"]);
  });
});
