// The way of apply and destroy: lock, look, show, ask, carry out, tell.

import { EXIT, exitOfOutcome, exitOfPlan } from "../../cli/command/exit-codes.ts";
import { printDiagnostics } from "../../cli/output/diagnostics.ts";
import { applyEnding } from "../../cli/output/failure-documents.ts";
import { showOutcomeAfterPlan } from "../../cli/output/outcome.ts";
import { logPlan, type OutcomeReports, showPlan, showRefusal } from "../../cli/output/plan.ts";
import { askApproval } from "../../cli/output/prompt.ts";
import { error, Failure, hasErrors } from "../../core/diagnostic.ts";
import { changesAnything } from "../../report/plan/summary.ts";
import type { Lease } from "../../state/model/store.ts";
import {
  type PlanOptions,
  planSession,
  type Session,
  type SessionOptions,
  withSession,
} from "../session/session.ts";
import { ephemeralState } from "../session/state-warnings.ts";
import { plannedEntries } from "../target/record-entries.ts";
import { assertMayApply } from "../target/target.ts";
import { approval, executePlan, withLock } from "./apply-plan.ts";
import { placesIn, withoutSensitive } from "./located.ts";

export type ApplyOptions = SessionOptions & {
  readonly autoApprove: boolean;
  readonly noInput: boolean;
  readonly lockTimeout: number | undefined;
};

export interface ApplyRequest {
  readonly plan: PlanOptions;
  readonly question: string;
}

export function runApply(
  reports: OutcomeReports,
  options: ApplyOptions,
  making: ApplyRequest,
): Promise<number> {
  const { context } = reports;
  assertMayApply(context, options, { saved: false, named: false });
  const secrets = making.plan.destroy === true ? "skip" : "resolve";
  return context.signals.during((signal) =>
    withSession(context, options, { makesKey: true, secrets, signal }, (session) =>
      withLock(session, options.lockTimeout, signal, (lease) =>
        planAndApply(reports, session, lease, options, making, signal),
      ),
    ),
  );
}

async function planAndApply(
  reports: OutcomeReports,
  session: Session,
  lease: Lease,
  options: ApplyOptions,
  making: ApplyRequest,
  signal: AbortSignal,
): Promise<number> {
  const { context } = session;
  const doubts =
    making.plan.destroy === true
      ? []
      : ephemeralState(context, options, session.settings.place, lease.state());
  const planned = await planSession(session, lease.state(), { ...making.plan, writes: true });
  assertNotInterrupted(signal);
  const found = [...lease.diagnostics, ...planned.diagnostics, ...doubts];
  if (hasErrors(found)) throw new Failure(...found);
  printDiagnostics(context, found);
  const notes = [...session.warnings, ...found];
  await reports.events(notes);
  const entries = [...plannedEntries(planned.recovered.entries, planned.plan), ...planned.learnt];
  const refused = exitOfPlan(planned.plan);
  const shown = {
    plan: withoutSensitive(session.spec, planned.plan),
    places: placesIn(session.spec.resources),
    notes,
  };
  if (refused === EXIT.ok) {
    await showPlan(reports, shown, (format) => format === "text");
    await reports.events(planned.plan.diagnostics);
  } else await showRefusal(reports, shown);
  if (refused !== EXIT.ok) {
    context.stderr.write("Nothing was changed.\n");
    return refused;
  }
  const asks = changesAnything(planned.plan);
  if (asks && !options.autoApprove && reports.format !== "text") await logPlan(reports, shown);
  if (asks && !(await askApproval(context, approval(context, options), making.question, signal))) {
    assertNotInterrupted(signal);
    const declined = error("CLI_CONFIRMATION", "the plan was not approved, so nothing was changed");
    await reports.end(applyEnding, [declined], { stdout: true });
    context.stderr.write("Nothing was changed.\n");
    return EXIT.error;
  }
  const { plan, live } = planned;
  const resources = making.plan.destroy === true ? new Map() : session.spec.resources;
  const outcome = await executePlan(session, {
    lease,
    plan,
    live,
    resources,
    entries,
    reports,
    signal,
    command: making.plan.destroy === true ? "destroy" : "apply",
  });
  await showOutcomeAfterPlan(reports, outcome, shown, !asks);
  return exitOfOutcome(outcome);
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
export function assertNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new Failure(
      error("APPLY_INTERRUPTED", "stopped before the first change", { hint: "run the command again" }),
    );
}
