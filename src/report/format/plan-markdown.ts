// A plan or drift as Markdown for a comment or the summary page of a job: dangerous changes in
// full, and the rest in collapsed sections.

import { CODES } from "../../core/codes.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, firstFew, grouped } from "../../core/sentences.ts";
import { summaryOf } from "../../planner/model/plan.ts";
import { type DiagnosticGroup, foldDiagnostics } from "../text/diagnostic-text.ts";
import { findingQuote, nextLines } from "../text/findings-markdown.ts";
import {
  markdownBlock,
  markdownCode,
  markdownSentence,
  markdownText,
  markupText,
  printable,
} from "../text/printable.ts";
import { markdownHead, markdownMarker, type RunInfo, runMarkdown } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  type Section,
} from "../text/shorten-markdown.ts";
import { PLANNED_ACTIONS, plannedCounts } from "../text/vocabulary.ts";
import { type AccessLine, openAccess } from "../view/access-view.ts";
import type { ChangeView } from "../view/change-view.ts";
import type { DriftView } from "../view/drift-view.ts";
import {
  destroysIn,
  foldChanges,
  foldEffects,
  isAccessChange,
  isCostChange,
  kindCounts,
} from "../view/fold.ts";
import { nextOfDrift, nextOfPlan } from "../view/next-step.ts";
import { kindTable, movedLines, ORIGIN_HEADS, type PlanView, resolvedSentence } from "../view/plan-view.ts";
import {
  block,
  changeBlock,
  diffOf,
  driftBlocks,
  equalBlock,
  groupBlock,
  MOST_BELOW,
  MOST_LINES,
  MOST_OPEN,
  NAMED_IN_LINE,
  names,
} from "./change-markdown.ts";

/** The order in which sections keep their place in a report that is too long. `complete`: what an open section shortened. */
export const RANK = {
  errors: 0,
  open: 1,
  warnings: 2,
  complete: 2,
  closed: 3,
  drift: 4,
  unmanaged: 5,
} as const;

export function planMarkdown(plan: PlanView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const touching = plan.shown.changes.filter((change) => change.touches);
  const shown = touching.filter((change) => change.origin !== "pending");
  const pending = touching.filter((change) => change.origin === "pending");
  const guarded = new Set<string>(plan.guards.flatMap((guard) => guard.addresses));
  const destroys = destroysIn(shown);
  const access = shown.filter((change) => !change.destroys && isAccessChange(change));
  const rest = shown.filter((change) => !change.destroys && !isAccessChange(change));
  const risky = rest.filter((change) => isRisky(change, guarded));
  // Destroys and access changes have half of the open places each, or more if the other needs fewer.
  const half = MOST_OPEN / 2;
  const destroyed = opened("Destroys", plan, destroys, Math.max(half, MOST_OPEN - access.length));
  const permitted = opened("Access", plan, access, Math.max(half, MOST_OPEN - destroys.length));
  const left = MOST_OPEN - destroyed.number - permitted.number;
  const urgent = opened("Needs attention", plan, risky, Math.max(0, left));
  const isRiskyChange = new Set(risky);
  const others = rest.filter((change) => !isRiskyChange.has(change));
  const all = [...plan.guards.map(({ diagnostic }) => diagnostic), ...plan.diagnostics, ...plan.notes];
  const sections = [
    ...findingSections(all, "error", info),
    ...accessSections(plan),
    destroyed.section,
    permitted.section,
    urgent.section,
    ...findingSections(all, "warning", info),
    ...renamed(plan),
    completeSection("All destroys", destroys, destroyed),
    completeSection("All access changes", access, permitted),
    completeSection("All that need attention", risky, urgent),
    ...byKind(others, plan),
    collapsed(
      RANK.closed,
      `${ORIGIN_HEADS.pending}: ${count(pending.length, "resource")}`,
      foldChanges(pending, plan).map((group) => groupBlock(group)),
    ),
    table(plan),
    resolved(plan),
    drift(plan),
    unmanaged(plan),
  ];
  return fittedMarkdown(head(plan, info, new Set(destroys.slice(0, destroyed.number))), sections, size);
}

function renamed(plan: PlanView): readonly Section[] {
  const lines = movedLines(plan).map(printable);
  if (lines.length === 0) return [];
  const title = "To keep renamed resources, add this to the spec";
  const yaml = markdownBlock("yaml", lines).join("\n");
  const blockOf = (text: string): readonly Block[] => [{ what: "likely renames", text: `${text}\n` }];
  if (lines.length > MOST_OPEN) return [collapsed(RANK.open, title, blockOf(`\n${yaml}`))];
  return [{ rank: RANK.open, open: "", blocks: blockOf(`${title}:\n\n${yaml}`) }];
}

/** Replaces what stays aside, has side effects, or is what a guard objects to. */
function isRisky(change: ChangeView, guarded: ReadonlySet<string>): boolean {
  return change.action === "replace" || change.consequences.length > 0 || guarded.has(change.address);
}

function head(plan: PlanView, info: RunInfo | undefined, destroyedBelow: ReadonlySet<ChangeView>): string {
  const { title, refusal, host, modes } = plan;
  const about =
    info === undefined
      ? [`Workspace ${markdownCode(host)}`, ...modes].join(" · ")
      : runMarkdown({ ...info, host, modes }).trimEnd();
  const compared = plan.split === undefined ? [] : [markdownText(plan.split.title)];
  const refused = refusal === undefined ? [] : [`> [!CAUTION]\n> **${markdownText(refusal)}**`];
  return [
    markdownMarker(info?.target),
    `## ${markdownText(title)}`,
    ...compared,
    ...refused,
    about,
    ...glanceLines(plan, destroyedBelow, info),
    ...hiddenLines(plan.shown.hidden),
  ]
    .map((part) => `${part}\n`)
    .join("\n");
}

function hiddenLines(hidden: string | undefined): readonly string[] {
  return hidden === undefined ? [] : [`_${markdownText(hidden)}_`];
}

/** What the plan destroys and costs, and its side effects, without those of a single change of `destroyedBelow`. */
function glanceLines(
  plan: PlanView,
  destroyedBelow: ReadonlySet<ChangeView>,
  info: RunInfo | undefined,
): readonly string[] {
  const { touching, costTotal, summary } = plan;
  const { compare } = summary;
  const cost = touching.filter(isCostChange);
  const destroys = destroysIn(touching);
  const effects = foldEffects(touching).filter(
    ({ changes: [change, ...others] }) => others.length > 0 || !destroyedBelow.has(change),
  );
  const sentences = effects
    .slice(0, NAMED_IN_LINE)
    .map(({ subject, sentence }) => `${markdownText(subject)}: ${markdownSentence(sentence)}`);
  const more = effects.length - sentences.length;
  const costParts = [
    ...(costTotal === undefined ? [] : [markdownText(costTotal)]),
    ...(cost.length === 0 ? [] : [`${markdownText(kindCounts(cost))} (${names(cost, NAMED_IN_LINE)})`]),
  ];
  // The section of what is destroyed names a small number.
  const lines = [
    ...(destroys.length <= NAMED_IN_LINE
      ? []
      : [`- **Destroys**: ${markdownText(kindCounts(destroys))} (${names(destroys, NAMED_IN_LINE)})`]),
    ...(costParts.length === 0 ? [] : [`- **Cost**: ${costParts.join(" ")}`]),
    ...(compare === 0 ? [] : [`- **Secrets not compared**: ${grouped(compare)}`]),
    ...(effects.length === 0
      ? []
      : [`- **Side effects**: ${sentences.join("; ")}${more === 0 ? "" : `; and ${count(more, "more")}`}`]),
    ...nextLines(nextOfPlan(plan, info)),
  ];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function table({ touching }: PlanView): Section {
  const [titles, ...rows] = kindTable(touching, { changes: 2, kinds: 2 });
  if (titles === undefined) return collapsed(RANK.closed, "", []);
  const row = (cells: readonly string[]) => `| ${cells.map(printable).join(" | ")} |`;
  const summary = summaryOf(touching);
  const used = PLANNED_ACTIONS.filter((action) => summary[action] > 0);
  const total = ["**total**", ...used.map((action) => `**${grouped(summary[action])}**`)];
  const lines = [
    "",
    row(["kind", ...titles.slice(1)]),
    row(titles.map((_, at) => (at === 0 ? "---" : "--:"))),
    ...rows.map(row),
    row(total),
    "",
  ];
  // The numbers of a long plan stay when its changes are left out.
  return collapsed(RANK.open, "By kind", [{ what: "table", text: lines.join("\n") }]);
}

/** Groups of findings with one code; the first are open. */
const MOST_FINDINGS = { error: 5, warning: 3 } as const;

export function findingSections(
  all: readonly Diagnostic[],
  severity: "error" | "warning",
  info: RunInfo | undefined,
): readonly Section[] {
  const groups = foldDiagnostics(all.filter((diagnostic) => diagnostic.severity === severity));
  const rank = severity === "error" ? RANK.errors : RANK.warnings;
  const most = MOST_FINDINGS[severity];
  const blockOf = (group: DiagnosticGroup) => findingBlock(group, info);
  const rest = groups.slice(most).map(blockOf);
  const alike = groups.filter(({ length }) => length > 1);
  return [
    { rank, open: "", blocks: groups.slice(0, most).map(blockOf) },
    collapsed(rank, `${count(rest.length, `more ${severity}`)}`, rest),
    ...alike.map((group) =>
      collapsed(
        RANK.closed,
        `All ${count(group.length, severity)} ${markupText(group[0].code)}`,
        group.map((diagnostic) => findingQuote(diagnostic, info)),
      ),
    ),
  ];
}

function findingBlock(group: DiagnosticGroup, info: RunInfo | undefined): Block {
  const [first, ...others] = group;
  if (others.length === 0) return findingQuote(first, info);
  const about = group.flatMap(({ address }) => (address === undefined ? [] : [markdownCode(address)]));
  const which = about.length === 0 ? "" : `: ${firstFew(about, NAMED_IN_LINE)}`;
  const sentence = markdownSentence((CODES[first.code] ?? first.message).replace(/\.$/, ""));
  const text = `> **${count(group.length, first.severity)}** ${markdownCode(first.code)} ${sentence}${which}\n\n`;
  return { what: "finding", text };
}

/** Above the changes: what people can do matters more than how a change is written. */
function accessSections({ access }: PlanView): readonly Section[] {
  if (access === undefined) return [];
  const { open, isShortened } = openAccess(access, MOST_OPEN);
  const all = isShortened ? access.allLines : [];
  const number = all.reduce((sum, { items }) => sum + items.length, 0);
  const notes = access.notCompared.map(
    (what): Block => ({ what: "note about access", text: `- not compared: ${markdownText(what)}\n` }),
  );
  return [
    {
      rank: RANK.open,
      open: `### ${markdownText(access.title)}`,
      blocks: [...open.map(accessBlock), ...notes],
    },
    collapsed(RANK.complete, `All: ${count(number, "right")}`, all.map(accessBlock)),
  ];
}

function accessBlock({ verb, head, items }: AccessLine): Block {
  const [only] = items;
  const start = `- **${verb}** ${markdownText(head)}`;
  if (items.length === 1 && only !== undefined)
    return block("right", start, [`${start}: ${markdownText(only)}`]);
  return block("right", `${start}: ${count(items.length, "right")}`, [
    `${start}:`,
    ...items.map((item) => `  - ${markdownText(item)}`),
  ]);
}

/** `groups.a` (`+ members.users: ada@example.com`), `groups.b` (…): no right is only in a closed block. */
function withDifferences(changes: readonly ChangeView[]): string {
  const parts = changes.map((change) => {
    const lines = diffOf(change, false).slice(0, MOST_LINES).map(markdownCode);
    return lines.length === 0 ? names([change], 1) : `${names([change], 1)} (${lines.join(", ")})`;
  });
  return parts.join(", ");
}

interface Opened {
  readonly section: Section;
  /** How many changes, or groups of equal ones, have a block of their own. */
  readonly number: number;
  /** Whether something of the changes is not in the section. */
  readonly isShortened: boolean;
}

/** The first `most` changes or groups with their differences, and the others by name, a line for each kind and action. */
function opened(title: string, plan: PlanView, changes: readonly ChangeView[], most: number): Opened {
  const folding = { expand: plan.expand, foldsAccess: true };
  const groups = foldChanges(changes, folding);
  const shown = groups.slice(0, most);
  const rest = Map.groupBy(groups.slice(most).flat(), ({ verb, kind }) => `${verb} ${kind}`);
  const lines = [...rest.values()].map((own): Block => {
    const [equal, ...others] = foldChanges(own, folding);
    if (equal !== undefined && equal.length > 1 && others.length === 0) return equalBlock(equal);
    const [first] = own;
    const named =
      own.length <= MOST_OPEN && own.every(isAccessChange) ? withDifferences(own) : names(own, MOST_BELOW);
    const text = `- **${first?.verb ?? ""}** ${markdownText(kindCounts(own))}: ${named}\n`;
    return { what: "change", text };
  });
  const blocks = shown.map((group) =>
    group.length === 1 ? changeBlock(group[0], MOST_LINES) : equalBlock(group),
  );
  const caused = plan.split === undefined ? "" : ", caused by this change";
  return {
    section: {
      rank: RANK.open,
      open: `### ${title}${caused}: ${count(changes.length, "resource")}`,
      blocks: [...blocks, ...lines],
    },
    number: shown.length,
    isShortened:
      lines.length > 0 || shown.some((group) => group.length > 1 || diffOf(group[0]).length > MOST_LINES),
  };
}

/** What an open section shortened. */
function completeSection(title: string, changes: readonly ChangeView[], { isShortened }: Opened): Section {
  const blocks = isShortened ? changes.map((change) => changeBlock(change)) : [];
  return collapsed(RANK.complete, `${title}: ${count(blocks.length, "resource")}`, blocks);
}

function byKind(changes: readonly ChangeView[], { expand }: PlanView): readonly Section[] {
  return [...Map.groupBy(changes, (change) => change.kind)].map(([kind, own]) => {
    const counts = plannedCounts(summaryOf(own)).join(", ");
    return collapsed(
      RANK.closed,
      `<b>${markupText(kind)}</b>: ${counts}`,
      foldChanges(own, { expand }).map((group) => groupBlock(group)),
    );
  });
}

function resolved({ split }: PlanView): Section {
  const blocks = (split?.resolved ?? []).map(
    (item): Block => ({ what: "resolved change", text: `- ${markdownText(resolvedSentence(item))}\n` }),
  );
  return collapsed(RANK.closed, `${ORIGIN_HEADS.resolved}: ${count(blocks.length, "resource")}`, blocks);
}

function drift(plan: PlanView): Section {
  const { drift } = plan.shown;
  const summary = `Drift since the last apply: ${count(drift.length, "resource")}`;
  return collapsed(RANK.drift, summary, driftBlocks(drift));
}

function unmanaged(plan: PlanView): Section {
  const blocks = plan.shown.unmanaged.map(
    ({ address }): Block => ({ what: "unmanaged object", text: `- ${markdownCode(address)}\n` }),
  );
  return collapsed(RANK.unmanaged, `Unmanaged: ${count(blocks.length, "object")}`, blocks);
}

export function driftMarkdown(view: DriftView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const { title, drift, shown, hidden, diagnostics, managed } = view;
  const verdict = drift.length === 0 && managed > 0 && view.ignoredFields === 0 ? "No drift" : title;
  const sections: readonly Section[] = [
    ...findingSections(diagnostics, "error", info),
    ...findingSections(diagnostics, "warning", info),
    { rank: RANK.open, open: "", blocks: driftBlocks(shown) },
  ];
  const lines = [...hiddenLines(hidden), ...nextLines(nextOfDrift(view, info))];
  const head = [markdownHead(verdict, info), ...lines.map((line) => `${line}\n`)].join("\n");
  return fittedMarkdown(head, sections, size);
}
