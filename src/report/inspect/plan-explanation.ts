// What a plan does with one resource, and why, as a view, as one page of text, and as JSON.

import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { count, listed } from "../../core/sentences.ts";
import type { ExplainedField, Neighbor, PlanExplanation } from "../../planner/explain-plan.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { severityOfDiff } from "../../resource/severity.ts";
import { changeLines, fieldBlock } from "../format/change-text.ts";
import { diffValue } from "../format/plan-json.ts";
import { diagnosticJson, diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type Colors, valueText } from "../text/terminal.ts";
import { VERBS } from "../text/vocabulary.ts";
import {
  type AnswerFact,
  type AnswerItem,
  type AnswerSection,
  type AnswerView,
  type FieldsItem,
  type LineItem,
  rightText,
} from "../view/answer-view.ts";
import type { ChangeView } from "../view/change-view.ts";
import { authorText, driftOriginJson } from "../view/drift-view.ts";
import { diffLines } from "../view/field-lines.ts";
import { pastRunAuthor, pastRunTime, runDocument, runItem } from "./history-text.ts";

type Origin = NonNullable<ExplainedField["origin"]>;

/** `view`: of the change, if the plan has one. */
export interface ExplainedPlan {
  readonly explanation: PlanExplanation;
  readonly view: ChangeView | undefined;
  readonly at: Location | undefined;
  readonly registry: KindRegistry;
}

export interface ExplanationView extends AnswerView {
  readonly source: ExplainedPlan;
}

const MOST_RUNS = 3;
const MOST_NEIGHBORS = 20;

export function explanationView(source: ExplainedPlan): ExplanationView {
  const { explanation } = source;
  const { fields, ignored, blockedBy, planBlockedBy, warnings, dependsOn, dependents, runs } = explanation;
  const fieldItems = (all: readonly ExplainedField[]) => all.map((field) => fieldItem(field, source));
  const sections: readonly AnswerSection[] = [
    { title: "Fields", what: "field", items: fieldItems(fields) },
    {
      title: "Different, but ignored (lifecycle.ignore_changes)",
      what: "ignored field",
      items: fieldItems(ignored),
    },
    { title: "Drift", what: "line about drift", items: driftItems(explanation) },
    { title: "Blocked by", what: "finding", items: blockedBy.map((finding) => ({ finding })) },
    { title: "The plan as a whole is blocked by", what: "finding", items: planBlock(planBlockedBy) },
    { title: "Warnings", what: "finding", items: warnings.map((finding) => ({ finding })) },
    { title: "Depends on", what: "resource", items: neighbors(dependsOn) },
    { title: "Used by", what: "resource", items: neighbors(dependents) },
    { title: "Last changed by", what: "run", items: runItems(runs) },
  ];
  return {
    title: titleOf(source),
    facts: factsOf(source),
    sections: sections.filter(({ items }) => items.length > 0),
    source,
  };
}

function titleOf({ explanation, view }: ExplainedPlan): string {
  const { status, address, ignored, leftOutBy, leftOutWith, unmanaged, blockedBy } = explanation;
  const name = printable(address);
  switch (status) {
    case "changes": {
      if (view === undefined) return name;
      const remarks = [...view.severityRemarks, ...view.remarks];
      return `${view.verb} ${view.title}${remarks.length === 0 ? "" : ` (${remarks.join("; ")})`}`;
    }
    case "unchanged":
      return `${name}: no change, because the live object ${ignored.length > 0 ? "differs only in ignored fields" : "matches the spec"}`;
    case "refused":
      return `${name}: no change, because the plan has an error (${blockedBy[0]?.code ?? ""})`;
    case "left_out":
      return `${name}: not planned, because ${printable(leftOutReason(leftOutBy, leftOutWith))}`;
    case "unmanaged":
      return `${name}: unmanaged${unmanaged === undefined ? "" : ` (id ${printable(unmanaged.id)})`}`;
  }
  return status satisfies never;
}

function leftOutReason(options: PlanExplanation["leftOutBy"], need: PlanExplanation["leftOutWith"]): string {
  if (need !== undefined) return `it depends on ${need}, which --exclude leaves out`;
  const [option] = options;
  if (option === undefined) return "its kind could not be read";
  return option === "--only" ? "--only does not select it" : "--exclude leaves it out";
}

function factsOf({ explanation, view, at }: ExplainedPlan): readonly AnswerFact[] {
  const fact =
    (label: string) =>
    (text: string): AnswerFact => ({ label, values: [text] });
  const isUnmanaged = explanation.status === "unmanaged";
  return [
    ...(at === undefined ? [] : [fact("declared at")(placeOf(at))]),
    ...[...(view?.reasons ?? []), ...impliedReasons(explanation)].map(fact("because")),
    ...(isUnmanaged
      ? [fact(HINT)("to manage it, declare it and run `workspace import`, or apply with --adopt")]
      : []),
    ...(view?.consequences ?? []).map((text) => ({ ...fact("side effect")(text), isWarning: true as const })),
  ];
}

const HINT = "hint";

/** The plan itself gives no reason for a usual creation, and none for an unmanaged object. */
function impliedReasons({ change, status }: PlanExplanation): readonly string[] {
  if (status === "unmanaged")
    return ["the spec does not declare it and the state does not record it, so no plan changes it"];
  if (status !== "changes" || change?.action !== "create" || change.reasons.length > 0) return [];
  return ["it is declared, and the state does not record it"];
}

function fieldItem(
  { diff, origin, writtenBy }: ExplainedField,
  { explanation, registry }: ExplainedPlan,
): FieldsItem {
  const provider = registry.get(explanation.kind);
  const { change, drift } = explanation;
  const cause = change?.cause ?? diff.cause;
  const isCreated = change?.action === "create";
  const lines = diffLines(provider.fields, diff, cause, severityOfDiff(provider, diff));
  const recorded = drift?.diffs.find(({ path }) => toDottedPath(path) === toDottedPath(diff.path));
  const lastWritten =
    recorded === undefined
      ? ""
      : `; the last apply wrote ${valueText(diffValue(provider.fields, diff, recorded.after))}`;
  const written =
    writtenBy === undefined
      ? []
      : [`live value written ${pastRunTime(writtenBy)} by ${pastRunAuthor(writtenBy)}${commitOf(writtenBy)}`];
  const live =
    diff.cause === "spec" ? written : isCreated ? [] : [`live value ${liveOrigin(drift)}${lastWritten}`];
  return {
    fields: isCreated ? lines.map((line) => ({ ...line, was: undefined })) : lines,
    details: [...originLines(origin, explanation), ...live].map(printable),
  };
}

/** `changed by ada@example.com at 2026-11-21T09:48:03Z`; if the service does not record it, a clause says so. */
function liveOrigin(drift: PlanExplanation["drift"]): string {
  const text = authorText(drift?.origin);
  return text.startsWith("changed ") ? text : ["changed outside", ...(text === "" ? [] : [text])].join("; ");
}

const commitOf = ({ commit }: { readonly commit?: string }): string =>
  commit === undefined ? "" : `, commit ${commit.slice(0, 12)}`;

function originLines(origin: Origin | undefined, { status }: PlanExplanation): readonly string[] {
  if (origin === undefined) return status === "unmanaged" ? [] : ["the spec does not set it"];
  const { at, expression, target, sources } = origin;
  const text = expression === undefined ? "" : `: ${expression}`;
  return [
    `${placeOf(at)}${targetText(target)}${text}`,
    ...sources.map((source) => {
      const place = source.at === undefined ? "" : ` at ${placeOf(source.at)}`;
      return `from ${sourceText(source)}${place}${targetText(source.target)}`;
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

const lineItem = (line: string): LineItem => ({ line, details: [] });

/** Drift that no field shows: an object that was deleted or appeared. */
function driftItems({ drift, fields }: PlanExplanation): readonly LineItem[] {
  if (drift === undefined || (drift.what === "changed" && fields.some(({ diff }) => diff.cause !== "spec")))
    return [];
  const words = { deleted: "deleted outside", appeared: "created outside", changed: "changed outside" }[
    drift.what
  ];
  const origin = authorText(drift.origin);
  return [lineItem(`${words}${origin === "" ? "" : `; ${origin}`}`)];
}

/** Findings about other resources are named, and `plan` shows them. */
function planBlock(diagnostics: readonly Diagnostic[]): readonly LineItem[] {
  if (diagnostics.length === 0) return [];
  const codes = [...new Set(diagnostics.map(({ code }) => code))];
  return [lineItem(`${listed(codes)} (${count(diagnostics.length, "finding")}; run \`workspace plan\`)`)];
}

function neighbors(all: readonly Neighbor[]): readonly LineItem[] {
  const lines = all.slice(0, MOST_NEIGHBORS).map(({ address, action, fields }) => {
    const verb = action === undefined ? "not planned" : action === "noop" ? "no change" : VERBS[action];
    const through =
      fields.length === 0 ? "" : ` (${listed(fields.map((path) => printable(toDottedPath(path))))})`;
    return lineItem(`${printable(address)}: ${verb}${through}`);
  });
  const rest = all.length - lines.length;
  return rest > 0 ? [...lines, lineItem(`… and ${count(rest, "more resource")}`)] : lines;
}

function runItems(runs: PlanExplanation["runs"]): readonly LineItem[] {
  const items = runs.slice(0, MOST_RUNS).map(runItem);
  const rest = runs.length - MOST_RUNS;
  return rest > 0 ? [...items, lineItem(`… and ${count(rest, "earlier run")}`)] : items;
}

export function explanationText({ title, facts, sections, source }: ExplanationView, colors: Colors): string {
  const { explanation, view } = source;
  const address = printable(explanation.address);
  const verdict =
    explanation.status === "changes" && view !== undefined
      ? changeLines(view, colors).slice(0, 1)
      : [`  ${colors.bold(address)}${title.slice(address.length)}`];
  const head = [...verdict, ...facts.flatMap((fact) => factLines(fact, colors))];
  const others = sections.map(({ title, items }) => [
    colors.bold(`${title}:`),
    ...items.flatMap((item) => itemLines(item, colors)),
  ]);
  return `${[head, ...others].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function factLines({ label, values, isWarning }: AnswerFact, colors: Colors): readonly string[] {
  const start = isWarning ? colors.yellow("!") : label === HINT ? "hint:" : label;
  return values.map((value) => `      ${start} ${value}`);
}

function itemLines(item: AnswerItem, colors: Colors): readonly string[] {
  const detailed = (details: readonly string[], indent: number) =>
    details.map((detail) => `${" ".repeat(indent)}${detail}`);
  if ("fields" in item)
    return [...fieldBlock(item.fields, colors), ...detailed(item.details, 10).map(colors.dim)];
  if ("finding" in item)
    return diagnosticText(item.finding, colors)
      .trimEnd()
      .split("\n")
      .map((line) => `      ${line}`);
  if ("line" in item) return [`      ${item.line}`, ...detailed(item.details, 8)];
  return [`      ${rightText(item)}`];
}

export function explanationJson({ source }: ExplanationView): Record<string, unknown> {
  const { explanation, view, at, registry } = source;
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
    drift: drift && { what: drift.what, ...driftOriginJson(drift.origin) },
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
