// The folder for compiled code: a user who can write there can run code as this user.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const FILE = new URL("../../../bin/cache-folder.js", import.meta.url).href;
const { cacheFolder } = (await import(FILE)) as {
  cacheFolder(user: {
    env: Record<string, string>;
    home: string;
    cwd: string;
    platform: string;
    uid: number;
  }): string | undefined;
};

let site: string;
beforeEach(() => {
  site = realpathSync(mkdtempSync(join(tmpdir(), "cache-folder-")));
  for (const name of ["home", "work"]) mkdirSync(join(site, name));
});
afterEach(() => rmSync(site, { recursive: true, force: true }));

const USER = process.getuid?.() ?? 0;

function folderFor(
  more: { env?: Record<string, string>; cwd?: string; uid?: number; platform?: string } = {},
) {
  const { env = {}, cwd = join(site, "work"), uid = USER, platform = "linux" } = more;
  return cacheFolder({ env, home: join(site, "home"), cwd, platform, uid });
}

describe("cacheFolder", () => {
  test("is a private folder in the cache of the user", () => {
    const folder = folderFor();
    expect(folder).toBe(join(site, "home/.cache/workspace/compiled"));
    expect(statSync(folder ?? "").mode & 0o777).toBe(0o700);
    expect(folderFor()).toBe(folder);
  });

  test("follows XDG_CACHE_HOME, and only an absolute one", () => {
    const named = join(site, "cache");
    expect(folderFor({ env: { XDG_CACHE_HOME: named } })).toBe(join(named, "workspace/compiled"));
    expect(folderFor({ env: { XDG_CACHE_HOME: "cache" } })).toBeUndefined();
    expect(existsSync(join(site, "work/cache"))).toBe(false);
  });

  test.each([
    ["darwin", {}, "home/Library/Caches"],
    ["win32", {}, "home/AppData/Local"],
  ])("is where %s keeps caches", (platform, env, base) => {
    expect(folderFor({ platform, env })).toBe(join(site, base, "workspace/compiled"));
  });

  test("is absent if others can write to it, or to a folder above it", () => {
    const folder = folderFor() ?? "";
    chmodSync(folder, 0o770);
    expect(folderFor()).toBeUndefined();
    chmodSync(folder, 0o700);
    chmodSync(join(site, "home"), 0o777);
    expect(folderFor()).toBeUndefined();
    // Others cannot rename what is in a sticky folder.
    chmodSync(join(site, "home"), 0o1777);
    expect(folderFor()).toBe(folder);
  });

  test("is absent if it belongs to another user", () => {
    folderFor();
    expect(folderFor({ uid: USER + 1 })).toBeUndefined();
  });

  test("is absent if it is in the folder or the repository that a command works on", () => {
    expect(folderFor({ cwd: join(site, "home") })).toBeUndefined();
    mkdirSync(join(site, "home/.git"));
    mkdirSync(join(site, "home/team"));
    expect(folderFor({ cwd: join(site, "home/team") })).toBeUndefined();
    expect(existsSync(join(site, "home/.cache"))).toBe(false);
    expect(folderFor()).toBeDefined();
  });

  test("is absent if a symbolic link leads into the repository", () => {
    mkdirSync(join(site, "work/planted"));
    symlinkSync(join(site, "work/planted"), join(site, "home/.cache"));
    expect(folderFor()).toBeUndefined();
  });

  test("is absent if it cannot be made", () => {
    expect(folderFor({ env: { XDG_CACHE_HOME: "/dev/null/cache" } })).toBeUndefined();
    expect(folderFor({ cwd: join(site, "deleted") })).toBeUndefined();
  });
});
