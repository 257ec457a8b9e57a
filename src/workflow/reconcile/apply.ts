// The way of apply and destroy: lock, look, show, ask, carry out, tell.

import { EXIT, exitOfOutcome, exitOfPlan } from "../../cli/command/exit-codes.ts";
import { tell } from "../../cli/output/diagnostics.ts";
import { applyEnding } from "../../cli/output/failure-documents.ts";
import { showOutcome } from "../../cli/output/outcome.ts";
import { type OutcomeReports, showPlan, showRefusal } from "../../cli/output/plan.ts";
import { confirmed } from "../../cli/output/prompt.ts";
import { error, Failure, hasErrors } from "../../core/diagnostic.ts";
import { changesAnything } from "../../report/plan/summary.ts";
import type { Lease } from "../../state/model/store.ts";
import { lookAround, type Run, type RunOptions, type Wish, withRun } from "../session/session.ts";
import { ephemeralState } from "../session/state-warnings.ts";
import { approval, carryOut, withLock } from "./apply-plan.ts";
import { placesIn } from "./located.ts";

export type MakingOptions = RunOptions & {
  readonly autoApprove: boolean;
  readonly noInput: boolean;
  readonly lockTimeout: number | undefined;
};

export interface Making {
  readonly wish: Wish;
  readonly question: string;
}

export function makeSo(reports: OutcomeReports, options: MakingOptions, making: Making): Promise<number> {
  const { context } = reports;
  const secrets = making.wish.destroy === true ? "skip" : "resolve";
  return context.signals.during((signal) =>
    withRun(context, options, { makesKey: true, secrets, signal }, (run) =>
      withLock(run, options.lockTimeout, signal, (lease) =>
        planAndApply(reports, run, lease, options, making, signal),
      ),
    ),
  );
}

async function planAndApply(
  reports: OutcomeReports,
  run: Run,
  lease: Lease,
  options: MakingOptions,
  making: Making,
  signal: AbortSignal,
): Promise<number> {
  const { context } = run;
  const doubts =
    making.wish.destroy === true ? [] : ephemeralState(context, options, run.settings.place, lease.state());
  const looked = await lookAround(run, lease.state(), { ...making.wish, writes: true });
  assertGoingOn(signal);
  const found = [...lease.diagnostics, ...looked.diagnostics, ...doubts];
  if (hasErrors(found)) throw new Failure(...found);
  tell(context, found);
  const notes = [...run.warnings, ...found];
  await reports.events(notes);
  const entries = [...looked.recovered.entries, ...looked.learnt];
  const refused = exitOfPlan(looked.plan);
  const shown = { plan: looked.plan, places: placesIn(run.spec.resources), notes };
  if (refused === EXIT.ok) {
    await showPlan(reports, shown, showsPlan);
    await reports.events(looked.plan.diagnostics);
  } else await showRefusal(reports, shown);
  if (refused !== EXIT.ok) {
    context.stderr.write("Nothing was changed.\n");
    return refused;
  }
  if (
    changesAnything(looked.plan) &&
    !(await confirmed(context, approval(context, options), making.question, signal))
  ) {
    assertGoingOn(signal);
    const declined = error("CLI_CONFIRMATION", "the plan was not approved, so nothing was changed");
    await reports.end(applyEnding, [declined], { stdout: true });
    context.stderr.write("Nothing was changed.\n");
    return EXIT.error;
  }
  const { plan, live } = looked;
  const resources = making.wish.destroy === true ? new Map() : run.spec.resources;
  const outcome = await carryOut(run, {
    lease,
    plan,
    live,
    resources,
    entries,
    reports,
    signal,
    command: making.wish.destroy === true ? "destroy" : "apply",
  });
  const all = [...notes, ...plan.diagnostics];
  const tellsText = changesAnything(plan);
  await showOutcome(reports, outcome, plan, [], (one) => showsPlan(one) && (one !== "text" || tellsText));
  await showOutcome(reports, outcome, plan, all, (one) => !showsPlan(one));
  return exitOfOutcome(outcome);
}

/** Whether a report of an apply begins with the plan; the others tell only what was done. */
function showsPlan(format: string): boolean {
  return format === "text" || format === "markdown";
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
export function assertGoingOn(signal: AbortSignal): void {
  if (signal.aborted)
    throw new Failure(
      error("APPLY_INTERRUPTED", "stopped before anything was changed", { hint: "run the command again" }),
    );
}
