// Finds the files of the spec's folder that match a pattern.

import { readdirSync } from "node:fs";
import { join, posix, sep } from "node:path";
import type { FileSystemAdapter } from "tinyglobby";
import { tinyglobby } from "../yaml/lazy-packages.ts";

/** Regular files that match, below `under` in the folder; links are not followed, and node_modules is not entered. */
export function matching(
  folder: string,
  patterns: readonly string[],
  under: string,
  except: readonly string[],
  fs?: FileSystemAdapter,
): readonly string[] {
  return tinyglobby()
    .globSync([...patterns], {
      cwd: join(folder, under),
      followSymbolicLinks: false,
      expandDirectories: false,
      ignore: ["**/node_modules/**", ...except],
      ...(fs === undefined ? {} : { fs }),
    })
    .map((found) => posix.join(under, found.split(sep).join("/")))
    .sort();
}

/** Counts everything but folders as a file, so that links and pipes match as well. */
export const ALL_ENTRIES = {
  readdirSync: (path: string) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isFile: () => !entry.isDirectory(),
      isDirectory: () => entry.isDirectory(),
      isSymbolicLink: () => false,
    })),
} as unknown as FileSystemAdapter;
