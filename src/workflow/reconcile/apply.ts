// Runs an apply or a destroy: locks the state, plans, gets approval, applies. Prints nothing and knows no exit code.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { error, Failure, hasErrors } from "../../core/diagnostic.ts";
import type { ApplyOrigin } from "../../core/past-run.ts";
import { changesAnything } from "../../planner/model/change.ts";
import { type ApplyEvent, type ApplyOutcome, isBlocked, type Plan } from "../../planner/model/plan.ts";
import type { Lease } from "../../state/model/store.ts";
import { type PlanOptions, planSession, type Session } from "../session/session.ts";
import { ephemeralState } from "../session/state-warnings.ts";
import { plannedEntries } from "../target/record-entries.ts";
import { executePlan, withLock } from "./apply-plan.ts";

/** Shows an apply, and decides for the user. Its methods are called in this order, under the lock. */
export interface ApplyObserver {
  /** `notes`: what was found about the run before the plan. */
  planned(plan: Plan, notes: readonly Diagnostic[]): Promise<void>;
  approve(plan: Plan): Promise<boolean>;
  changed(event: ApplyEvent): void;
  applied(plan: Plan, outcome: ApplyOutcome, notes: readonly Diagnostic[]): Promise<void>;
}

export interface ApplyRequest {
  readonly plan: PlanOptions;
  readonly lockTimeout: number | undefined;
  readonly signal: AbortSignal;
  /** The commit and the CI run, for the history of the state. */
  readonly origin: (plan: Plan) => Promise<Pick<ApplyOrigin, "commit" | "run_url">>;
}

export type ApplyResult =
  | { readonly status: "refused" | "declined"; readonly plan: Plan }
  | { readonly status: "applied"; readonly plan: Plan; readonly outcome: ApplyOutcome };

/** Throws Failure with what ended the run before its plan, and with APPLY_INTERRUPTED. */
export function runApply(
  session: Session,
  request: ApplyRequest,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  return withLock(session, request.lockTimeout, request.signal, (lease) =>
    planAndApply(session, lease, request, observer),
  );
}

async function planAndApply(
  session: Session,
  lease: Lease,
  { plan: options, signal, origin }: ApplyRequest,
  observer: ApplyObserver,
): Promise<ApplyResult> {
  const destroys = options.destroy === true;
  const { context, settings, spec, warnings } = session;
  const doubts = destroys ? [] : ephemeralState(context, session.options, settings.place, lease.state());
  const { plan, live, recovered, learnt, diagnostics } = await planSession(session, lease.state(), {
    ...options,
    writes: true,
    checksRules: true,
  });
  assertNotInterrupted(signal);
  const found = [...lease.diagnostics, ...diagnostics, ...doubts];
  if (hasErrors(found)) throw new Failure(...found);
  context.observer.found(found);
  const notes = [...warnings, ...found];
  await observer.planned(plan, notes);
  if (isBlocked(plan)) return { status: "refused", plan };
  if (changesAnything(plan) && !(await observer.approve(plan))) {
    assertNotInterrupted(signal);
    return { status: "declined", plan };
  }
  const outcome = await executePlan(session, {
    lease,
    plan,
    live,
    resources: destroys ? new Map() : spec.resources,
    entries: [...plannedEntries(recovered.entries, plan), ...learnt],
    signal,
    origin: { command: destroys ? "destroy" : "apply", ...(await origin(plan)) },
    changed: (event) => observer.changed(event),
  });
  await observer.applied(plan, outcome, notes);
  return { status: "applied", plan, outcome };
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
export function assertNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new Failure(
      error("APPLY_INTERRUPTED", "stopped before the first change", { hint: "run the command again" }),
    );
}
