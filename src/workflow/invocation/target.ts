// The target of a run, the settings that it may choose (a profile and a state, never the receiver of a token), and the folders of its spec.

import { existsSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { fromEnv, type ProcessContext } from "../../config/environment.ts";
import { DEFAULT_FILE, fileStatsOf, isInFolder, resolvedPath } from "../../config/files.ts";
import { EMBEDDED, type HostOptions, identityOf, type Settings, settingsOf } from "../../config/settings.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import type { TargetSettings } from "../../spec/model/spec.ts";
import { readTargets, type SelectedTarget, type TargetSelection } from "../../spec/read-target.ts";

/** `untrusted`: the spec chooses neither a profile nor a state. */
export interface TargetOptions {
  readonly file?: string | undefined;
  readonly target?: string | undefined;
  readonly untrusted?: boolean;
  readonly seen?: PathObserver | undefined;
}

export function specFile(context: ProcessContext, { file }: Pick<TargetOptions, "file">): string {
  return resolve(context.cwd, file ?? fromEnv(context, "WORKSPACE_FILE") ?? DEFAULT_FILE);
}

export const IN_WORKSPACE = "workspace:";

export function namedTarget(
  context: ProcessContext,
  { target }: Pick<TargetOptions, "target">,
): string | undefined {
  return target ?? fromEnv(context, "WORKSPACE_TARGET");
}

/** A run needs its target several times, or all targets, and reading a spec of 23,000 lines takes about 0.1 s. */
const read = new WeakMap<ProcessContext, Map<string, TargetSelection>>();

/** The target of the spec, or the reason why none can be selected. */
export function selectedTarget(context: ProcessContext, options: TargetOptions): SelectedTarget {
  const known = read.get(context) ?? new Map<string, TargetSelection>();
  read.set(context, known);
  const file = specFile(context, { file: options.file });
  const untrusted = options.untrusted === true;
  const stats = fileStatsOf(file);
  const key = JSON.stringify([file, stats?.mtimeMs, stats?.size, untrusted]);
  const { seen } = options;
  const place = { file, cwd: context.cwd, untrusted, seen };
  const select = known.get(key) ?? readTargets(place);
  known.set(key, select);
  return select(namedTarget(context, options));
}

/** The name of the target, which may be the default of the spec. Throws SPEC_TARGET if one has to be named. */
export function targetOf(context: ProcessContext, options: TargetOptions): string | undefined {
  const named = namedTarget(context, options);
  if (named !== undefined) return named;
  const { settings, problem } = selectedTarget(context, options);
  if (problem !== undefined && settings === undefined) throw new Failure(problem);
  return settings?.name;
}

/** The place of the state that the target names; a folder is absolute. */
export function stateOfTarget(context: ProcessContext, options: TargetOptions): string | undefined {
  const { settings } = selectedTarget(context, options);
  if (settings?.state === undefined) return undefined;
  if (options.untrusted === true)
    throw failureOf(
      "SPEC_TARGET",
      `the target ${settings.name} sets its state, which an untrusted spec cannot do`,
      { at: settings.at, hint: "pass --state, or set WORKSPACE_STATE" },
    );
  if (settings.state.startsWith(IN_WORKSPACE)) return settings.state;
  const folder = dirname(specFile(context, { file: options.file }));
  const state = resolve(folder, settings.state);
  if (pointsOutside(folder, state))
    throw failureOf(
      "SPEC_TARGET",
      `the state of the target ${settings.name} is outside the spec's folder, because of a link`,
      { at: settings.at, hint: "replace the link with a folder, or pass --state" },
    );
  return state;
}

/** The settings of a run, with the profile of its target. Throws SPEC_TARGET if the target is for another host. */
export function settingsForTarget(context: ProcessContext, options: HostOptions & TargetOptions): Settings {
  const { settings: target } = selectedTarget(context, options);
  const profile = options.untrusted === true ? undefined : target?.profile;
  const settings = settingsOf(
    context,
    profile === undefined ? options : { ...options, specProfile: profile },
  );
  assertExpectedHost(target, settings.place.identity);
  return settings;
}

/** A host in the spec is only compared, so that a pull request cannot send a token elsewhere. */
export function assertExpectedHost(target: TargetSettings | undefined, identity: string): void {
  if (target?.host === undefined || expected(target, target.host) === identity) return;
  throw failureOf(
    "SPEC_TARGET",
    `the target ${target.name} requires the host ${target.host}, but this run uses ${identity}`,
    {
      at: target.at,
      hint: "select the host with --host, --profile, or WORKSPACE_HOST; a host in the spec is only compared",
    },
  );
}

/** The message does not repeat the host, because it may contain a password. */
function expected({ name, at }: TargetSettings, host: string): string {
  if (host === EMBEDDED) return host;
  try {
    return identityOf(host);
  } catch {
    throw failureOf("SPEC_TARGET", `the host of the target ${name} is not a valid URL`, {
      at,
      hint: "write it as https://NAME, without a user name, a query, or a fragment",
    });
  }
}

/** A protected target is changed by a saved plan only, and the command line has to name it. */
export function assertMayApply(
  context: ProcessContext,
  options: TargetOptions,
  {
    saved,
    named,
    destroy = false,
  }: { readonly saved: boolean; readonly named: boolean; readonly destroy?: boolean },
): void {
  const { settings } = selectedTarget(context, options);
  if (settings?.protected !== true) return;
  const { name } = settings;
  const plan = `workspace plan${destroy ? " --destroy" : ""} --target ${shellWord(name)} --out FILE`;
  if (!saved)
    throw failureOf("SPEC_TARGET", `the target ${name} is protected, so it is changed by a saved plan only`, {
      at: settings.at,
      hint: `run \`${plan}\`, then \`workspace apply FILE --target ${shellWord(name)}\``,
    });
  if (!named)
    throw failureOf("SPEC_TARGET", `the target ${name} is protected, so apply needs --target`, {
      at: settings.at,
      hint: `add --target ${name}`,
    });
}

/** Whether the author of a spec may have written a folder: it is in the checkout of the spec, or a link leads there. */
export function isInTreeOf(file: string, folder: string): boolean {
  const tree = treeOf(file);
  return lookedUpIn(folder).some((path) => isInFolder(tree, path));
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
  const led = [dirname(file), ...named].find((path) => isLedAway(context, path));
  if (led === undefined) return;
  const what = led === dirname(file) ? "folder of the spec" : "variable file";
  const shown = relative(context.cwd, led);
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

function pointsOutside(folder: string, path: string): boolean {
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
