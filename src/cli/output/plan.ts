// Prints a plan in every requested format.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { type OutcomeFormat, PLAN_FORMATS, type PlanFormat } from "../../report/formats.ts";
import type { SpecPlaces } from "../../report/plan/change-fields.ts";
import { type PlanView, planView } from "../../report/plan/plan-view.ts";
import type { ExitcodeFor } from "../../report/plan/split-view.ts";
import { printDiagnostics } from "./diagnostics.ts";
import type { Reports } from "./reports.ts";
import type { RunOrigin } from "./run-origin.ts";

export type OutcomeReports = Reports<OutcomeFormat>;

export interface ShownPlan {
  readonly plan: Plan;
  readonly places: SpecPlaces;
  /** Findings about the run. They are on standard error already, and documents contain them too. */
  readonly notes: readonly Diagnostic[];
  /** Of a saved plan: the run that made it. */
  readonly origin?: RunOrigin;
  readonly exitcodeFor?: ExitcodeFor;
}

export function viewOf({ plan, places, notes, exitcodeFor }: ShownPlan): PlanView {
  return planView(plan, registry, notes, places, exitcodeFor);
}

/** `only`: the formats to print. */
export async function showPlan<F extends PlanFormat>(
  reports: Reports<F>,
  shown: ShownPlan,
  only?: (format: F | "text") => boolean,
): Promise<void> {
  const { plan, origin } = shown;
  const isShown = await reports.show<PlanView>(PLAN_FORMATS, viewOf(shown), { ...plan, origin }, only);
  if (!isShown)
    printDiagnostics(reports.context, [...plan.diagnostics, ...plan.guards.map((guard) => guard.diagnostic)]);
}

/** Shows the plan on a terminal that asks for approval if standard output does not contain it. */
export function logPlan(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  return reports.log<PlanView>(PLAN_FORMATS, viewOf(shown), shown.plan);
}

/** A plan that is not applied: in full as text, and as events or test cases in the formats of an apply. */
export async function showRefusal(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  const { plan } = shown;
  await reports.events(plan.diagnostics);
  for (const { diagnostic, addresses } of plan.guards) await reports.events([diagnostic], addresses);
  await showPlan(reports, shown, (format) => format !== "json");
}
