// Shows a plan for review, saves it on request, and gives the exit code.

import { resolve } from "node:path";
import { writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error, hasErrors, thrownText, warning } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import { changesAnything } from "../../planner/model/change.ts";
import { causedPart } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import { type OutcomeFormat, PLAN_FORMATS, type PlanFormat } from "../../report/formats.ts";
import { type ExitcodeFor, type Layout, type PlanView, planView } from "../../report/view/plan-view.ts";
import { savedText } from "../../workflow/plan/plan-file.ts";
import type { PlanReport, ReviewedPlan } from "../../workflow/plan/plan-review.ts";
import type { Session } from "../../workflow/session/session.ts";
import type { RunOrigin } from "../command/command.ts";
import { EXIT, exitOf, exitOfPlan } from "../command/exit-codes.ts";
import { printDiagnostics } from "./diagnostics.ts";
import type { Reports } from "./reports.ts";

interface ReviewOutput {
  readonly detailedExitcode: boolean;
  readonly exitcodeFor: "all" | "change";
  readonly out: string | undefined;
}

interface Saved {
  readonly message?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** `save` is called for a plan that nothing blocks. */
export async function showReview(
  reports: Reports<PlanFormat>,
  options: ReviewOutput,
  report: PlanReport,
  save: () => Saved = () => ({ diagnostics: [] }),
): Promise<number> {
  const { context } = reports;
  const { plan } = report;
  const isBlocked = exitOfPlan(plan) !== EXIT.ok;
  const counted = options.exitcodeFor === "change" ? causedPart(plan) : plan;
  const code = exitOfPlan(counted);
  const saved = isBlocked ? { diagnostics: code === EXIT.ok ? notSaved(options) : [] } : save();
  const notes = [...report.notes, ...saved.diagnostics];
  const { exitcodeFor } = options;
  await showPlan(reports, { ...report, notes, exitcodeFor });
  if (code !== EXIT.ok) return code;
  printDiagnostics(context, saved.diagnostics);
  if (hasErrors(saved.diagnostics)) return exitOf(saved.diagnostics);
  if (saved.message !== undefined) context.stderr.write(saved.message);
  return options.detailedExitcode && changesAnything(counted) ? EXIT.changes : EXIT.ok;
}

/** The run succeeds without a plan file, because a guard blocks pending changes. */
function notSaved({ out }: ReviewOutput): readonly Diagnostic[] {
  if (out === undefined) return [];
  const hint = "resolve the pending changes first; a plan with a guard or an error cannot be applied";
  return [
    warning("PLAN_BASE", `the plan is not saved to ${out}, because pending changes block it`, { hint }),
  ];
}

/** A plan that cannot be saved is shown all the same, with what went wrong. */
export async function saveReview(
  reports: Reports<PlanFormat>,
  session: Session,
  { plan, basis, notes }: ReviewedPlan,
  out: string,
): Promise<() => Saved> {
  const about = { run: await reports.origin, notes };
  return () => {
    const pieces = savedText(session, plan, basis, about);
    try {
      writeWholeFile(resolve(session.invocation.cwd, out), pieces, { over: true, mode: 0o600 });
    } catch (problem) {
      const cause = thrownText(problem);
      return { diagnostics: [error("CLI_FILE", `the plan cannot be saved to ${out}`, { cause })] };
    }
    const { target } = session.spec;
    const named = target?.protected === true ? ` --target ${shellWord(target.name)}` : "";
    const message = `Saved to ${out}. To apply it, run \`workspace apply ${shellWord(out)}${named}\`.\n`;
    return { message, diagnostics: [] };
  };
}

export type OutcomeReports = Reports<OutcomeFormat>;

export interface ShownPlan extends PlanReport {
  /** Of a saved plan: the run that made it. */
  readonly origin?: RunOrigin;
  readonly exitcodeFor?: ExitcodeFor;
}

export function viewOf({ plan, places, notes, exitcodeFor }: ShownPlan, layout: Layout): PlanView {
  return planView(plan, registry, notes, places, exitcodeFor, layout);
}

/** `only`: the formats to print. */
export async function showPlan<F extends PlanFormat>(
  reports: Reports<F>,
  shown: ShownPlan,
  only?: (format: F | "text") => boolean,
): Promise<void> {
  const { plan, origin } = shown;
  const isShown = await reports.show<PlanView>(
    PLAN_FORMATS,
    viewOf(shown, reports),
    { ...plan, origin },
    only,
  );
  if (!isShown)
    printDiagnostics(reports.context, [...plan.diagnostics, ...plan.guards.map((guard) => guard.diagnostic)]);
}

/** Shows the plan on a terminal that asks for approval if standard output does not contain it. */
export function logPlan(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  return reports.log<PlanView>(PLAN_FORMATS, viewOf(shown, reports), shown.plan);
}

/** A plan that is not applied: in full as text, and as events or test cases in the formats of an apply. */
export async function showRefusal(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  const { plan } = shown;
  await reports.events(plan.diagnostics);
  for (const { diagnostic, addresses } of plan.guards) await reports.events([diagnostic], addresses);
  await showPlan(reports, shown, (format) => format !== "json");
}
