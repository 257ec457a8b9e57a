// Files that no spec can read: those of Git, those of `workspace`, and the state, wherever it is stored.

import { realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";

/** Whether an absolute path, with links resolved, leads to such a file. */
export type IsPrivate = (path: string) => boolean;

const NAMES = new Set([".git", ".workspace"]);
/** The short names that Windows gives to them. */
const SHORT = /^(?:git|worksp)~\d+$/;

/** The files of a state: only these are private if other files are in its folder. */
const STATE_FILES = /^(?:state(?:\.\d+)?\.json|journal\.jsonl|key|lock\.\d+)(?:\.|$)/i;

export const isStateFile = (name: string): boolean => STATE_FILES.test(name);

/** `states`: folders of states. One that does not exist yet has nothing to read. */
export function privateFiles(states: readonly string[], tree: string): IsPrivate {
  const folders = states.flatMap((state) => idOf(state) ?? []);
  const around = folders.filter((id) => isInside(tree, id));
  const apart = folders.filter((id) => !around.includes(id));
  const known = new Map<string, boolean>();
  const isInStates = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const found = apart.some((id) => isInside(folder, id));
    known.set(folder, found);
    return found;
  };
  return (path) =>
    hasPrivateName(path) ||
    (apart.length > 0 && (isInStates(dirname(path)) || apart.includes(idOf(path) ?? ""))) ||
    (isStateFile(basename(path)) && around.includes(idOf(dirname(path)) ?? ""));
}

/** Whether a segment of a path, as written, names such a folder. */
export function hasPrivateName(path: string): boolean {
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
