// `workspace apply PLANFILE`: exactly the saved plan, or nothing.

import { EXIT, exitOfOutcome, exitOfPlan } from "../../cli/command/exit-codes.ts";
import { printDiagnostics } from "../../cli/output/diagnostics.ts";
import { showOutcome } from "../../cli/output/outcome.ts";
import { type OutcomeReports, showRefusal } from "../../cli/output/plan.ts";
import { error, Failure, hasErrors } from "../../core/diagnostic.ts";
import { movedSince, otherRecords } from "../../planner/plan-file.ts";
import { registry } from "../../providers/index.ts";
import type { Lease } from "../../state/model/store.ts";
import { type PlanOptions, planSession, type Session, withSession } from "../session/session.ts";
import { ephemeralState } from "../session/state-warnings.ts";
import { plannedEntries } from "../target/record-entries.ts";
import { assertMayApply } from "../target/target.ts";
import { type ApplyOptions, assertNotInterrupted } from "./apply.ts";
import { executePlan, withLock } from "./apply-plan.ts";
import { placesIn, withoutSensitive } from "./located.ts";
import { assertBelow, checkedPlan, planFile, sealCheck } from "./plan-file.ts";

/** A saved plan was reviewed when it was made, so the user is not prompted. */
export function applyPlanFile(
  reports: OutcomeReports,
  options: ApplyOptions & PlanOptions,
  file: string,
): Promise<number> {
  const { context } = reports;
  refuseOwnWishes(options);
  const { text, claims } = planFile(context, file);
  refuseOtherTarget(options, claims.target, file);
  if (options.file === undefined) assertBelow(context, claims.file);
  const chosen = {
    ...options,
    file: options.file ?? claims.file,
    target: claims.target,
    var: claims.var,
    varFile: claims.varFile,
  };
  assertMayApply(context, chosen, { saved: true, named: options.target !== undefined });
  return context.signals.during((signal) => {
    const opening = { makesKey: false, secrets: "resolve", signal, unlocked: sealCheck(text) } as const;
    return withSession(context, chosen, opening, (session) =>
      withLock(session, options.lockTimeout, signal, (lease) =>
        applyChecked(reports, session, lease, text, signal),
      ),
    );
  });
}

/** A saved plan contains the options that shaped it; other such options are an error, not ignored. */
function refuseOwnWishes(options: ApplyOptions & PlanOptions): void {
  const given = [
    ...(options.var.length === 0 ? [] : ["--var"]),
    ...(options.varFile.length === 0 ? [] : ["--var-file"]),
    ...((options.only ?? []).length === 0 ? [] : ["--only"]),
    ...(options.adopt === true ? ["--adopt"] : []),
    ...(options.allowDuplicates === true ? ["--allow-duplicates"] : []),
  ];
  if (given.length === 0) return;
  throw new Failure(
    error("CLI_USAGE", `${given.join(", ")} cannot be used with a saved plan`, {
      hint: "remove it, or make a new plan with it",
    }),
  );
}

/** The target that the plan was made for may be named once more. */
function refuseOtherTarget({ target }: ApplyOptions, planned: string | undefined, file: string): void {
  if (target === undefined || target === planned) return;
  const made = planned === undefined ? "without a target" : `for the target ${JSON.stringify(planned)}`;
  throw new Failure(
    error("CLI_USAGE", `the plan was made ${made}, not for ${JSON.stringify(target)}`, {
      hint: `remove --target, or make a new plan: \`workspace plan --target ${target} --out ${file}\``,
    }),
  );
}

async function applyChecked(
  reports: OutcomeReports,
  session: Session,
  lease: Lease,
  text: string,
  signal: AbortSignal,
): Promise<number> {
  const saved = checkedPlan(session, text, lease.state());
  const doubts = ephemeralState(session.context, session.options, session.settings.place, lease.state());
  const refused = exitOfPlan(saved.plan);
  if (refused !== EXIT.ok) {
    await showRefusal(reports, {
      plan: withoutSensitive(session.spec, saved.plan),
      places: placesIn(session.spec.resources),
      notes: [],
    });
    return refused;
  }
  // The workspace is read again for names and IDs; the changes are those of the file.
  const { live, learnt, recovered } = await planSession(session, lease.state(), { writes: true });
  assertNotInterrupted(signal);
  if (hasErrors(recovered.diagnostics)) throw new Failure(...recovered.diagnostics);
  const moved = [
    ...otherRecords(saved, recovered.state),
    ...movedSince(saved.plan, live, registry, recovered.state),
  ];
  if (hasErrors(moved)) throw new Failure(...moved);
  const found = [...lease.diagnostics, ...recovered.diagnostics, ...doubts];
  printDiagnostics(session.context, found);
  const notes = [...session.warnings, ...found];
  await reports.events(notes);
  const entries = [
    ...plannedEntries(recovered.entries, saved.plan),
    ...learnt,
    { type: "nonce", nonce: saved.nonce } as const,
  ];
  const resources = session.spec.resources;
  const outcome = await executePlan(session, {
    lease,
    plan: saved.plan,
    live,
    resources,
    entries,
    reports,
    signal,
    command: "apply",
  });
  await showOutcome(reports, outcome, {
    plan: withoutSensitive(session.spec, saved.plan),
    places: placesIn(resources),
    notes,
  });
  return exitOfOutcome(outcome);
}
