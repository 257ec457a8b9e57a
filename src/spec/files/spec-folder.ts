// Reads only the spec's folder: regular files of limited size, never through a link that points outside, and the files that match a pattern.

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, normalize, posix, relative, resolve, sep } from "node:path";
import type * as Tinyglobby from "tinyglobby";
import type { Code } from "../../core/codes.ts";
import { errorCode } from "../../core/diagnostic.ts";
import { isOutOfFiles } from "../../core/request-failure.ts";
import { grouped } from "../../core/sentences.ts";

/**
 * Why a file cannot be read. `outside`: the path leads out of the folder tree. `private`: it is git's, or the state's. `hidden`: a
 * part of it starts with a dot, and only what all see may be read.
 */
const REFUSALS = {
  missing: { code: "SPEC_NOT_FOUND", words: "does not exist" },
  outside: { code: "SPEC_OUTSIDE", words: "is outside the spec's folder" },
  loop: { code: "SPEC_NOT_FOUND", words: "cannot be read, because symbolic links form a loop" },
  private: {
    code: "SPEC_PRIVATE",
    words: "belongs to git, .workspace, or the state, which a spec cannot read",
  },
  irregular: { code: "SPEC_NOT_FOUND", words: "is not a regular file" },
  "too large": { code: "SPEC_TOO_LARGE", words: "is too large" },
  unreadable: { code: "SPEC_NOT_FOUND", words: "cannot be read" },
  "no folder": { code: "SPEC_NOT_FOUND", words: "is not a folder" },
  hidden: { code: "SPEC_OUTSIDE", words: "is hidden, and an untrusted spec cannot use hidden files" },
} as const satisfies Record<string, { readonly code: Code; readonly words: string }>;

export type FileRefusal = keyof typeof REFUSALS;

export interface RefusedFile {
  readonly ok: false;
  readonly refusal: FileRefusal;
  /** Of what is too large. A file that grows while it is read has at least these. */
  readonly bytes?: { readonly size: number; readonly most: number };
}

export type OpenedFile<T> = { readonly ok: true; readonly value: T } | RefusedFile;

/** Describes why a file cannot be read, with the size if it is too large. */
export function refusedWords({ refusal, bytes }: RefusedFile): {
  readonly code: Code;
  readonly words: string;
} {
  const { code, words } = REFUSALS[refusal];
  if (bytes === undefined) return { code, words };
  return { code, words: `${words}: ${grouped(bytes.size)} bytes (limit: ${grouped(bytes.most)})` };
}

/** A folder and everything below it. Paths are relative to it, with `/` between their parts. */
export interface SpecFolder {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** The name under which diagnostics show a file of the tree. */
  shown(path: string): string;
  read(path: string, most: number): OpenedFile<Uint8Array>;
  /** Gives a file to `take` piece by piece, so that a large one is never held whole. Returns its size. */
  stream(path: string, most: number, take: (piece: Uint8Array) => void): OpenedFile<number>;
  /** Regular files that match, sorted. Links are not followed, hidden folders and node_modules not entered. */
  glob(patterns: readonly string[], folder: string, except?: readonly string[]): readonly string[];
  /** Matches that are not regular files: links, pipes, sockets. */
  irregular(patterns: readonly string[], folder: string, except?: readonly string[]): readonly string[];
  size(path: string): OpenedFile<number>;
  realPath(path: string): OpenedFile<string>;
  /** A folder of the tree: its path with links resolved. */
  folderAt(path: string): OpenedFile<string>;
}

/** Receives each absolute path that is looked for, also one where nothing exists; or a folder in which patterns are. */
export type PathObserver = (path: string, patterns?: readonly string[]) => void;

export interface SpecFolderOptions {
  /** Diagnostics show paths relative to this folder, or as in `file` for files outside. */
  readonly cwd?: string;
  /** The spec may be untrusted: apart from the main file, hidden files and folders are not read. */
  readonly untrusted?: boolean;
  /** Absolute paths of folders of states, which a spec cannot read. */
  readonly states?: readonly string[];
  readonly onPathRead?: PathObserver;
  /** Contents of files, by path in the folder, in place of those on the disk: edits that are checked before they are written. */
  readonly edited?: ReadonlyMap<string, Uint8Array>;
}

const PIECE = 1 << 20;

/** The tree that contains a file, with the file's path in it. */
export function openSpecFolder(
  file: string,
  { cwd, untrusted = false, states = [], onPathRead = () => undefined, edited }: SpecFolderOptions = {},
): { readonly tree: SpecFolder; readonly main: string } | undefined {
  const folderName = dirname(file);
  const near = cwd === undefined ? folderName : relative(cwd, resolve(folderName));
  const shownFolder = near === "" ? "." : near.startsWith("..") ? folderName : near;
  try {
    const folder = realpathSync(resolve(folderName));
    const main = basename(file);
    const onlyBeside = untrusted ? main : undefined;
    const isPrivate = privateFiles(states, folder);
    return { tree: treeAt(folder, shownFolder, { isPrivate, onPathRead, onlyBeside, edited }), main };
  } catch {
    return undefined;
  }
}

interface TreeOptions {
  readonly isPrivate: IsPrivate;
  readonly onPathRead: PathObserver;
  readonly edited: SpecFolderOptions["edited"];
  /** If set, hidden files and folders cannot be read, nor reached through a link; this file itself may be hidden. */
  readonly onlyBeside: string | undefined;
}

function treeAt(
  folder: string,
  text: string,
  { isPrivate, onPathRead, onlyBeside, edited }: TreeOptions,
): SpecFolder {
  const isHidden = (path: string): boolean =>
    onlyBeside !== undefined && path !== onlyBeside && /(^|[\\/])\.(?!\.?([\\/]|$))/.test(path);
  const permitted = (path: string): OpenedFile<string> => {
    // Check the name before the file so that the error does not reveal whether a hidden file exists.
    if (hasPrivateName(path)) return { ok: false, refusal: "private" };
    if (isHidden(path)) return { ok: false, refusal: "hidden" };
    if (pathBeside("", path) !== undefined) onPathRead(join(folder, path));
    const real = realInside(folder, path);
    if (real.ok && isPrivate(real.value)) return { ok: false, refusal: "private" };
    return real.ok && isHidden(relative(folder, real.value)) ? { ok: false, refusal: "hidden" } : real;
  };
  const editOf = (path: string, most = Infinity): OpenedFile<Uint8Array> | undefined => {
    const bytes = edited?.get(posix.normalize(path));
    if (bytes === undefined) return undefined;
    onPathRead(join(folder, path));
    return bytes.length > most ? tooLarge(bytes.length, most) : { ok: true, value: bytes };
  };
  const isInside = (path: string): boolean =>
    realInside(folder, relative(folder, path).split(sep).join("/")).ok;
  return {
    folder,
    shown: (path) => (text === "." ? path : join(text, path)),
    read: (path, most) =>
      editOf(path, most) ??
      withFile(permitted(path), most, (descriptor, size) => readWhole(descriptor, size, most)),
    stream: (path, most, take) => {
      const edit = editOf(path, most);
      if (edit === undefined)
        return withFile(permitted(path), most, (descriptor) => pieces(descriptor, most, take));
      if (!edit.ok) return edit;
      take(edit.value);
      return { ok: true, value: edit.value.length };
    },
    glob: (patterns, under, except = []) => {
      onPathRead(join(folder, under), patterns);
      return matching(folder, isInside, patterns, under, except);
    },
    irregular: (patterns, under, except = []) =>
      matching(folder, isInside, patterns, under, except, allEntries).filter(
        (path) => !lstatSync(join(folder, path)).isFile(),
      ),
    size: (path) => {
      const edit = editOf(path);
      if (edit?.ok === true) return { ok: true, value: edit.value.length };
      const real = permitted(path);
      if (!real.ok) return real;
      const stats = lstatSync(real.value);
      return stats.isFile() ? { ok: true, value: stats.size } : { ok: false, refusal: "irregular" };
    },
    realPath: (path) => {
      const real = permitted(path);
      return real.ok || editOf(path) === undefined ? real : { ok: true, value: join(folder, path) };
    },
    folderAt: (path) => {
      const real = permitted(path);
      return !real.ok || lstatSync(real.value).isDirectory() ? real : { ok: false, refusal: "no folder" };
    },
  };
}

/** A file that the command line names: anywhere, but regular and of bounded size. */
export function readNamedFile(path: string, most: number): OpenedFile<Uint8Array> {
  const real = withoutLinks(path);
  // The pipe of a shell's `<(command)` exists, although nothing has its real path.
  if (real.ok && statSync(path, { throwIfNoEntry: false })?.isFIFO() === true)
    return { ok: false, refusal: "irregular" };
  return withFile(real, most, (descriptor, size) => readWhole(descriptor, size, most));
}

const load = createRequire(import.meta.url);
/** Loaded on first use, because most specs have no pattern of files. */
const tinyglobby = (): typeof Tinyglobby => load("tinyglobby") as typeof Tinyglobby;

/** True for `*.yaml`, false for the path of one file. */
export const isGlob = (pattern: string): boolean => tinyglobby().isDynamicPattern(pattern);

/** The path in the tree of what a file of the tree names; undefined where that leads out of the tree. */
export function pathBeside(path: string, named: string): string | undefined {
  if (named.startsWith("/") || named.includes("\\") || /^[a-z]:/i.test(named)) return undefined;
  const joined = posix.normalize(posix.join(posix.dirname(path), named));
  return joined === ".." || joined.startsWith("../") ? undefined : joined;
}

function withFile<T>(
  real: OpenedFile<string>,
  most: number,
  use: (descriptor: number, size: number) => OpenedFile<T>,
): OpenedFile<T> {
  if (!real.ok) return real;
  try {
    return openRegular(real.value, most, use);
  } catch (problem) {
    return { ok: false, refusal: refusalOf(problem) };
  }
}

/** Resolves links; returns the path if it is inside the folder. Rejects `..` before any file access. */
function realInside(folder: string, path: string): OpenedFile<string> {
  if (pathBeside("", path) === undefined || path.includes("\0")) return { ok: false, refusal: "outside" };
  const real = withoutLinks(join(folder, normalize(path)));
  if (!real.ok) return real;
  const within = relative(folder, real.value);
  return within === ".." || within.startsWith(`..${sep}`) ? { ok: false, refusal: "outside" } : real;
}

function withoutLinks(path: string): OpenedFile<string> {
  try {
    return { ok: true, value: realpathSync(path) };
  } catch (problem) {
    return { ok: false, refusal: refusalOf(problem) };
  }
}

/** Looks before it opens (a device may act on being opened) and again at what it opened (the name may have moved). */
function openRegular<T>(
  real: string,
  most: number,
  use: (descriptor: number, size: number) => OpenedFile<T>,
): OpenedFile<T> {
  if (!lstatSync(real).isFile()) return { ok: false, refusal: "irregular" };
  const descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { ok: false, refusal: "irregular" };
    if (stats.size > most) return tooLarge(stats.size, most);
    return use(descriptor, stats.size);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads to the end, and notices a file that grew past the limit while it was read. */
function readWhole(descriptor: number, size: number, most: number): OpenedFile<Uint8Array> {
  let bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (read === 0) return { ok: true, value: bytes.subarray(0, length) };
    length += read;
    if (length > most) return tooLarge(length, most);
    if (length === bytes.length) {
      const larger = new Uint8Array(bytes.length * 2);
      larger.set(bytes);
      bytes = larger;
    }
  }
}

function pieces(descriptor: number, most: number, take: (piece: Uint8Array) => void): OpenedFile<number> {
  const buffer = new Uint8Array(PIECE);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, 0, PIECE, null);
    if (read === 0) return { ok: true, value: length };
    length += read;
    if (length > most) return tooLarge(length, most);
    take(buffer.subarray(0, read));
  }
}

function tooLarge(size: number, most: number): RefusedFile {
  return { ok: false, refusal: "too large", bytes: { size, most } };
}

function refusalOf(problem: unknown): FileRefusal {
  const code = errorCode(problem);
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  if (code === "ELOOP") return "loop";
  if (isOutOfFiles(problem)) throw problem;
  return "unreadable";
}

/** Whether an absolute path, with links resolved, leads to such a file. */
type IsPrivate = (path: string) => boolean;

const NAMES = new Set([".git", ".workspace"]);
/** The short names that Windows gives to them. */
const SHORT = /^(?:git|worksp)~\d+$/;

/** The files of a state: only these are private if other files are in its folder. */
const STATE_FILES = /^(?:state(?:\.\d+)?\.json|journal\.jsonl|key|lock\.\d+)(?:\.|$)/i;

export const isStateFile = (name: string): boolean => STATE_FILES.test(name);

/** `states`: folders of states. One that does not exist yet has nothing to read. */
function privateFiles(states: readonly string[], tree: string): IsPrivate {
  const folders = states.flatMap((state) => idOf(state) ?? []);
  const around = folders.filter((id) => isInside(tree, id));
  const apart = folders.filter((id) => !around.includes(id));
  const isInStatesByFolder = new Map<string, boolean>();
  const isInStates = (folder: string): boolean => {
    const before = isInStatesByFolder.get(folder);
    if (before !== undefined) return before;
    const isWithin = apart.some((id) => isInside(folder, id));
    isInStatesByFolder.set(folder, isWithin);
    return isWithin;
  };
  return (path) =>
    hasPrivateName(path) ||
    (apart.length > 0 && (isInStates(dirname(path)) || apart.includes(idOf(path) ?? ""))) ||
    (isStateFile(basename(path)) && around.includes(idOf(dirname(path)) ?? ""));
}

/** Whether a segment of a path, as written, names such a folder. */
function hasPrivateName(path: string): boolean {
  return path.split(/[\\/]/).some(isPrivateName);
}

/** Normalizes a name as the most permissive file system does. */
function isPrivateName(segment: string): boolean {
  const name = segment
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return NAMES.has(name) || SHORT.test(name);
}

/** The same for every path that leads to one folder. */
function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(realpathSync(path), { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function isInside(folder: string, id: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (idOf(at) === id) return true;
    if (dirname(at) === at) return false;
  }
}

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
function insideOnly(isInside: IsInside, list: ListFolder): Tinyglobby.FileSystemAdapter {
  let mayStart: boolean | undefined;
  const readdir: ListFolder = (path) => {
    mayStart ??= isInside(path);
    return mayStart ? list(path) : [];
  };
  return { readdirSync: readdir } as unknown as Tinyglobby.FileSystemAdapter;
}

/** Counts everything but folders as a file, so that links and pipes match as well. */
export const allEntries: ListFolder = (path) =>
  entries(path).map((entry) =>
    Object.assign(entry, { isFile: () => !entry.isDirectory(), isSymbolicLink: () => false }),
  );
