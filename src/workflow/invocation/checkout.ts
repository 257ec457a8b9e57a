// The checkout around a spec: its author may have written what is in it, and the links of an untrusted one must not lead out of it.

import { existsSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import type { ProcessContext } from "../../config/environment.ts";
import { isInFolder, resolvedPath } from "../../config/files.ts";
import { checkoutsAround } from "../../config/programs.ts";
import type { Code } from "../../core/codes.ts";
import { failureOf } from "../../core/diagnostic.ts";

/** Whether the author of a spec may have written a folder: it is in the checkout of the spec, or a link leads there. */
export function isInTreeOf(file: string, folder: string): boolean {
  const tree = treeOf(file);
  return lookedUpIn(folder).some((path) => isInFolder(tree, path));
}

/** Throws Failure if the author of an untrusted spec may have written a file or folder that decides about it. */
export function assertNotInTree(
  { untrusted, file, cwd }: Untrusted,
  path: string,
  code: Code,
  what: string,
): void {
  if (untrusted && isInTreeOf(file, path))
    throw failureOf(code, `the ${what} ${shownPath(cwd, path)} is inside the untrusted checkout`, {
      hint: "use a copy outside the checkout, which a pull request cannot change",
    });
}

interface Untrusted {
  readonly untrusted: boolean;
  readonly file: string;
  readonly cwd: string;
}

/** A path for people: relative inside the current folder. */
export function shownPath(cwd: string, path: string): string {
  const fromCwd = relative(cwd, path);
  return fromCwd === "" || fromCwd.startsWith("..") ? path : fromCwd;
}

/**
 * Throws Failure with SPEC_OUTSIDE if a link in the checkout of an untrusted spec leads its folder, or a variable file,
 * out of the checkout or into a folder such as `.git`. The system would read what the run may read, and the plan show it.
 */
export function assertInCheckout(
  context: ProcessContext,
  file: string,
  varFiles: readonly string[] = [],
): void {
  const named = varFiles.filter((path) => isInTreeOf(file, path));
  const outside = [dirname(file), ...named].find((path) => isLedAway(context, path));
  if (outside === undefined) return;
  const what = outside === dirname(file) ? "folder of the spec" : "variable file";
  const shown = relative(context.cwd, outside);
  throw failureOf(
    "SPEC_OUTSIDE",
    `the ${what}, ${shown}, is outside the untrusted checkout, because of a link`,
    {
      hint: "replace the link with what it points to, or plan the spec in the checkout that contains it",
    },
  );
}

/** A link that is not part of a checkout, such as one of the system, belongs to the user. */
function isLedAway(context: ProcessContext, path: string): boolean {
  const cwd = writtenCwd(context);
  const home = resolvedPath(context.home);
  const written = isInFolder(context.cwd, path) ? resolve(cwd, relative(context.cwd, path)) : path;
  let tree: string | undefined;
  for (const at of foldersTo(written)) {
    const real = resolvedPath(at);
    if (tree !== undefined && (!isInFolder(tree, real) || isHiddenOnlyThere(tree, real, at))) return true;
    // The home folder may be a checkout of its owner. A submodule may have another author, so it is a separate tree.
    const isTop = existsSync(join(real, ".git")) && !isInFolder(real, home);
    if (isTop || (tree === undefined && at === cwd)) tree = real;
  }
  return false;
}

/** Whether links lead to a hidden file, although the path names none. */
function isHiddenOnlyThere(tree: string, real: string, written: string): boolean {
  const hidden = (path: string): readonly string[] => path.split(sep).filter((name) => name.startsWith("."));
  return hidden(relative(tree, real)).some((name) => !hidden(written).includes(name));
}

/** The current folder as the shell names it: a checkout may contain a link to it. */
function writtenCwd({ env, cwd }: ProcessContext): string {
  const { PWD = "" } = env;
  return isAbsolute(PWD) && resolvedPath(PWD) === resolvedPath(cwd) ? resolve(PWD) : cwd;
}

/** A path and the folders above it, the root first. */
function foldersTo(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [...foldersTo(above), path];
}

/** Whether a path leads out of a folder, because of a link. */
export function pointsOutside(folder: string, path: string): boolean {
  return !isInFolder(resolvedPath(folder), lookedUpIn(path).at(-1) ?? path);
}

/** The outermost checkout around the spec (an author may add submodules), or else its folder, links resolved. */
function treeOf(file: string): string {
  const folder = resolvedPath(dirname(file));
  return checkoutsAround(folder).at(-1) ?? folder;
}

/** The system gives up on longer chains of links, too. */
const MOST_LINKS = 40;

/** Every path that the system resolves. A link in the tree may point outside, and one outside into it. */
function lookedUpIn(path: string): readonly string[] {
  const paths: string[] = [];
  let { root: at } = parse(path);
  let names = partsOf(path);
  for (let links = 0; links <= MOST_LINKS; ) {
    const [name, ...rest] = names;
    if (name === undefined) break;
    names = rest;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    paths.push(next);
    const target = linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (isAbsolute(target)) at = parse(target).root;
    names = [...partsOf(target), ...rest];
  }
  return paths;
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== "" && name !== ".");
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
