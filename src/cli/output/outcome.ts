// Shows what an apply did in every format that the run was asked for.

import type { ApplyOutcome } from "../../planner/model/plan.ts";
import { OUTCOME_FORMATS, type OutcomeFormat } from "../../report/formats.ts";
import { type OutcomeView, outcomeView } from "../../report/outcome/outcome-view.ts";
import { logPlan, type OutcomeReports, type Shown, viewOf } from "./plan.ts";

export async function showOutcome(
  reports: OutcomeReports,
  outcome: ApplyOutcome,
  shown: Shown,
): Promise<void> {
  await reports.events(outcome.diagnostics);
  const view = outcomeView(outcome, shown.notes, viewOf(shown));
  await reports.show<OutcomeView>(OUTCOME_FORMATS, view, shown.plan, undefined, () =>
    logPlan(reports, shown),
  );
}

/** The same where text has shown the plan already; `alreadySaid`: nothing is left to say as text. */
export async function showOutcomeAfterPlan(
  reports: OutcomeReports,
  outcome: ApplyOutcome,
  shown: Shown,
  alreadySaid: boolean,
): Promise<void> {
  const isText = (format: OutcomeFormat): boolean => format === "text";
  await reports.events(outcome.diagnostics);
  if (!alreadySaid)
    await reports.show<OutcomeView>(
      OUTCOME_FORMATS,
      outcomeView(outcome, [], undefined, true),
      shown.plan,
      isText,
    );
  if (reports.isOnlyText) return;
  const whole = outcomeView(outcome, [...shown.notes, ...shown.plan.diagnostics], viewOf(shown));
  await reports.show<OutcomeView>(
    OUTCOME_FORMATS,
    whole,
    shown.plan,
    (format) => !isText(format),
    () => logPlan(reports, shown),
  );
}
