// The checkout of a spec: the files that the author of the spec may have written.

import { existsSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { isInFolder, resolvedPath } from "../../config/files.ts";

/** Whether the author of a spec may have written a folder: it is in the checkout of the spec, or a link leads there. */
export function isInTreeOf(file: string, folder: string): boolean {
  const tree = treeOf(file);
  return lookedUpIn(folder).some((path) => isInFolder(tree, path));
}

export function pointsOutside(folder: string, path: string): boolean {
  return !isInFolder(resolvedPath(folder), lookedUpIn(path).at(-1) ?? path);
}

/** The outermost checkout around the spec (an author may add submodules), or else its folder, links resolved. */
function treeOf(file: string): string {
  const folder = resolvedPath(dirname(file));
  return checkoutOf(folder) ?? folder;
}

function checkoutOf(folder: string): string | undefined {
  let found: string | undefined;
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) found = at;
    if (at === dirname(at)) return found;
  }
}

/** The system gives up on longer chains of links, too. */
const MOST_LINKS = 40;

/** Every path that the system resolves. A link in the tree may point outside, and one outside into it. */
function lookedUpIn(path: string): readonly string[] {
  const found: string[] = [];
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
    found.push(next);
    const target = linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (isAbsolute(target)) at = parse(target).root;
    names = [...partsOf(target), ...rest];
  }
  return found;
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
