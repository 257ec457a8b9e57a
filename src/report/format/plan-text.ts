// A plan as text for a terminal: `planText` lists the sections in their order.
// What a view has for readers is printable already: titles, fields, changes, and access. What JSON also needs unchanged, such as addresses,
// names, and the base, is made printable here.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, firstFew, listed } from "../../core/sentences.ts";
import { diagnosticTexts } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import { type Colors, textTable } from "../text/terminal.ts";
import { type AccessLine, shownAccess } from "../view/access-view.ts";
import { destroysIn, foldChanges, kindCounts } from "../view/change-groups.ts";
import type { DriftItem } from "../view/drift-view.ts";
import {
  byOrigin,
  kindTable,
  MANY_ROWS,
  movedLines,
  ORIGIN_HEADS,
  type PlanView,
  resolvedSentence,
  type SplitView,
} from "../view/plan-view.ts";
import { changeBlocks, driftLines } from "./change-text.ts";

/** `showsNotes`: also the findings about the run, for where standard error does not show them. */
export function planText(plan: PlanView, colors: Colors, info?: RunInfo, showsNotes = false): string {
  const sections = [
    ...longPlanStart(plan, colors),
    accessSection(plan, colors),
    changesSection(plan, colors),
    driftSection(plan, colors),
    unmanagedSection(plan, colors),
    hiddenSection(plan.shown.hidden, colors),
    ...diagnosticSections(plan, colors, showsNotes ? plan.notes : []),
    resolvedSection(plan.split, colors),
    tableSection(plan, colors),
    destroysSection(plan, colors),
    revertSection(plan, colors),
    costSection(plan),
    renamesSection(plan),
    summarySection(plan, colors),
    runLines(info, colors),
  ];
  return sectionsText(sections);
}

/** The sections that have lines, an empty line between them. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** The summary without its comparison with a base, and what the plan destroys: at the start, too, where the end is screens away. */
function longPlanStart(plan: PlanView, colors: Colors): readonly (readonly string[])[] {
  return plan.touching.length < MANY_ROWS
    ? []
    : [summarySection({ ...plan, split: undefined }, colors), destroysSection(plan, colors)];
}

/** A line with several items has a row for each, and one for its head. */
const MOST_ACCESS_ROWS = 40;

/** The rights that users, groups, and service principals gain and lose. Above the changes, because it matters more. */
function accessSection({ access, expand }: PlanView, colors: Colors): readonly string[] {
  if (access === undefined) return [];
  const { shown, isShortened } = expand
    ? { shown: access.allLines, isShortened: false }
    : shownAccess(access, MOST_ACCESS_ROWS);
  return [
    colors.bold(`${access.title}.`),
    ...shown.flatMap((line) => accessLines(line, colors)),
    ...(isShortened ? [colors.dim("  `--expand` shows each right on each object")] : []),
    ...access.notCompared.map((what) => colors.dim(`  not compared: ${what}`)),
  ];
}

function accessLines({ sign, head, items }: AccessLine, colors: Colors): readonly string[] {
  const paint = sign === "+" ? colors.green : colors.red;
  const [only] = items;
  if (items.length === 1 && only !== undefined) return [`  ${paint(sign)} ${colors.bold(head)}: ${only}`];
  return [`  ${paint(sign)} ${colors.bold(head)}:`, ...items.map((item) => `      ${item}`)];
}

/** The changes in the order of the plan; compared with a base, those that the difference to the base causes come first. */
function changesSection(plan: PlanView, colors: Colors): readonly string[] {
  const touching = plan.shown.changes.filter((change) => change.touches);
  return byOrigin(touching, plan.split).flatMap(({ head, changes }, at) => [
    ...(at === 0 ? [] : [""]),
    ...(head === undefined ? [] : [colors.bold(`${head}:`)]),
    // A terminal has no closed blocks, so equal changes of access are a group, too.
    ...changeBlocks(foldChanges(changes, { expand: plan.expand, foldsAccess: true }), colors),
  ]);
}

/** Drift that no change of this plan reverts; other drift is marked at its change. */
function driftSection(plan: PlanView, colors: Colors): readonly string[] {
  if (plan.shown.drift.length === 0) return [];
  // Also of changes that `--show` and `--hide` leave out.
  const actions = new Map(plan.touching.map(({ address, action }) => [address, action]));
  const rest = plan.shown.drift.filter(({ address, isInSpec }) => {
    const action = actions.get(address);
    return action === undefined || (isInSpec && action !== "forget");
  });
  const section = (title: string, drift: readonly DriftItem[]) =>
    drift.length === 0 ? [] : [colors.bold(title), ...driftLines(drift, colors)];
  return [
    ...section(
      "Drift that already matches the spec:",
      rest.filter(({ isInSpec }) => isInSpec),
    ),
    ...section(
      "Drift that this plan does not fix:",
      rest.filter(({ isInSpec }) => !isInSpec),
    ),
  ];
}

const MOST_UNMANAGED_NAMES = 5;

/** Unmanaged objects, a few by name: by kind, and nested ones by their parent. */
function unmanagedSection(plan: PlanView, colors: Colors): readonly string[] {
  const groups = Map.groupBy(plan.shown.unmanaged, (item) => item.group);
  const lines = [...groups].map(
    ([group, all]) =>
      `${printable(group)} (${listed(
        all.map((item) => printable(item.name)),
        "and",
        MOST_UNMANAGED_NAMES,
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
function diagnosticSections(
  plan: PlanView,
  colors: Colors,
  notes: readonly Diagnostic[],
): readonly (readonly string[])[] {
  const guards = plan.guards.map(({ diagnostic }) => diagnostic);
  return findingTexts([...notes, ...plan.diagnostics, ...guards], colors);
}

export const findingTexts = (all: readonly Diagnostic[], colors: Colors) =>
  diagnosticTexts(all, colors).map((text) => [text.trimEnd()]);

/** What the plan of the base has and this one does not. */
function resolvedSection(split: SplitView | undefined, colors: Colors): readonly string[] {
  if (split === undefined || split.resolved.length === 0) return [];
  const head = `${ORIGIN_HEADS.resolved}: ${count(split.resolved.length, "change")} of ${printable(split.base)} no longer needed`;
  return [colors.bold(head), ...split.resolved.map((item) => colors.dim(`  ✓ ${resolvedSentence(item)}`))];
}

/** How many rows `--show` and `--hide` leave out. */
export function hiddenSection(hidden: string | undefined, colors: Colors): readonly string[] {
  return hidden === undefined ? [] : [colors.dim(printable(hidden))];
}

/** Of a large plan, the numbers of changes by kind and action. */
function tableSection(plan: PlanView, colors: Colors): readonly string[] {
  return textTable(kindTable(plan.touching, { changes: MANY_ROWS, kinds: 2 }), {
    indent: "  ",
    head: colors.dim,
    right: (column) => column > 0,
  });
}

/** The numbers of changes, those of the comparison with a base, and why the plan cannot be applied. */
function summarySection({ title, split, refusal }: PlanView, colors: Colors): readonly string[] {
  return [
    colors.bold(title),
    ...(split === undefined ? [] : [colors.bold(split.title)]),
    ...(refusal === undefined ? [] : [colors.red(colors.bold(refusal))]),
  ];
}

/** More objects have a line for each kind. */
const MOST_IN_SENTENCE = 10;

/** The width of `replace`, the longest verb here, and of a space. */
const VERB_COLUMN = 8;

/** Deletions and replacements are listed once more, in red, before the summary. */
function destroysSection({ touching }: PlanView, colors: Colors): readonly string[] {
  const destroyed = destroysIn(touching);
  if (destroyed.length === 0) return [];
  const head = `This plan destroys ${count(destroyed.length, "object")}`;
  if (destroyed.length <= MOST_IN_SENTENCE)
    return [colors.red(`${head}: ${listed(destroyed.map(({ address }) => printable(address)))}.`)];
  const alike = Map.groupBy(destroyed, ({ kind, verb }) => `${verb} ${kind}`);
  const lines = [...alike.values()].map((group) => {
    const names = firstFew(group, MOST_IN_SENTENCE, ({ address }) => printable(address));
    return `  ${group[0]?.verb.padEnd(VERB_COLUMN)} ${kindCounts(group)}: ${names}`;
  });
  return [`${head}:`, ...lines].map(colors.red);
}

function costSection({ costTotal }: PlanView): readonly string[] {
  return costTotal === undefined ? [] : [printable(`Cost of these changes: ${costTotal}`)];
}

/** The `moved` entries that would keep objects whose resource was renamed in the spec. */
function renamesSection(plan: PlanView): readonly string[] {
  const lines = movedLines(plan);
  if (lines.length === 0) return [];
  // With a mode, the plan is untrusted or offline, and such a plan writes no entries.
  const advice =
    plan.modes.length === 0 ? "add this or run `workspace plan --write-moved`" : "add this to the spec";
  return [`To keep renamed resources, ${advice}:`, ...lines.map((line) => printable(`  ${line}`))];
}

/** Marked at each change; here once more, because the question of an apply follows. */
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
