// File patterns, which stay below their folder and match in bounded time because specs can be untrusted, and the files that match them.

import { type Dirent, readdirSync } from "node:fs";
import { join, posix, sep } from "node:path";
import type { FileSystemAdapter } from "tinyglobby";
import { tinyglobby } from "../yaml/lazy-packages.ts";

const LONGEST = 256;
/** Each `*` of a segment multiplies the ways in which a name can be tried. */
const STARS_IN_SEGMENT = 2;
const FOLDER_STARS = 2;
const BRACES = 4;

/** Why a pattern is refused, and whether because it leads out of its folder; undefined for one that may be used. */
export function filePatternProblem(
  pattern: string,
): { readonly leadsOut: boolean; readonly words: string } | undefined {
  if (pattern.startsWith("/") || pattern.includes("..") || pattern.includes("\\") || /^[a-z]:/i.test(pattern))
    return { leadsOut: true, words: "points outside its folder" };
  const words = tooMuch(pattern);
  return words === undefined ? undefined : { leadsOut: false, words };
}

function tooMuch(pattern: string): string | undefined {
  if (pattern.length > LONGEST) return "is too long";
  if (/[()!\0]/.test(pattern)) return "contains more than *, **, ?, [a-z], and {a,b}";
  const segments = pattern.split("/");
  if (segments.filter((segment) => segment === "**").length > FOLDER_STARS)
    return `contains ** more than ${FOLDER_STARS} times`;
  if (segments.some((segment) => segment !== "**" && segment.split("*").length - 1 > STARS_IN_SEGMENT))
    return `contains * more than ${STARS_IN_SEGMENT} times between two slashes`;
  if (pattern.split("{").length - 1 > BRACES) return `contains more than ${BRACES} braces`;
  return undefined;
}

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
    .map((text) => posix.join(under, text.split(sep).join("/")))
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
