// Whether the author of an untrusted spec may have written the state as well: then it could claim that every object is managed.

import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path";
import type { ProcessContext } from "../../config/environment.ts";
import { fromEnv } from "../../config/settings.ts";
import { type Diagnostic, error, Failure, warning } from "../../core/diagnostic.ts";
import { stateExists } from "../../planner/decide/state-exists.ts";
import type { State } from "../../state/model/record.ts";
import { specFile } from "../target/target.ts";
import { type StateOptions, stateFolderOf } from "./open-state.ts";

/**
 * Throws Failure with STATE_UNTRUSTED when a state in the spec's own tree is not signed, that is: not encrypted under the
 * key of WORKSPACE_STATE_KEY. With that key set, a store opens nothing else. Without a state a warning is enough.
 */
export function untrustedState(
  context: ProcessContext,
  options: StateOptions,
  state: State,
): readonly Diagnostic[] {
  const folder = stateFolderOf(context, options);
  if (folder === undefined || fromEnv(context, "WORKSPACE_STATE_KEY") !== undefined) return [];
  const tree = treeOf(specFile(context, options));
  if (!lookedUpIn(folder).some((path) => isWithin(tree, path))) return [];
  const hint =
    "pass --state with a location outside the checkout, or encrypt the state with WORKSPACE_STATE_KEY (`workspace state rekey`)";
  if (stateExists(state))
    throw new Failure(
      error(
        "STATE_UNTRUSTED",
        `the state at ${folder} is in the tree of the untrusted spec and is not encrypted`,
        {
          hint,
        },
      ),
    );
  return [
    warning("PLAN_MODE", "the state is stored next to the untrusted spec, so it is untrusted too", {
      hint,
    }),
  ];
}

/** The outermost checkout around the spec (an author may add submodules), or else its folder, links resolved. */
function treeOf(file: string): string {
  const folder = realOf(dirname(file));
  return checkoutOf(folder) ?? folder;
}

function checkoutOf(folder: string): string | undefined {
  let found: string | undefined;
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) found = at;
    if (at === dirname(at)) return found;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The system gives up on longer chains of links, too. */
const MOST_LINKS = 40;

/**
 * Every path that the system resolves for an absolute path. A link in the tree may point outside, and a link outside
 * may point into it: both are found, because no path here has a link above its last name.
 */
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

function isWithin(tree: string, path: string): boolean {
  const way = relative(tree, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
