// Shows an apply or destroy in every requested format, asks for approval, and returns the exit code.

import { fromEnv } from "../../config/environment.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { isBlocked, type Plan } from "../../planner/model/plan.ts";
import { OUTCOME_FORMATS, type OutcomeFormat } from "../../report/formats.ts";
import {
  diagnosticEventJson,
  eventJson,
  type OutcomeView,
  outcomeView,
} from "../../report/view/outcome-view.ts";
import type { ApplyPresenter, ApplyRequest, ApplyResult, ShownOutcome } from "../../workflow/apply/apply.ts";
import { placesIn } from "../../workflow/plan/spec-places.ts";
import type { Session } from "../../workflow/session/session.ts";
import { exitOfOutcome, exitOfPlan } from "../command/exit-codes.ts";
import { colorsOf, fitted, reportNothingChanged } from "./diagnostics.ts";
import { applyFailureDocument } from "./failure-documents.ts";
import { type ApprovalOptions, askApproval } from "./prompt.ts";
import { logPlan, type OutcomeReports, type ShownPlan, showPlan, viewOf } from "./review.ts";

export function planPresenter(
  reports: OutcomeReports,
  session: Session,
  options: ApprovalOptions,
  destroy: boolean,
  signal: AbortSignal,
): ApplyPresenter {
  const { context } = reports;
  // A pipeline may set it once for all its runs.
  const noInput = options.noInput || fromEnv(context, "WORKSPACE_NO_INPUT") !== undefined;
  const [question, preview] = destroy
    ? ["Delete all of this?", "workspace plan --destroy"]
    : ["Apply this plan?", "workspace plan"];
  const advice = `review the plan first; then pass --auto-approve, or run \`${preview} --out FILE\` and \`workspace apply FILE\``;
  let isAsked = false;
  let notesOfPlan: ShownPlan["notes"] = [];
  const shown = shownFrom(session);
  return {
    async planned(plan, notes) {
      notesOfPlan = notes;
      printFindings(reports, notes);
      if (isBlocked(plan)) return showRefusal(reports, shown(plan, notes));
      await showPlan(reports, shown(plan, notes), (format) => format === "text");
      printFindings(reports, plan.diagnostics);
    },
    async approve(plan) {
      isAsked = true;
      if (!options.autoApprove && reports.format !== "text") await logPlan(reports, shown(plan, notesOfPlan));
      const { detailsText } = await import("../../report/inspect/details-text.ts");
      const showDetails = (request: string): void => {
        const view = viewOf(shown(plan, notesOfPlan), reports);
        const { stderr } = context;
        stderr.write(fitted(detailsText(view, request, colorsOf(context, stderr)), stderr, true));
      };
      return askApproval(context, { ...options, noInput }, question, signal, advice, showDetails);
    },
    changed: (event) => reports.event(() => eventJson(event)),
    applied: (plan, outcome, notes) => showOutcomeAfterPlan(reports, outcome, shown(plan, notes), !isAsked),
  };
}

/** The apply of a saved plan, which was shown and approved before. */
export function savedPlanPresenter(reports: OutcomeReports, session: Session): ApplyPresenter {
  const shown = shownFrom(session);
  return {
    async planned(plan, notes) {
      printFindings(reports, notes);
      if (isBlocked(plan)) await showRefusal(reports, shown(plan, notes));
    },
    approve: () => Promise.resolve(true),
    changed: (event) => reports.event(() => eventJson(event)),
    async applied(plan, outcome, notes) {
      printFindings(reports, outcome.diagnostics);
      await showDocuments(reports, outcome, shown(plan, notes), { notes, savedPlan: true });
    },
  };
}

function shownFrom({ spec }: Session): (plan: Plan, notes: ShownPlan["notes"]) => ShownPlan {
  const places = placesIn(spec.resources);
  return (plan, notes) => ({ plan, places, notes });
}

/** `addresses`: what a guard's objection is about. */
function printFindings(
  reports: OutcomeReports,
  diagnostics: readonly Diagnostic[],
  addresses?: readonly string[],
): void {
  for (const diagnostic of diagnostics) reports.event(() => diagnosticEventJson(diagnostic, addresses));
}

/** A plan that is not applied: in full as text, and as events or test cases in the formats of an apply. */
async function showRefusal(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  const { plan } = shown;
  printFindings(reports, plan.diagnostics);
  for (const { diagnostic, addresses } of plan.guards) printFindings(reports, [diagnostic], addresses);
  await showPlan(reports, shown, (format) => format !== "json");
}

export async function endApply(reports: OutcomeReports, result: ApplyResult): Promise<number> {
  if (result.status === "applied") return exitOfOutcome(result.outcome);
  if (result.status === "declined") {
    const declined = error("CLI_CONFIRMATION", "the plan was not approved, so nothing was changed");
    await reports.end(applyFailureDocument, [declined], { stdout: true });
  }
  const code = reportNothingChanged(reports.context);
  return result.status === "refused" ? exitOfPlan(result.plan) : code;
}

export function applyRequest(
  reports: OutcomeReports,
  { lockTimeout }: Pick<ApplyRequest, "lockTimeout">,
  signal: AbortSignal,
): ApplyRequest {
  return {
    lockTimeout,
    signal,
    async readCommitAndRun() {
      const { commit, runUrl: run_url } = await reports.origin;
      return { commit, run_url };
    },
  };
}

/** The outcome where text has shown the plan already; `alreadySaid`: nothing is left to say as text. */
async function showOutcomeAfterPlan(
  reports: OutcomeReports,
  outcome: ShownOutcome,
  shown: ShownPlan,
  alreadySaid: boolean,
): Promise<void> {
  const isText = (format: OutcomeFormat): boolean => format === "text";
  printFindings(reports, outcome.diagnostics);
  const end = outcomeView(outcome, [], undefined, true);
  if (!alreadySaid) await reports.show<OutcomeView>(OUTCOME_FORMATS, end, shown.plan, isText);
  const notes = [...shown.notes, ...shown.plan.diagnostics];
  if (!reports.isOnlyText)
    await showDocuments(reports, outcome, shown, { notes }, (format) => !isText(format));
}

function showDocuments(
  reports: OutcomeReports,
  outcome: ShownOutcome,
  shown: ShownPlan,
  { notes, savedPlan = false }: { readonly notes: ShownPlan["notes"]; readonly savedPlan?: boolean },
  only?: (format: OutcomeFormat) => boolean,
): Promise<boolean> {
  const view = outcomeView(outcome, notes, viewOf(shown, reports));
  const facts = { ...shown.plan, caller: outcome.caller, savedPlan };
  return reports.show<OutcomeView>(OUTCOME_FORMATS, view, facts, only, () => logPlan(reports, shown));
}
