// What a plan does with one resource, and why, as one page of text and as JSON.

import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { count, listed } from "../../core/sentences.ts";
import type { ExplainedField, Neighbor, PlanExplanation } from "../../planner/explain-plan.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { severityOfDiff } from "../../resource/severity.ts";
import { diffValue } from "../format/plan-json.ts";
import { changeLines, fieldBlock } from "../format/plan-text.ts";
import { diagnosticJson, diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type Colors, valueText } from "../text/terminal.ts";
import { type ChangeView, VERBS } from "../view/change-view.ts";
import { originJson, originText } from "../view/drift-view.ts";
import { diffLines } from "../view/field-lines.ts";
import { pastRunAuthor, pastRunLines, pastRunTime, runDocument } from "./history-text.ts";

type Origin = NonNullable<ExplainedField["origin"]>;

/** `view`: of the change, if the plan has one. */
export interface ExplanationView {
  readonly explanation: PlanExplanation;
  readonly view: ChangeView | undefined;
  readonly at: Location | undefined;
  readonly registry: KindRegistry;
}

const MOST_RUNS = 3;
const MOST_NEIGHBORS = 20;

export function explanationText(explained: ExplanationView, colors: Colors): string {
  const { explanation, view, at } = explained;
  const { fields, ignored, blockedBy, planBlockedBy, warnings, dependsOn, dependents, runs } = explanation;
  const head = [
    ...verdict(explained, colors),
    ...(at === undefined ? [] : [`      declared at ${placeOf(at)}`]),
    ...(view?.reasons ?? []).map((reason) => `      because ${reason}`),
    ...impliedReason(explanation),
    ...(view?.consequences ?? []).map((sentence) => `      ${colors.yellow("!")} ${sentence}`),
  ];
  const sections = [
    head,
    fieldSection("Fields:", fields, explained, colors),
    fieldSection("Different, but ignored (lifecycle.ignore_changes):", ignored, explained, colors),
    driftSection(explanation, colors),
    findings("Blocked by:", blockedBy, colors),
    planBlock(planBlockedBy, colors),
    findings("Warnings:", warnings, colors),
    neighbors("Depends on:", dependsOn, colors),
    neighbors("Used by:", dependents, colors),
    runSection(runs, colors),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function verdict({ explanation, view }: ExplanationView, colors: Colors): readonly string[] {
  const { status, address, ignored, leftOutBy, leftOutWith, unmanaged, blockedBy } = explanation;
  const name = colors.bold(printable(address));
  switch (status) {
    case "changes":
      return view === undefined ? [] : changeLines(view, colors).slice(0, 1);
    case "unchanged":
      return [
        `  ${name}: no change, because the live object ${ignored.length > 0 ? "differs only in ignored fields" : "matches the spec"}`,
      ];
    case "refused":
      return [`  ${name}: no change, because the plan has an error (${blockedBy[0]?.code ?? ""})`];
    case "left_out":
      return [`  ${name}: not planned, because ${printable(leftOutReason(leftOutBy, leftOutWith))}`];
    case "unmanaged":
      return [
        `  ${name}: unmanaged${unmanaged === undefined ? "" : ` (id ${printable(unmanaged.id)})`}`,
        "      because the spec does not declare it and the state does not record it, so no plan changes it",
        "      to manage it, declare it and run `workspace import`, or apply with --adopt",
      ];
  }
  return status satisfies never;
}

function leftOutReason(options: PlanExplanation["leftOutBy"], need: PlanExplanation["leftOutWith"]): string {
  if (need !== undefined) return `it depends on ${need}, which --exclude leaves out`;
  const [option] = options;
  if (option === undefined) return "its kind could not be read";
  return option === "--only" ? "--only does not select it" : "--exclude leaves it out";
}

/** The plan itself gives no reason for a usual creation. */
function impliedReason({ change, status }: PlanExplanation): readonly string[] {
  if (status !== "changes" || change?.action !== "create" || change.reasons.length > 0) return [];
  return ["      because it is declared, and the state does not record it"];
}

function fieldSection(
  title: string,
  fields: readonly ExplainedField[],
  explained: ExplanationView,
  colors: Colors,
): readonly string[] {
  if (fields.length === 0) return [];
  return [colors.bold(title), ...fields.flatMap((field) => fieldLines(field, explained, colors))];
}

function fieldLines(
  { diff, origin, writtenBy }: ExplainedField,
  { explanation, registry }: ExplanationView,
  colors: Colors,
): readonly string[] {
  const provider = registry.get(explanation.kind);
  const { change, drift } = explanation;
  const cause = change?.cause ?? diff.cause;
  const lines = fieldBlock(
    diffLines(provider.fields, diff, cause, severityOfDiff(provider, diff)).map((line) =>
      change?.action === "create" ? { ...line, was: undefined } : line,
    ),
    colors,
  );
  const recorded = drift?.diffs.find(({ path }) => toDottedPath(path) === toDottedPath(diff.path));
  const details = [
    ...originLines(origin, explanation),
    ...(diff.cause === "spec" || change?.action === "create"
      ? []
      : [
          `live value ${originText(drift?.origin) || "changed outside"}${
            recorded === undefined
              ? ""
              : `; the last apply wrote ${valueText(diffValue(provider.fields, diff, recorded.after))}`
          }`,
        ]),
    ...(diff.cause === "spec" && writtenBy !== undefined
      ? [
          printable(
            `live value written ${pastRunTime(writtenBy)} by ${pastRunAuthor(writtenBy)}${commitOf(writtenBy)}`,
          ),
        ]
      : []),
  ];
  return [...lines, ...details.map((line) => colors.dim(`          ${line}`))];
}

const commitOf = ({ commit }: { readonly commit?: string }): string =>
  commit === undefined ? "" : `, commit ${commit.slice(0, 12)}`;

function originLines(origin: Origin | undefined, { status }: PlanExplanation): readonly string[] {
  if (origin === undefined) return status === "unmanaged" ? [] : ["the spec does not set it"];
  const { at, expression, target, sources } = origin;
  const text = expression === undefined ? "" : `: ${expression}`;
  return [
    printable(`${placeOf(at)}${targetText(target)}${text}`),
    ...sources.map((source) => {
      const place = source.at === undefined ? "" : ` at ${placeOf(source.at)}`;
      return printable(`from ${sourceText(source)}${place}${targetText(source.target)}`);
    }),
  ];
}

const targetText = (target: string | undefined): string =>
  target === undefined ? "" : ` (target ${target})`;

function sourceText({ what, name }: Origin["sources"][number]): string {
  return what === "outside" || what === "field"
    ? name
    : what === "for_each"
      ? `for_each of ${name}`
      : `${what} ${name}`;
}

const placeOf = ({ file, line }: Location): string => printable(`${file}:${line}`);

/** Drift that no field above shows: an object that was deleted or appeared. */
function driftSection({ drift, fields }: PlanExplanation, colors: Colors): readonly string[] {
  if (drift === undefined || (drift.what === "changed" && fields.some(({ diff }) => diff.cause !== "spec")))
    return [];
  const words = { gone: "deleted outside", appeared: "created outside", changed: "changed outside" }[
    drift.what
  ];
  const origin = originText(drift.origin);
  return [colors.bold("Drift:"), `      ${words}${origin === "" ? "" : `; ${origin}`}`];
}

function findings(title: string, diagnostics: readonly Diagnostic[], colors: Colors): readonly string[] {
  if (diagnostics.length === 0) return [];
  const lines = diagnostics.flatMap((diagnostic) => diagnosticText(diagnostic, colors).trimEnd().split("\n"));
  return [colors.bold(title), ...lines.map((line) => `      ${line}`)];
}

/** Findings about other resources are named, and `plan` shows them. */
function planBlock(diagnostics: readonly Diagnostic[], colors: Colors): readonly string[] {
  if (diagnostics.length === 0) return [];
  const codes = [...new Set(diagnostics.map(({ code }) => code))];
  return [
    colors.bold("The plan as a whole is blocked by:"),
    `      ${listed(codes)} (${count(diagnostics.length, "finding")}; run \`workspace plan\`)`,
  ];
}

function neighbors(title: string, all: readonly Neighbor[], colors: Colors): readonly string[] {
  if (all.length === 0) return [];
  const lines = all.slice(0, MOST_NEIGHBORS).map(({ address, action, fields }) => {
    const verb = action === undefined ? "not planned" : action === "noop" ? "no change" : VERBS[action];
    const through =
      fields.length === 0 ? "" : ` (${listed(fields.map((path) => printable(toDottedPath(path))))})`;
    return `      ${printable(address)}: ${verb}${through}`;
  });
  const rest = all.length - lines.length;
  return [colors.bold(title), ...lines, ...(rest > 0 ? [`      … and ${count(rest, "more resource")}`] : [])];
}

function runSection(runs: PlanExplanation["runs"], colors: Colors): readonly string[] {
  if (runs.length === 0) return [];
  const lines = runs.slice(0, MOST_RUNS).flatMap(pastRunLines);
  const rest = runs.length - MOST_RUNS;
  return [
    colors.bold("Last changed by:"),
    ...lines.map((line) => `      ${line}`),
    ...(rest > 0 ? [`      … and ${count(rest, "earlier run")}`] : []),
  ];
}

export function explanationJson({
  explanation,
  view,
  at,
  registry,
}: ExplanationView): Record<string, unknown> {
  const { address, kind, status, change, unmanaged, leftOutBy, leftOutWith, drift } = explanation;
  const fieldJson = ({ diff, origin, writtenBy }: ExplainedField): Record<string, unknown> => {
    const provider = registry.get(kind);
    return {
      path: diff.path,
      before: diffValue(provider.fields, diff, diff.before),
      after: diffValue(provider.fields, diff, diff.after),
      after_unknown: diff.unknown,
      cause: diff.cause,
      severity: severityOfDiff(provider, diff),
      replaces: diff.replaces,
      origin,
      written_by: writtenBy && writerJson(writtenBy),
    };
  };
  return {
    address,
    kind,
    status,
    action: change?.action,
    id: unmanaged?.id ?? (change !== undefined && "id" in change ? change.id : undefined),
    moved_from: change?.movedFrom,
    cause: change?.cause,
    severity: view?.severity,
    at,
    reasons: change?.reasons ?? [],
    consequences: change?.consequences ?? [],
    left_out: status === "left_out" ? { options: leftOutBy, dependency: leftOutWith } : undefined,
    fields: explanation.fields.map(fieldJson),
    ignored: explanation.ignored.map(fieldJson),
    drift: drift && { what: drift.what, ...originJson(drift.origin) },
    blocked_by: explanation.blockedBy.map(diagnosticJson),
    plan_blocked_by: explanation.planBlockedBy.map(diagnosticJson),
    warnings: explanation.warnings.map(diagnosticJson),
    depends_on: explanation.dependsOn.map(neighborJson),
    dependents: explanation.dependents.map(neighborJson),
    runs: explanation.runs.map((run) => runDocument(run, false)),
  };
}

function writerJson(run: PlanExplanation["runs"][number]): Record<string, unknown> {
  const { command, actor, caller, commit, run_url, plan } = run;
  return { at: pastRunTime(run), command, actor, caller, commit, run_url, plan };
}

const neighborJson = ({ address, action, fields }: Neighbor): Record<string, unknown> => ({
  address,
  action,
  paths: fields,
});
