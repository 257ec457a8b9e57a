// The spec's folder tree as the only thing that is read: regular files inside it, of bounded size, never through a link that leads out.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, join, normalize, posix, relative, resolve, sep } from "node:path";
import { tinyglobby } from "./rare.ts";

/** Why a file cannot be read. `outside`: the path leads out of the folder tree. `hidden`: a part of it starts with a dot, and only what all see may be read. */
export type Refusal = "missing" | "outside" | "irregular" | "too large" | "unreadable" | "hidden";

export type Opened<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A folder and everything below it. Paths are relative to it, with `/` between their parts. */
export interface Tree {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** The name under which diagnostics show a file of the tree. */
  shown(path: string): string;
  read(path: string, most: number): Opened<Uint8Array>;
  /** Gives a file to `take` piece by piece, so that a large one is never held whole. Returns its size. */
  stream(path: string, most: number, take: (piece: Uint8Array) => void): Opened<number>;
  /** Regular files that match, sorted. Links are not followed, hidden folders and node_modules not entered. */
  glob(patterns: readonly string[], folder: string, except?: readonly string[]): readonly string[];
  /** The size of a regular file of the tree, which is not opened. */
  size(path: string): Opened<number>;
  isFolder(path: string): boolean;
}

const PIECE = 1 << 20;

/** The tree that a file lies in, with the file's own path in it. `cwd`: diagnostics name files from there. */
export function treeOf(
  file: string,
  cwd?: string,
  visibleOnly = false,
): { readonly tree: Tree; readonly main: string } | undefined {
  const folderName = dirname(file);
  const near = cwd === undefined ? folderName : relative(cwd, resolve(folderName));
  const given = near === "" ? "." : near.startsWith("..") ? folderName : near;
  try {
    const folder = realpathSync(resolve(folderName));
    const main = basename(file);
    return { tree: treeAt(folder, given, visibleOnly ? main : undefined), main };
  } catch {
    return undefined;
  }
}

/** With `onlyBeside` hidden files and folders cannot be read, nor reached through a link; the main file itself may be hidden. */
function treeAt(folder: string, given: string, onlyBeside?: string): Tree {
  const isHidden = (path: string): boolean =>
    onlyBeside !== undefined && path !== onlyBeside && /(^|[\\/])\.(?!\.?([\\/]|$))/.test(path);
  const found = (path: string): Opened<string> => {
    // By its name first: whether a hidden file is there is nobody's business either.
    if (isHidden(path)) return { ok: false, refusal: "hidden" };
    const real = realInside(folder, path);
    return real.ok && isHidden(relative(folder, real.value)) ? { ok: false, refusal: "hidden" } : real;
  };
  return {
    folder,
    shown: (path) => (given === "." ? path : join(given, path)),
    read: (path, most) =>
      withFile(found(path), most, (descriptor, size) => readWhole(descriptor, size, most)),
    stream: (path, most, take) => withFile(found(path), most, (descriptor) => pieces(descriptor, most, take)),
    glob: (patterns, under, except = []) =>
      tinyglobby()
        .globSync([...patterns], {
          cwd: join(folder, under),
          followSymbolicLinks: false,
          expandDirectories: false,
          ignore: ["**/node_modules/**", ...except],
        })
        .map((found) => posix.join(under, found.split(sep).join("/")))
        .sort(),
    size: (path) => sizeOf(found(path)),
    isFolder: (path) => {
      const real = found(path);
      return real.ok && lstatSync(real.value).isDirectory();
    },
  };
}

/** A file that the command line names: anywhere, but regular and of bounded size. */
export function readNamedFile(path: string, most: number): Opened<Uint8Array> {
  try {
    return openRegular(realpathSync(path), most, (descriptor, size) => readWhole(descriptor, size, most));
  } catch (problem) {
    return { ok: false, refusal: refusalOf(problem) };
  }
}

/** True for `*.yaml`, false for the path of one file. */
export const isGlob = (pattern: string): boolean => tinyglobby().isDynamicPattern(pattern);

/** The path in the tree of what a file of the tree names; undefined where that leads out of the tree. */
export function besides(path: string, named: string): string | undefined {
  if (named.startsWith("/") || named.includes("\\") || /^[a-z]:/i.test(named)) return undefined;
  const joined = posix.normalize(posix.join(posix.dirname(path), named));
  return joined === ".." || joined.startsWith("../") ? undefined : joined;
}

function withFile<T>(
  real: Opened<string>,
  most: number,
  use: (descriptor: number, size: number) => Opened<T>,
): Opened<T> {
  if (!real.ok) return real;
  try {
    return openRegular(real.value, most, use);
  } catch (problem) {
    return { ok: false, refusal: refusalOf(problem) };
  }
}

/** The path with links resolved, if that is inside the folder. A path that climbs is refused before anything is looked at. */
function realInside(folder: string, path: string): Opened<string> {
  if (besides("", path) === undefined || path.includes("\0")) return { ok: false, refusal: "outside" };
  try {
    const real = realpathSync(join(folder, normalize(path)));
    const within = relative(folder, real);
    const out = within === ".." || within.startsWith(`..${sep}`);
    return out ? { ok: false, refusal: "outside" } : { ok: true, value: real };
  } catch (problem) {
    return { ok: false, refusal: refusalOf(problem) };
  }
}

function sizeOf(real: Opened<string>): Opened<number> {
  if (!real.ok) return real;
  const stats = lstatSync(real.value);
  return stats.isFile() ? { ok: true, value: stats.size } : { ok: false, refusal: "irregular" };
}

/** Looks before it opens (a device may act on being opened) and again at what it opened (the name may have moved). */
function openRegular<T>(
  real: string,
  most: number,
  use: (descriptor: number, size: number) => Opened<T>,
): Opened<T> {
  if (!lstatSync(real).isFile()) return { ok: false, refusal: "irregular" };
  const descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { ok: false, refusal: "irregular" };
    if (stats.size > most) return { ok: false, refusal: "too large" };
    return use(descriptor, stats.size);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads to the end, and notices a file that grew past the limit while it was read. */
function readWhole(descriptor: number, size: number, most: number): Opened<Uint8Array> {
  let bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (read === 0) return { ok: true, value: bytes.subarray(0, length) };
    length += read;
    if (length > most) return { ok: false, refusal: "too large" };
    if (length === bytes.length) {
      const larger = new Uint8Array(bytes.length * 2);
      larger.set(bytes);
      bytes = larger;
    }
  }
}

function pieces(descriptor: number, most: number, take: (piece: Uint8Array) => void): Opened<number> {
  const buffer = new Uint8Array(PIECE);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, 0, PIECE, null);
    if (read === 0) return { ok: true, value: length };
    length += read;
    if (length > most) return { ok: false, refusal: "too large" };
    take(buffer.subarray(0, read));
  }
}

function refusalOf(problem: unknown): Refusal {
  const code = problem instanceof Error && "code" in problem ? problem.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  if (code === "ELOOP") return "outside";
  return "unreadable";
}
