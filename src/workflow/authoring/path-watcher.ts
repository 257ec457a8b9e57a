// Watches the files and folders that each round read. A change during a round starts another one.

import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import picomatch from "picomatch";
import { fileFailure, fileStatsOf } from "../../config/files.ts";

/** Quiet time after a change, since editors and version control write in several steps; and the longest wait for it. */
const QUIET_MS = 100;
const LONGEST_MS = 2_000;

interface WatchedTree {
  readonly base: string;
  /** How many folders below the base can contain a match. */
  readonly depth: number;
  matches(path: string): boolean;
}

/** Files with what they were when they were first named, and patterns of files. Paths are absolute. */
export class WatchedPaths {
  readonly files = new Map<string, string>();
  readonly trees = new Map<string, WatchedTree>();
  readonly #begunMs = Date.now();

  add(path: string, patterns?: readonly string[]): void {
    if (patterns !== undefined) {
      for (const pattern of patterns) this.#addTree(path, pattern);
      return;
    }
    if (this.files.has(path)) return;
    this.files.set(path, signatureOf(path));
    const real = realPath(path);
    if (real !== undefined && real !== path) this.files.set(real, signatureOf(real));
  }

  /** The search starts in a folder that can be a link: then both the link and the folder that it leads to are watched. */
  #addTree(path: string, pattern: string): void {
    const tree = treeOf(path, pattern);
    this.trees.set(join(path, pattern), tree);
    const real = realPath(tree.base);
    if (real === undefined || real === tree.base) return;
    this.files.set(tree.base, signatureOf(tree.base));
    const matches = (text: string): boolean => tree.matches(join(tree.base, relative(real, text)));
    this.trees.set(join(real, pattern), { ...tree, base: real, matches });
  }

  changed(): readonly string[] {
    return [...this.files].filter(([path, before]) => signatureOf(path) !== before).map(([path]) => path);
  }

  /** Whether this can have appeared in a tree after the tree was read. Clocks of file systems are coarse. */
  appeared(path: string, { orFolder = false } = {}): boolean {
    const matters = orFolder ? this.leadTo(path) : this.concern(path);
    if (this.files.has(path) || !matters) return false;
    return (fileStatsOf(path)?.ctimeMs ?? 0) > this.#begunMs - 20;
  }

  /** Whether a change of this file can change the spec. */
  concern(path: string): boolean {
    return this.files.has(path) || [...this.trees.values()].some((tree) => tree.matches(path));
  }

  /** Whether this file, or something below this folder, can be such a file. */
  leadTo(path: string): boolean {
    return this.files.has(path) || [...this.trees.values()].some((tree) => isOnTheWay(tree, path));
  }
}

function treeOf(folder: string, pattern: string): WatchedTree {
  const { base, glob } = picomatch.scan(pattern);
  const isMatch = picomatch(pattern);
  return {
    base: join(folder, base),
    depth: glob.includes("**") ? Number.POSITIVE_INFINITY : glob.split("/").length,
    matches: (path) => isMatch(relative(folder, path).split(sep).join("/")),
  };
}

/** A pattern matches no hidden files and no packages. */
const SKIPPED = /(^|[\\/])(\.|node_modules([\\/]|$))/;

function isOnTheWay({ base, depth }: WatchedTree, path: string): boolean {
  if (base === path || base.startsWith(`${path}${sep}`)) return true;
  if (!path.startsWith(`${base}${sep}`)) return false;
  const below = relative(base, path);
  return !SKIPPED.test(below) && below.split(sep).length <= depth;
}

export class PathWatcher {
  readonly #changed = new Set<string>();
  #watcher: FSWatcher | undefined;
  #paths = new WatchedPaths();
  /** Files can appear in a new folder after it was listed and before it is watched. */
  #hasNewFolder = false;
  #wake: () => void = () => undefined;
  #problem: unknown;

  /** Watches these paths instead of the previous ones. */
  async cover(paths: WatchedPaths): Promise<void> {
    const roots = new Set([...paths.files.keys()].map((path) => existingFolder(dirname(path))));
    for (const { base } of paths.trees.values()) roots.add(existingFolder(base));
    const before = this.#watcher;
    this.#paths = paths;
    this.#hasNewFolder = false;
    let isReady = false;
    const isCovered = (path: string): boolean => roots.has(path) || paths.leadTo(path);
    const watcher = watch([...roots], {
      // A link could lead to the whole disk. The files that links lead to are watched by their own paths.
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (path) => !isCovered(path),
    });
    this.#watcher = watcher;
    watcher.on("all", (event, path) => {
      // Before it is ready, the watcher reports the files that it finds.
      if (isReady ? paths.concern(path) : paths.appeared(path)) this.#note(path);
      if (!isReady || event !== "addDir" || !paths.leadTo(path)) return;
      this.#hasNewFolder = true;
      this.#wake();
    });
    await new Promise<void>((resolve) => {
      watcher.once("ready", () => {
        isReady = true;
        resolve();
      });
      watcher.on("error", (problem) => {
        this.#problem = problem;
        resolve();
        this.#wake();
      });
    });
    await before?.close();
    // The watcher also names the folder above a root, which can be large.
    const folders = Object.entries(watcher.getWatched()).filter(([folder]) => isCovered(folder));
    for (const path of [...paths.changed(), ...missedBy(folders, paths)]) this.#note(path);
  }

  /** The paths that changed, once they stay unchanged for a moment. Empty if `signal` was aborted. */
  async next(signal: AbortSignal): Promise<readonly string[]> {
    const woken = (ms?: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const stop = (): void => this.#wake();
    signal.addEventListener("abort", stop);
    try {
      while (this.#changed.size === 0 && this.#problem === undefined && !signal.aborted)
        await (this.#hasNewFolder ? this.cover(this.#paths) : woken());
      const begun = performance.now();
      for (let size = -1; size !== this.#changed.size && performance.now() - begun < LONGEST_MS; ) {
        size = this.#changed.size;
        if (!signal.aborted) await woken(QUIET_MS);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
    if (this.#problem !== undefined)
      throw fileFailure(
        "the files of the spec cannot be watched",
        this.#problem,
        "to check them by polling, set CHOKIDAR_USEPOLLING=1",
      );
    const changed = [...this.#changed].sort();
    this.#changed.clear();
    return signal.aborted ? [] : changed;
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
  }

  #note(path: string): void {
    this.#changed.add(path);
    this.#wake();
  }
}

/** What appeared in a folder after the watcher listed the folder and before it watched the folder. */
function missedBy(
  folders: readonly (readonly [string, readonly string[]])[],
  paths: WatchedPaths,
): readonly string[] {
  return folders.flatMap(([folder, names]) => {
    const known = new Set(names);
    return namesIn(folder)
      .filter((name) => !known.has(name))
      .map((name) => join(folder, name))
      .filter((path) => paths.appeared(path, { orFolder: true }));
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function existingFolder(path: string): string {
  const above = dirname(path);
  return above === path || fileStatsOf(path)?.isDirectory() === true ? path : existingFolder(above);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return "";
  }
}
