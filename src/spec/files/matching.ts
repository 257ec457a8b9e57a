// Finds the files of the spec's folder that match a pattern.

import { type Dirent, readdirSync } from "node:fs";
import { join, posix, sep } from "node:path";
import type { FileSystemAdapter } from "tinyglobby";
import { tinyglobby } from "../yaml/lazy-packages.ts";

type ListFolder = (path: string) => Dirent[];

const entries: ListFolder = (path) => readdirSync(path, { withFileTypes: true });

/** Whether an absolute path leads to a folder of the spec. */
type IsInside = (path: string) => boolean;

/** Regular files that match, below `under` in the folder; links are not followed, and node_modules is not entered. */
export function matching(
  folder: string,
  isInside: IsInside,
  patterns: readonly string[],
  under: string,
  except: readonly string[],
  list = entries,
): readonly string[] {
  return tinyglobby()
    .globSync([...patterns], {
      cwd: join(folder, under),
      followSymbolicLinks: false,
      expandDirectories: false,
      ignore: ["**/node_modules/**", ...except],
      fs: insideOnly(isInside, list),
    })
    .map((found) => posix.join(under, found.split(sep).join("/")))
    .sort();
}

/** The search starts in the folder before the first wildcard, which can be a link: `link/**` would search where it points. */
function insideOnly(isInside: IsInside, list: ListFolder): FileSystemAdapter {
  let mayStart: boolean | undefined;
  const readdir: ListFolder = (path) => {
    mayStart ??= isInside(path);
    return mayStart ? list(path) : [];
  };
  return { readdirSync: readdir } as unknown as FileSystemAdapter;
}

/** Counts everything but folders as a file, so that links and pipes match as well. */
export const allEntries: ListFolder = (path) =>
  entries(path).map((entry) =>
    Object.assign(entry, { isFile: () => !entry.isDirectory(), isSymbolicLink: () => false }),
  );
