// Shows what an apply did in every format that the run was asked for.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import { OUTCOME_FORMATS, type OutcomeFormat } from "../../report/formats.ts";
import { type OutcomeView, outcomeView } from "../../report/outcome/outcome-view.ts";
import type { OutcomeReports } from "./plan.ts";

/** `notes`: what was found about the run before the first change. It is on standard error already, and documents contain it too. */
export async function showOutcome(
  reports: OutcomeReports,
  outcome: ApplyOutcome,
  plan: Plan,
  notes: readonly Diagnostic[],
  only: (format: OutcomeFormat) => boolean = () => true,
): Promise<void> {
  const view = outcomeView(outcome, notes);
  if (only("json")) await reports.events(view.diagnostics);
  await reports.show<OutcomeView>(OUTCOME_FORMATS, view, plan, only);
}
