// Shows a plan for review, saves it on request, and gives the exit code.

import { resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error, Failure, hasErrors, thrownText, warning } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { count, listed, shellWord } from "../../core/sentences.ts";
import { findingsOf, isBlocked, type LikelyRename, type LikelyRenames } from "../../planner/model/plan.ts";
import { causedPart } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import { type OutcomeFormat, PLAN_FORMATS, type PlanFormat } from "../../report/formats.ts";
import { printable } from "../../report/text/printable.ts";
import { type ExitcodeFor, type Layout, type PlanView, planView } from "../../report/view/plan-view.ts";
import type { PlanReport, ReviewedPlan } from "../../workflow/plan/plan-review.ts";
import { savedText } from "../../workflow/plan/saved-plan.ts";
import type { Session } from "../../workflow/session/session.ts";
import type { RunOrigin } from "../command/command.ts";
import { exitOf, exitOfPlan } from "../command/exit-codes.ts";
import { colorsOf, printDiagnostics } from "./diagnostics.ts";
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
  const counted = options.exitcodeFor === "change" ? causedPart(plan) : plan;
  const onlyPendingBlocks = isBlocked(plan) && !isBlocked(counted);
  const saved = isBlocked(plan) ? { diagnostics: onlyPendingBlocks ? notSaved(options) : [] } : save();
  const notes = [...report.notes, ...saved.diagnostics];
  const { exitcodeFor } = options;
  await showPlan(reports, { ...report, notes, exitcodeFor });
  printDiagnostics(context, saved.diagnostics);
  if (saved.message !== undefined) context.stderr.write(saved.message);
  return exitOf(saved.diagnostics) || exitOfPlan(counted, { detailed: options.detailedExitcode });
}

/** Writes the suggested `moved` entries, and shows the plan that suggests them and the difference of the file. */
export async function showWithMoved(
  reports: Reports<PlanFormat>,
  options: ReviewOutput,
  session: Session,
  report: ReviewedPlan,
): Promise<number> {
  const { context } = reports;
  const { pairs = [], ties = [] } = report.plan.renames ?? {};
  const written = await movedWritten(context, session, pairs);
  const notes = [...report.notes, ...written.diagnostics];
  const code = await showReview(reports, options, { ...report, notes });
  printDiagnostics(context, written.diagnostics);
  const ambiguous = ties.map(tieLine).map(printable);
  context.stderr.write([...ambiguous, written.message ?? ""].join("\n"));
  return hasErrors(written.diagnostics) ? exitOf(written.diagnostics) : code;
}

async function movedWritten(
  context: CommandContext,
  session: Session,
  pairs: readonly LikelyRename[],
): Promise<Saved> {
  if (pairs.length === 0)
    return { message: "The plan suggests no moved entries, so nothing is written.\n", diagnostics: [] };
  try {
    const [{ writeMoved }, { fileDiff }] = await Promise.all([
      import("../../workflow/transfer/write-edits.ts"),
      import("./file-diff.ts"),
    ]);
    const { edit, file } = await writeMoved(session, pairs);
    const diff = fileDiff(file, edit, "written", colorsOf(context, context.stderr));
    const names = pairs.flatMap(({ to, name }) =>
      name === undefined
        ? []
        : [`${printable(`To keep the object, also declare ${name.field}: ${name.value} in ${to}.`)}\n`],
    );
    const number = count(pairs.length, "moved entry", "moved entries");
    const ending = `Wrote ${number} to ${printable(file)}. Run \`workspace plan\` again.\n`;
    const message = [session.spec.sensitive?.masked(diff) ?? diff, ...names, ending].join("");
    return { message, diagnostics: [] };
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return { diagnostics: problem.diagnostics };
  }
}

function tieLine({ from, candidates }: LikelyRenames["ties"][number]): string {
  const others = candidates.length > 1 ? " equally well" : ", and so does another deleted resource";
  return `Not written: ${from} fits ${listed(candidates, "and", 5)}${others}.`;
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
  { plan, basis, notes, caller }: ReviewedPlan,
  out: string,
): Promise<() => Saved> {
  const about = { run: { ...(await reports.origin), ...defined({ caller }) }, notes };
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
  return planView(plan, registry, { ...layout, notes, places, exitcodeFor });
}

/** `only`: the formats to print. */
export async function showPlan<F extends PlanFormat>(
  reports: Reports<F>,
  shown: ShownPlan,
  only?: (format: F | "text") => boolean,
): Promise<void> {
  const { plan, origin, caller } = shown;
  const isShown = await reports.show<PlanView>(
    PLAN_FORMATS,
    viewOf(shown, reports),
    { ...plan, origin, caller },
    only,
  );
  if (!isShown) printDiagnostics(reports.context, findingsOf(plan));
}

/** Shows the plan on a terminal that asks for approval if standard output does not contain it. */
export function logPlan(reports: OutcomeReports, shown: ShownPlan): Promise<void> {
  return reports.log<PlanView>(PLAN_FORMATS, viewOf(shown, reports), shown.plan);
}
