// Checks a spec, and plans it on request, after each change of its files. Writes no state.

import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { type Invocation, type InvocationOptions, resolveInvocation } from "../invocation/invocation.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import type { placesIn } from "../plan/located.ts";
import { type ReviewOptions, reviewWorkspace } from "../plan/plan-review.ts";
import { checkSpec } from "../session/read-spec.ts";
import { withSession } from "../session/session.ts";
import { PathWatcher, WatchedPaths } from "./path-watcher.ts";

export interface RoundOptions extends InvocationOptions, ReviewOptions {
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
  const { observer } = invocation;
  const collected: Diagnostic[] = [];
  const quiet: Invocation = {
    ...invocation,
    observer: {
      report: (diagnostics) => void collected.push(...diagnostics),
      retrying: (event) => observer.retrying(event),
      waitingForLock: (wait) => observer.waitingForLock(wait),
      begin: () => Promise.resolve(QUIET),
    },
  };
  try {
    return options.validateOnly ? await validated(quiet) : await planned(quiet, options, collected);
  } catch (problem) {
    if (problem instanceof Failure) return { diagnostics: [...collected, ...problem.diagnostics] };
    throw problem;
  }
}

const QUIET = { read: () => undefined, apply: () => undefined, stop: () => Promise.resolve() };

async function validated(invocation: Invocation): Promise<CheckRound> {
  const { spec, diagnostics } = await checkSpec(invocation);
  return { diagnostics, resources: spec?.resources.size };
}

async function planned(
  invocation: Invocation,
  options: RoundOptions,
  collected: readonly Diagnostic[],
): Promise<CheckRound> {
  const secrets = invocation.untrusted ? "skip" : "optional";
  return withSession(invocation, { makesKey: false, secrets }, async (session) => {
    const { plan, places } = await reviewWorkspace(session, options);
    return { diagnostics: collected, resources: session.spec.resources.size, plan, places };
  });
}
