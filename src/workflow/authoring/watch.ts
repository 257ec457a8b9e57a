// Checks a spec, and plans it on request, after each change of its files. Writes no state. A change is what differs from what was read; an event
// of the file system only says when to compare. A change during a round starts another one.

import { realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";
import picomatch from "picomatch";
import { fileFailure, fileStatsOf } from "../../config/files.ts";
import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { matching } from "../../spec/files/spec-folder.ts";
import {
  type Invocation,
  type InvocationOptions,
  resolveInvocation,
  SILENT_OBSERVER,
  type WorkflowContext,
} from "../invocation/invocation.ts";
import { type ReviewOptions, reviewWorkspace } from "../plan/plan-review.ts";
import type { PlanPlaces } from "../plan/spec-places.ts";
import { checkSpec } from "../session/read-spec.ts";
import { withSession } from "../session/session.ts";

interface RoundOptions extends InvocationOptions, ReviewOptions {
  readonly validateOnly: boolean;
}

export interface CheckRound {
  readonly diagnostics: readonly Diagnostic[];
  readonly resources?: number;
  readonly plan?: Plan;
  readonly places?: PlanPlaces;
}

/** Calls `round` with each result, and with the files that changed before it, until `signal` is aborted. */
export async function checkOnChange(
  context: WorkflowContext,
  options: RoundOptions,
  signal: AbortSignal,
  round: (result: CheckRound, changed: readonly string[]) => Promise<void>,
): Promise<void> {
  const watcher = new PathWatcher();
  const aborted = new Promise<undefined>((stop) => signal.addEventListener("abort", () => stop(undefined)));
  try {
    for (let changed: readonly string[] = []; !signal.aborted; ) {
      const paths = new WatchedPaths();
      const onPathRead = (path: string, patterns?: readonly string[]): void => paths.add(path, patterns);
      // Resolved again: the spec may have other targets than before.
      const invocation = resolveInvocation(context, { ...options, onPathRead });
      for (const { path, patterns } of namedPaths(invocation)) paths.add(path, patterns);
      const result = await Promise.race([checkedRound(invocation, options), aborted]);
      if (result === undefined) return;
      await round(result, changed);
      await watcher.cover(paths);
      changed = await watcher.next(signal);
    }
  } finally {
    await watcher.close();
  }
}

/** What the command line and the environment name. */
function namedPaths({
  file,
  varFiles,
  ruleFolders = [],
}: Invocation): readonly { readonly path: string; readonly patterns?: readonly string[] }[] {
  return [
    ...[file, ...varFiles].map((path) => ({ path })),
    ...ruleFolders.map((path) => ({ path, patterns: ["**/*.{yaml,yml}"] })),
  ];
}

/** Throws what is not a Failure. */
async function checkedRound(invocation: Invocation, options: RoundOptions): Promise<CheckRound> {
  const collected: Diagnostic[] = [];
  const quiet: Invocation = {
    ...invocation,
    observer: {
      ...invocation.observer,
      report: (diagnostics) => void collected.push(...diagnostics),
      begin: SILENT_OBSERVER.begin,
    },
  };
  try {
    if (!options.validateOnly) return await planned(quiet, options, collected);
    const { spec, diagnostics } = await checkSpec(quiet);
    return { diagnostics, resources: spec?.resources.size };
  } catch (problem) {
    if (problem instanceof Failure) return { diagnostics: [...collected, ...problem.diagnostics] };
    throw problem;
  }
}

async function planned(
  invocation: Invocation,
  options: RoundOptions,
  collected: readonly Diagnostic[],
): Promise<CheckRound> {
  const secrets = invocation.untrusted ? "skip" : "optional";
  return withSession(invocation, { makesKey: false, writesNoDigests: true, secrets }, async (session) => {
    const { plan, places } = await reviewWorkspace(session, options);
    return { diagnostics: collected, resources: session.spec.resources.size, plan, places };
  });
}

/** Quiet time after a change, since editors and version control write in several steps; and the longest wait for it. */
const QUIET_MS = 100;
const LONGEST_MS = 2_000;

interface WatchedPattern {
  readonly folder: string;
  readonly pattern: string;
  /** The folder before the first wildcard. It can be a link, so both it and the folder that it leads to are watched. */
  readonly bases: readonly string[];
  /** How many folders below the base can contain a match. */
  readonly depth: number;
}

/** A signature of each file when it was first named, and the files that matched patterns then. Paths are absolute. */
export class WatchedPaths {
  readonly #files = new Map<string, string>();
  readonly #patterns = new Map<string, WatchedPattern>();
  readonly #matched = new Set<string>();

  add(path: string, patterns?: readonly string[]): void {
    if (patterns === undefined) this.#addFile(path);
    else for (const pattern of patterns) this.#addPattern(path, pattern);
  }

  #addFile(path: string): void {
    if (this.#files.has(path)) return;
    for (const name of withRealPath(path)) this.#files.set(name, signatureOf(name));
  }

  #addPattern(folder: string, pattern: string): void {
    if (this.#patterns.has(join(folder, pattern))) return;
    const { base, glob } = picomatch.scan(pattern);
    const bases = withRealPath(join(folder, base));
    if (bases.length > 1) this.#addFile(join(folder, base));
    const depth = glob.includes("**") ? Number.POSITIVE_INFINITY : glob.split("/").length;
    const watched = { folder, pattern, bases, depth };
    this.#patterns.set(join(folder, pattern), watched);
    for (const path of matchesOf(watched)) this.#matched.add(path);
  }

  /** The files that differ from what they were, and the new matches. */
  changed(): readonly string[] {
    const files = [...this.#files].filter(([path, before]) => signatureOf(path) !== before);
    const matches = [...this.#patterns.values()].flatMap(matchesOf);
    const added = matches.filter((path) => !this.#matched.has(path) && !this.#files.has(path));
    return [...new Set([...files.map(([path]) => path), ...added])].sort();
  }

  /** The existing folders to watch. */
  get roots(): ReadonlySet<string> {
    const bases = [...this.#patterns.values()].flatMap((watched) => watched.bases);
    return new Set([...[...this.#files.keys()].map((path) => dirname(path)), ...bases].map(existingFolder));
  }

  /** Whether this file, or something below this folder, can be such a file. */
  concern(path: string): boolean {
    return (
      this.#files.has(path) ||
      [...this.#patterns.values()].some(({ bases, depth }) =>
        bases.some((base) => isOnTheWay(base, depth, path)),
      )
    );
  }
}

/** The path, and the one that it leads to if that is another one. */
function withRealPath(path: string): readonly string[] {
  try {
    return [...new Set([path, realpathSync(path)])];
  } catch {
    return [path];
  }
}

/** By the path that the watcher reports: behind a link, the real one. */
function matchesOf({ folder, pattern, bases }: WatchedPattern): readonly string[] {
  const paths = matching(folder, () => true, [pattern], ".", []).map((path) => join(folder, path));
  return bases.length === 1 ? paths : paths.map((path) => withRealPath(path).at(-1) ?? path);
}

/** A pattern matches no hidden files and no packages. */
const SKIPPED = /(^|[\\/])(\.|node_modules([\\/]|$))/;

function isOnTheWay(base: string, depth: number, path: string): boolean {
  if (base === path || base.startsWith(`${path}${sep}`)) return true;
  if (!path.startsWith(`${base}${sep}`)) return false;
  const below = relative(base, path);
  return !SKIPPED.test(below) && below.split(sep).length <= depth;
}

export class PathWatcher {
  #watcher: FSWatcher | undefined;
  #paths = new WatchedPaths();
  #wake: () => void = () => undefined;
  #problem: unknown;

  /** Watches these paths instead of the previous ones. */
  async cover(paths: WatchedPaths): Promise<void> {
    const before = this.#watcher;
    this.#paths = paths;
    const { roots } = paths;
    const watcher = watch([...roots], {
      // A link could lead to the whole disk. The files that links lead to are watched by their own paths.
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (path) => !roots.has(path) && !paths.concern(path),
    });
    this.#watcher = watcher;
    watcher.on("all", () => this.#wake());
    await new Promise<void>((resolve) => {
      watcher.once("ready", () => resolve());
      watcher.on("error", (problem) => {
        this.#problem = problem;
        resolve();
        this.#wake();
      });
    });
    await before?.close();
  }

  /** The paths that changed, once they stay unchanged for a moment. Empty if `signal` was aborted. */
  async next(signal: AbortSignal): Promise<readonly string[]> {
    let changed = this.#paths.changed();
    // A comparison without an event finds files that appeared after the watcher listed a folder and before it watched it.
    for (let isFirst = true; changed.length === 0; isFirst = false) {
      if (!isFirst) await this.#event(signal);
      if (signal.aborted) return [];
      await setTimeout(QUIET_MS);
      this.#assertWatching();
      changed = this.#paths.changed();
    }
    const begun = performance.now();
    for (let size = 0; size !== changed.length && performance.now() - begun < LONGEST_MS; ) {
      size = changed.length;
      await setTimeout(QUIET_MS);
      changed = this.#paths.changed();
    }
    return signal.aborted ? [] : changed;
  }

  async #event(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#problem !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #assertWatching(): void {
    if (this.#problem === undefined) return;
    const hint = "to check them by polling, set CHOKIDAR_USEPOLLING=1";
    throw fileFailure("the files of the spec cannot be watched", this.#problem, hint);
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
  }
}

function existingFolder(path: string): string {
  const above = dirname(path);
  return above === path || fileStatsOf(path)?.isDirectory() === true ? path : existingFolder(above);
}

function signatureOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true });
    // The time of a folder changes with each file in it.
    return stats.isDirectory() ? `${stats.ino}` : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
  } catch {
    return "";
  }
}
