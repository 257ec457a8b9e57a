// Checks a spec, and plans it on request, after each change of its files. Writes no state.

import { resolve } from "node:path";
import { fromEnv } from "../../config/environment.ts";
import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { specFile } from "../invocation/target.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import { placesIn } from "../plan/located.ts";
import { PLAIN_REVIEW, planForReview, type ReviewOptions } from "../plan/plan-review.ts";
import { checkSpec } from "../session/read-spec.ts";
import { type SessionOptions, withSession } from "../session/session.ts";
import { PathWatcher, WatchedPaths } from "./path-watcher.ts";

export interface RoundOptions extends SessionOptions, Pick<ReviewOptions, "adopt" | "allowDuplicates"> {
  readonly only: readonly string[];
  readonly untrusted: boolean;
  readonly maxReads: number | undefined;
  readonly validateOnly: boolean;
}

export interface CheckRound {
  readonly diagnostics: readonly Diagnostic[];
  readonly resources?: number;
  readonly plan?: Plan;
  readonly places?: ReturnType<typeof placesIn>;
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
      for (const { path, patterns } of namedPaths(context, options)) paths.add(path, patterns);
      const onPathRead = (path: string, patterns?: readonly string[]): void => paths.add(path, patterns);
      const result = await Promise.race([checkedRound(context, { ...options, seen: onPathRead }), aborted]);
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
function namedPaths(
  context: WorkflowContext,
  options: RoundOptions,
): readonly { readonly path: string; readonly patterns?: readonly string[] }[] {
  const set = fromEnv(context, "WORKSPACE_RULES");
  const folders = [...(options.rules ?? []), ...(set === undefined ? [] : [set])];
  return [
    { path: specFile(context, options) },
    ...options.varFile.map((path) => ({ path: resolve(context.cwd, path) })),
    ...folders.map((path) => ({ path: resolve(context.cwd, path), patterns: ["**/*.{yaml,yml}"] })),
  ];
}

/** Throws what is not a Failure. */
async function checkedRound(context: WorkflowContext, options: RoundOptions): Promise<CheckRound> {
  const noted: Diagnostic[] = [];
  const quiet: WorkflowContext = {
    ...context,
    observer: {
      found: (diagnostics) => void noted.push(...diagnostics),
      retrying: (event) => context.observer.retrying(event),
      waitingForLock: (wait) => context.observer.waitingForLock(wait),
      begin: () => Promise.resolve(QUIET),
    },
  };
  try {
    return options.validateOnly ? await validated(quiet, options) : await planned(quiet, options, noted);
  } catch (problem) {
    if (problem instanceof Failure) return { diagnostics: [...noted, ...problem.diagnostics] };
    throw problem;
  }
}

const QUIET = { read: () => undefined, apply: () => undefined, stop: () => Promise.resolve() };

async function validated(context: WorkflowContext, options: RoundOptions): Promise<CheckRound> {
  const { spec, diagnostics } = await checkSpec(context, options, undefined, options.untrusted);
  return { diagnostics, resources: spec?.resources.size };
}

async function planned(
  context: WorkflowContext,
  options: RoundOptions,
  noted: readonly Diagnostic[],
): Promise<CheckRound> {
  const { untrusted } = options;
  const opening = {
    makesKey: false,
    secrets: untrusted ? "skip" : "optional",
    untrusted,
  } as const;
  const review: ReviewOptions = { ...options, ...PLAIN_REVIEW };
  return withSession(context, options, opening, async (session) => {
    const { plan, diagnostics } = await planForReview(session, review);
    return {
      diagnostics: [...noted, ...diagnostics],
      resources: session.spec.resources.size,
      plan,
      places: placesIn(session.spec.resources),
    };
  });
}
