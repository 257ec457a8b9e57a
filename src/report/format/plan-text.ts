// A plan or drift as text for a terminal: access, the changes in order, drift, findings, losses, cost, and a summary line.
// The strings of fields and changes in a view are printable already; others are made printable here.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import { type Colors, diffPaint, type Paint, textTable } from "../text/terminal.ts";
import type { AccessLine } from "../view/access-view.ts";
import type { ChangeView } from "../view/change-view.ts";
import {
  areUnrecorded,
  authorText,
  type DriftItem,
  type DriftView,
  notedOnce,
  UNRECORDED_NOTE,
} from "../view/drift-view.ts";
import { type FieldLine, fieldNote } from "../view/field-lines.ts";
import { type ChangeGroup, foldChanges, groupNames, groupTitle } from "../view/fold.ts";
import {
  byOrigin,
  kindTable,
  movedLines,
  ORIGIN_HEADS,
  type PlanView,
  resolvedSentence,
  type SplitView,
} from "../view/plan-view.ts";

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

function changeBlocks(groups: readonly ChangeGroup[], colors: Colors): readonly string[] {
  const isNotedBelow = areUnrecorded(groups.map(([{ driftOrigin }]) => driftOrigin));
  const lines = spacedLines(
    groups.map((group) => ({ kind: group[0].kind, lines: groupLines(group, colors, { isNotedBelow }) })),
  );
  if (isNotedBelow) lines.push("", colors.dim(UNRECORDED_NOTE));
  if (groups.some(({ length }) => length > 1))
    lines.push("", colors.dim("Equal changes are shown once; `--expand` shows each of them."));
  return lines;
}

/** The lines of changes or drift. An empty line separates kinds, and what has more than one line. */
function spacedLines(
  blocks: readonly { readonly kind: string; readonly lines: readonly string[] }[],
): string[] {
  return blocks.flatMap(({ kind, lines }, at) => {
    const before = blocks[at - 1];
    const isApart =
      before !== undefined && (before.kind !== kind || before.lines.length > 1 || lines.length > 1);
    return isApart ? ["", ...lines] : lines;
  });
}

/** So many of the equal changes are named; of changes of access each one, by its address. */
const MOST_NAMED = 5;

interface ChangeLineOptions {
  /** Whether contents are not shortened. */
  readonly isWhole?: boolean;
  /** Whether a line below says that the service does not record who made the changes. */
  readonly isNotedBelow?: boolean;
}

export function changeLines(
  view: ChangeView,
  colors: Colors,
  options?: ChangeLineOptions,
): readonly string[] {
  return groupLines([view], colors, options);
}

function groupLines(
  group: ChangeGroup,
  colors: Colors,
  { isWhole = false, isNotedBelow = false }: ChangeLineOptions = {},
): readonly string[] {
  const [view, ...others] = group;
  const paint = paintOf(view.action, colors);
  const members =
    view.severity === "security" ? group.map(memberText).join(", ") : groupNames(group, MOST_NAMED);
  // Members of a group share the remarks about what changes, and each has others about its object.
  const own = others.length === 0 ? view.remarks : [members, ...view.sharedRemarks];
  const remarkTexts = [...view.severityRemarks, ...own];
  const remarks = remarkTexts.length === 0 ? "" : colors.dim(`  (${remarkTexts.join("; ")})`);
  const author = authorText(view.driftOrigin, isNotedBelow);
  // The color of an alarm does not include the padding.
  const verb = view.action === "delete" ? `${colors.alarm(view.verb)}  ` : view.verb.padEnd(8);
  return [
    `  ${paint(view.sign)} ${paint(verb)} ${colors.bold(groupTitle(group))}${remarks}`,
    ...fieldBlock(view.fields, colors),
    ...contentBlock(isWhole ? view.wholeContent : view.content, colors),
    ...(author === "" ? [] : [colors.dim(`      drift: ${author}`)]),
    ...costLines(group, colors),
    ...view.otherReasons.map((reason) => colors.dim(`      because ${reason}`)),
    ...view.consequences.map((sentence) => `      ${colors.yellow("!")} ${sentence}`),
  ];
}

/** A member of equal changes of access, with what only it has: its former address, or its name. */
function memberText({ title, remarks, sharedRemarks }: ChangeView): string {
  const own = remarks.filter((text) => !sharedRemarks.includes(text));
  return own.length === 0 ? title : `${title} (${own.join("; ")})`;
}

/** Equal changes can differ in cost, if their pools do. */
function costLines([view, ...others]: ChangeGroup, colors: Colors): readonly string[] {
  if (view.cost === "" || others.some(({ cost }) => cost !== view.cost)) return [];
  return [`      ${colors.cyan("cost:")} ${others.length === 0 ? "" : "each "}${view.cost}`];
}

function paintOf(action: ChangeView["action"], colors: Colors): Paint {
  switch (action) {
    case "create":
      return colors.green;
    case "update":
      return colors.yellow;
    case "replace":
      return colors.magenta;
    case "delete":
      return colors.red;
    case "adopt":
    case "import":
    case "move":
    case "forget":
      return colors.cyan;
    case "compare":
      return colors.yellow;
    case "noop":
    case "report":
      return colors.dim;
  }
  return action satisfies never;
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

const SIGNS = { changed: "~", gone: "-", appeared: "+" } as const;

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

export function driftLines(drift: readonly DriftItem[], colors: Colors): readonly string[] {
  const { items, note } = notedOnce(drift);
  const lines = spacedLines(items.map((item) => ({ kind: item.kind, lines: driftItemLines(item, colors) })));
  return note === "" ? lines : [...lines, "", colors.dim(note)];
}

function driftItemLines(item: DriftItem, colors: Colors): readonly string[] {
  const remarks = item.remarks.length === 0 ? "" : `  (${item.remarks.join("; ")})`;
  return [
    `  ${colors.yellow(SIGNS[item.what])} ${colors.yellow(item.word.padEnd(8))} ${colors.bold(printable(item.address))}${colors.dim(remarks)}`,
    ...(item.author === "" ? [] : [colors.dim(`      ${item.author}`)]),
    ...fieldBlock(item.fields, colors),
    ...contentBlock(item.content, colors),
  ];
}

/** Labels longer than this push only their own line to the right. */
const LABEL_WIDTH = 44;

export function fieldBlock(lines: readonly FieldLine[], colors: Colors): readonly string[] {
  const rows = lines.map((line) => {
    const note = fieldNote(line);
    const end = note === "" ? "" : `  ${colors.magenta(`# ${note}`)}`;
    return [line.label, `${fieldValue(line, colors)}${end}`];
  });
  return textTable(rows, { indent: "      ", widest: LABEL_WIDTH });
}

function fieldValue(line: FieldLine, colors: Colors): string {
  if (line.sign === "+") return colors.green(`+ ${line.text}`);
  if (line.sign === "-") return colors.red(`- ${line.text}`);
  if (line.was === undefined) return line.text;
  return `${colors.red(line.was)} ${colors.dim("→")} ${colors.green(line.text)}`;
}

function contentBlock(lines: readonly string[], colors: Colors): readonly string[] {
  return lines.map((line) => `        ${diffPaint(line, colors, colors.dim)(line)}`);
}
