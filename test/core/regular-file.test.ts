// Folders that the user named, also where a file system cannot contain them.

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../src/core/regular-file.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "make-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("creates each missing folder with the mode, and accepts an existing one", () => {
  const path = join(newFolder(), "a/b/c");
  makeFolder(path, 0o700);
  makeFolder(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
});

test("throws the system's error where a file is in the way", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "file"), "");
  expect(() => makeFolder(join(folder, "file"))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(folder, "file/below"))).toThrow(/EEXIST|ENOTDIR/);
});

test.runIf(process.platform === "linux")("ends where the file system cannot contain new folders", () => {
  expect(() => makeFolder("/proc/none/below")).toThrow(/ENOENT/);
});
