// A plan or drift as text for a terminal: access, the changes in order, drift, findings, losses, cost, and a summary line.
// The strings of fields and changes in a view are printable already; others are made printable here.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import { type Colors, textTable } from "../text/terminal.ts";
import type { AccessLine } from "../view/access-view.ts";
import type { DriftItem, DriftView } from "../view/drift-view.ts";
import { foldChanges } from "../view/fold.ts";
import {
  byOrigin,
  kindTable,
  movedLines,
  ORIGIN_HEADS,
  type PlanView,
  resolvedSentence,
  type SplitView,
} from "../view/plan-view.ts";
import { changeBlocks, driftLines } from "./change-text.ts";

/** Of warnings with one code, or of one rule, so many are shown; a line counts the others. */
const MOST_ALIKE = 10;

/** `isOnlyOutput`: no other output shows the findings about the run. */
export function planText(plan: PlanView, colors: Colors, info?: RunInfo, isOnlyOutput = false): string {
  const sections = [
    accessSection(plan, colors),
    changesSection(plan, colors),
    driftSection(plan, colors),
    unmanagedSection(plan, colors),
    hiddenSection(plan.shown.hidden, colors),
    ...diagnosticSections(plan, colors, isOnlyOutput ? plan.notes : []),
    resolvedSection(plan.split, colors),
    tableSection(plan, colors),
    lossSection(plan, colors),
    revertSection(plan, colors),
    plan.costTotal === undefined ? [] : [printable(`Cost of these changes: ${plan.costTotal}`)],
    renamesSection(plan),
    summarySection(plan, colors),
    runLines(info, colors),
  ];
  return sectionsText(sections);
}

/** The sections that have lines, an empty line between them. */
function sectionsText(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** So many lines are shown, and so many rights in each. */
const MOST_ACCESS_LINES = 30;
const MOST_RIGHTS = 10;

function accessSection({ access, expand }: PlanView, colors: Colors): readonly string[] {
  if (access === undefined) return [];
  const most = expand ? Number.POSITIVE_INFINITY : MOST_ACCESS_LINES;
  const all = expand ? access.allLines : access.lines;
  const lines = all.slice(0, most).flatMap((line) => accessLines(line, colors, expand));
  const rest = all.length - most;
  return [
    colors.bold(`${access.title}.`),
    ...lines,
    ...(rest > 0 ? [colors.dim(`  … and ${count(rest, "more line")}; \`--expand\` shows all`)] : []),
    ...access.notCompared.map((what) => colors.dim(`  not compared: ${what}`)),
  ];
}

function accessLines({ sign, head, items }: AccessLine, colors: Colors, expand: boolean): readonly string[] {
  const paint = sign === "+" ? colors.green : colors.red;
  const [only] = items;
  if (items.length === 1 && only !== undefined) return [`  ${paint(sign)} ${colors.bold(head)}: ${only}`];
  const shown = expand ? items : items.slice(0, MOST_RIGHTS);
  const rest = items.length - shown.length;
  return [
    `  ${paint(sign)} ${colors.bold(head)}:`,
    ...shown.map((item) => `      ${item}`),
    ...(rest > 0 ? [colors.dim(`      … and ${grouped(rest)} more`)] : []),
  ];
}

function changesSection(plan: PlanView, colors: Colors): readonly string[] {
  const touching = plan.shown.changes.filter((change) => change.touches);
  return byOrigin(touching, plan.split).flatMap(({ head, changes }, at) => [
    ...(at === 0 ? [] : [""]),
    ...(head === undefined ? [] : [colors.bold(`${head}:`)]),
    ...changeBlocks(foldChanges(changes, { expand: plan.expand, foldsAccess: true }), colors),
  ]);
}

/** Drift that no change of this plan reverts; other drift is marked at its change. */
function driftSection(plan: PlanView, colors: Colors): readonly string[] {
  if (plan.shown.drift.length === 0) return [];
  const changed = new Set(plan.touching.map(({ address }) => address));
  const rest = plan.shown.drift.filter((item) => !changed.has(item.address));
  const declared = new Set(
    plan.allChanges.filter(({ action }) => action !== "report").map((change) => change.address),
  );
  const section = (title: string, drift: readonly DriftItem[]) =>
    drift.length === 0 ? [] : [colors.bold(title), ...driftLines(drift, colors)];
  const isDeclared = ({ address }: DriftItem) => declared.has(address);
  return [
    ...section("Drift that already matches the spec:", rest.filter(isDeclared)),
    ...section(
      "Drift that this plan does not fix:",
      rest.filter((item) => !isDeclared(item)),
    ),
  ];
}

/** Unmanaged objects, a few by name: by kind, and nested ones by their parent. */
function unmanagedSection(plan: PlanView, colors: Colors): readonly string[] {
  const groups = Map.groupBy(plan.shown.unmanaged, (item) => item.group);
  const lines = [...groups].map(
    ([group, all]) =>
      `${printable(group)} (${listed(
        all.map((item) => printable(item.name)),
        "and",
        5,
      )})`,
  );
  const head = "Unmanaged:";
  const [only, ...more] = lines;
  if (only === undefined) return [];
  return (more.length === 0 ? [`${head} ${only}.`] : [head, ...lines.map((line) => `  ${line}`)]).map(
    colors.dim,
  );
}

/** A section for each finding: an empty line separates them. */
type Sections = readonly (readonly string[])[];

function diagnosticSections(plan: PlanView, colors: Colors, notes: readonly Diagnostic[]): Sections {
  return [
    ...findingSections([...notes, ...plan.diagnostics], colors),
    ...plan.guards.map(({ diagnostic }) => [diagnosticText(diagnostic, colors).trimEnd()]),
  ];
}

function findingSections(all: readonly Diagnostic[], colors: Colors): Sections {
  const warnings = all.filter(({ severity }) => severity === "warning");
  const alike = Map.groupBy(warnings, ({ code, rule }) => rule?.name ?? code);
  const long = [...alike].filter(([, { length }]) => length > MOST_ALIKE);
  const omitted = new Set(long.flatMap(([, group]) => group.slice(MOST_ALIKE)));
  return [
    ...all
      .filter((diagnostic) => !omitted.has(diagnostic))
      .map((diagnostic) => [diagnosticText(diagnostic, colors).trimEnd()]),
    ...long.map(([name, { length }]) => {
      const more = count(length - MOST_ALIKE, "more warning");
      return [colors.dim(`… and ${more} of ${printable(name)}; \`-o json\` shows all`)];
    }),
  ];
}

function resolvedSection(split: SplitView | undefined, colors: Colors): readonly string[] {
  if (split === undefined || split.resolved.length === 0) return [];
  const head = `${ORIGIN_HEADS.resolved}: ${count(split.resolved.length, "change")} of ${printable(split.base)} no longer needed`;
  return [colors.bold(head), ...split.resolved.map((item) => colors.dim(`  ✓ ${resolvedSentence(item)}`))];
}

function hiddenSection(hidden: string | undefined, colors: Colors): readonly string[] {
  return hidden === undefined ? [] : [colors.dim(printable(hidden))];
}

function tableSection(plan: PlanView, colors: Colors): readonly string[] {
  return textTable(kindTable(plan.touching), {
    indent: "  ",
    head: colors.dim,
    right: (column) => column > 0,
  });
}

function summarySection(plan: PlanView, colors: Colors): readonly string[] {
  const { title, refusal, split } = plan;
  const compared = split === undefined ? [] : [colors.bold(split.title)];
  return [
    colors.bold(title),
    ...compared,
    ...(refusal === undefined ? [] : [colors.red(colors.bold(refusal))]),
  ];
}

/** Deletions are listed once more, in red, before the summary. */
function lossSection(plan: PlanView, colors: Colors): readonly string[] {
  const destroyed = plan.touching.filter((change) => change.destroys);
  if (destroyed.length === 0) return [];
  const names = destroyed.map((change) => printable(change.address));
  return [colors.red(`This plan destroys ${count(destroyed.length, "object")}: ${listed(names)}.`)];
}

function renamesSection(plan: PlanView): readonly string[] {
  const lines = movedLines(plan);
  if (lines.length === 0) return [];
  const advice =
    plan.modes.length === 0 ? "add this or run `workspace plan --write-moved`" : "add this to the spec";
  return [`To keep renamed resources, ${advice}:`, ...lines.map((line) => printable(`  ${line}`))];
}

/** Listed at the end as well, because the question of an apply follows. */
function revertSection(plan: PlanView, colors: Colors): readonly string[] {
  const reverting = plan.touching.filter(({ reverts }) => reverts.length > 0);
  if (reverting.length === 0) return [];
  const names = listed(reverting.map(({ address }) => printable(address)));
  return [
    colors.yellow(
      `This plan reverts acknowledged drift of ${count(reverting.length, "resource")}: ${names}.`,
    ),
  ];
}

/** `isOnlyOutput`: no other output shows the findings about the run. */
export function driftText(view: DriftView, colors: Colors, info?: RunInfo, isOnlyOutput = false): string {
  const { title, shown, hidden, diagnostics } = view;
  const findings = isOnlyOutput ? findingSections(diagnostics, colors) : [];
  const sections = [
    driftLines(shown, colors),
    hiddenSection(hidden, colors),
    ...findings,
    [colors.bold(title)],
    runLines(info, colors),
  ];
  return sectionsText(sections);
}
