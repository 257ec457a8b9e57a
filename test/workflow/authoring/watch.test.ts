// Changes of files as the watcher sees them: however they are written, and only where they matter.

import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PathWatcher, WatchedPaths } from "../../../src/workflow/authoring/watch.ts";

const made: string[] = [];
const watchers: PathWatcher[] = [];

afterEach(async () => {
  for (const watcher of watchers.splice(0)) await watcher.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderOf(...files: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "watch-")));
  made.push(folder);
  mkdirSync(join(folder, "teams/deep"), { recursive: true });
  for (const file of files) writeFileSync(join(folder, file), "before");
  return folder;
}

/** Returns the paths that the watcher reports after `change`, relative to the folder. */
async function noticed(
  folder: string,
  paths: { readonly files?: readonly string[]; readonly patterns?: readonly string[] },
  change: () => void,
): Promise<readonly string[]> {
  const watched = new WatchedPaths();
  for (const file of paths.files ?? []) watched.add(join(folder, file));
  if (paths.patterns !== undefined) watched.add(folder, paths.patterns);
  const watcher = new PathWatcher();
  watchers.push(watcher);
  await watcher.cover(watched);
  change();
  const found = await watcher.next(AbortSignal.timeout(10_000));
  return found.map((path) => path.slice(folder.length + 1));
}

describe("PathWatcher", () => {
  it("notices a file that is written in place", async () => {
    const folder = folderOf("a.yaml");
    expect(
      await noticed(folder, { files: ["a.yaml"] }, () => writeFileSync(join(folder, "a.yaml"), "after")),
    ).toEqual(["a.yaml"]);
  });

  it("notices a file that an editor replaces by renaming", async () => {
    const folder = folderOf("a.yaml");
    const replace = () => {
      writeFileSync(join(folder, "a.yaml~"), "after");
      renameSync(join(folder, "a.yaml~"), join(folder, "a.yaml"));
    };
    expect(await noticed(folder, { files: ["a.yaml"] }, replace)).toEqual(["a.yaml"]);
  });

  it("notices a file that is deleted, and one that did not exist, in a folder that did not exist", async () => {
    const folder = folderOf("a.yaml");
    expect(await noticed(folder, { files: ["a.yaml"] }, () => rmSync(join(folder, "a.yaml")))).toEqual([
      "a.yaml",
    ]);
    const create = () => {
      mkdirSync(join(folder, "new"));
      writeFileSync(join(folder, "new/b.yaml"), "after");
    };
    expect(await noticed(folder, { patterns: ["new/*.yaml"] }, create)).toEqual(["new/b.yaml"]);
  });

  it("notices what matches a pattern, and neither other files nor hidden ones nor packages", async () => {
    const folder = folderOf("teams/a.yaml");
    mkdirSync(join(folder, "teams/node_modules"));
    const change = () => {
      for (const file of [
        "teams/x.log",
        "teams/.hidden.yaml",
        "teams/deep/c.yaml",
        "teams/node_modules/d.yaml",
        "other.yaml",
      ])
        writeFileSync(join(folder, file), "after");
      writeFileSync(join(folder, "teams/b.yaml"), "after");
    };
    const files = ["teams/a.yaml"];
    expect(await noticed(folder, { files, patterns: ["teams/*.yaml"] }, change)).toEqual(["teams/b.yaml"]);
    files.push("teams/b.yaml", "teams/deep/c.yaml");
    const deep = () => writeFileSync(join(folder, "teams/deep/e.yaml"), "after");
    expect(await noticed(folder, { files, patterns: ["teams/**/*.yaml"] }, deep)).toEqual([
      "teams/deep/e.yaml",
    ]);
  });

  it("notices a change of the file that a link leads to", async () => {
    const folder = folderOf("teams/real.yaml");
    symlinkSync("teams/real.yaml", join(folder, "link.yaml"));
    const change = () => writeFileSync(join(folder, "teams/real.yaml"), "after");
    expect(await noticed(folder, { files: ["link.yaml"] }, change)).toContain("teams/real.yaml");
  });

  it("notices a new file in the folder that a link leads to, and another folder behind the link", async () => {
    const folder = folderOf("teams/a.yaml", "teams/deep/b.yaml");
    const link = join(folder, "link");
    symlinkSync("teams", link);
    const patterns = ["link/*.yaml"];
    const create = () => writeFileSync(join(folder, "teams/new.yaml"), "new");
    const files = ["teams/a.yaml"];
    expect(await noticed(folder, { files, patterns }, create)).toEqual(["teams/new.yaml"]);
    files.push("teams/new.yaml");
    const turn = () => {
      rmSync(link);
      symlinkSync("teams/deep", link);
    };
    expect(await noticed(folder, { files, patterns }, turn)).toEqual(["link", "teams/deep/b.yaml"]);
  });

  it("notices a change that happened after a file was named and before it was watched", async () => {
    const folder = folderOf("a.yaml");
    const watched = new WatchedPaths();
    watched.add(join(folder, "a.yaml"));
    writeFileSync(join(folder, "a.yaml"), "changed meanwhile");
    const watcher = new PathWatcher();
    watchers.push(watcher);
    await watcher.cover(watched);
    expect(await watcher.next(AbortSignal.timeout(10_000))).toEqual([join(folder, "a.yaml")]);
  });

  it("notices a file that appeared after its folder was read and before it was watched", async () => {
    const folder = folderOf("teams/a.yaml");
    const watched = new WatchedPaths();
    watched.add(folder, ["teams/**/*.yaml"]);
    watched.add(join(folder, "teams/a.yaml"));
    writeFileSync(join(folder, "teams/deep/b.yaml"), "new");
    const watcher = new PathWatcher();
    watchers.push(watcher);
    await watcher.cover(watched);
    expect(await watcher.next(AbortSignal.timeout(10_000))).toEqual([join(folder, "teams/deep/b.yaml")]);
  });

  it("ends when it is aborted", async () => {
    const folder = folderOf("a.yaml");
    const watcher = new PathWatcher();
    watchers.push(watcher);
    const watched = new WatchedPaths();
    watched.add(join(folder, "a.yaml"));
    await watcher.cover(watched);
    const stop = new AbortController();
    const next = watcher.next(stop.signal);
    stop.abort();
    expect(await next).toEqual([]);
    expect(await watcher.next(AbortSignal.abort())).toEqual([]);
  });

  it("notices a file that appears at any moment while the watcher starts", async () => {
    const folder = folderOf("teams/a.yaml");
    const missed: number[] = [];
    for (let turns = 0; turns < 60; turns += 2) {
      const watched = new WatchedPaths();
      watched.add(folder, ["teams/*.yaml"]);
      const watcher = new PathWatcher();
      watchers.push(watcher);
      const covered = watcher.cover(watched);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(join(folder, `teams/new-${turns}.yaml`), "new");
      await covered;
      const found = await watcher.next(AbortSignal.timeout(1_000));
      if (!found.includes(join(folder, `teams/new-${turns}.yaml`))) missed.push(turns);
    }
    expect(missed).toEqual([]);
  }, 120_000);

  it("notices a file that appears at any moment after its new folder", async () => {
    const folder = join(folderOf(), "teams");
    const missed: number[] = [];
    for (let turns = 0; turns < 60; turns += 2) {
      const watched = new WatchedPaths();
      watched.add(folder, [`new-${turns}/*.yaml`]);
      const watcher = new PathWatcher();
      watchers.push(watcher);
      await watcher.cover(watched);
      const next = watcher.next(AbortSignal.timeout(1_000));
      mkdirSync(join(folder, `new-${turns}`));
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const path = join(folder, `new-${turns}/a.yaml`);
      writeFileSync(path, "new");
      if (!(await next).includes(path)) missed.push(turns);
    }
    expect(missed).toEqual([]);
  }, 120_000);
});
