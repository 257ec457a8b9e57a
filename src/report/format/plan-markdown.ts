// A plan, drift, and the outcome of an apply as Markdown for a comment or the summary page of a job: dangerous changes in
// full, and the rest in collapsed sections.

import { count, grouped } from "../../core/sentences.ts";
import { summaryOf } from "../../planner/model/plan.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  findingDetails,
  findingQuote,
  fittedMarkdown,
  type Section,
} from "../text/markdown.ts";
import {
  markdownBlock,
  markdownCode,
  markdownSentence,
  markdownText,
  markupText,
  printable,
} from "../text/printable.ts";
import { markdownHead, markdownMarker, type RunInfo, runMarkdown } from "../text/run-info.ts";
import { PLANNED_ACTIONS, plannedCounts } from "../text/vocabulary.ts";
import type { ChangeView } from "../view/change-view.ts";
import type { DriftItem, DriftView } from "../view/drift-view.ts";
import type { FieldLine } from "../view/field-lines.ts";
import type { OutcomeItem, OutcomeView } from "../view/outcome-view.ts";
import { kindTable, ORIGIN_HEADS, type PlanView, resolvedSentence } from "../view/plan-view.ts";
import { severityNote } from "./plan-text.ts";

export function planMarkdown(plan: PlanView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const touching = plan.changes.filter((change) => change.touches);
  const shown = touching.filter((change) => change.origin !== "pending");
  const pending = touching.filter((change) => change.origin === "pending");
  const guarded = new Set<string>(plan.guards.flatMap((guard) => guard.addresses));
  const destroys = shown.filter((change) => change.destroys);
  const risky = shown.filter((change) => !change.destroys && isRisky(change, guarded));
  const rest = shown.filter((change) => !change.destroys && !isRisky(change, guarded));
  const sections = [
    findings(plan, "error"),
    expanded(plan.split === undefined ? "Destroys" : "Destroys, caused by this change", destroys),
    expanded("Needs attention", risky),
    findings(plan, "warning"),
    ...byKind(rest),
    collapsed(3, `${ORIGIN_HEADS.pending}: ${count(pending.length, "resource")}`, pending.map(changeBlock)),
    resolved(plan),
    drift(plan),
    unmanaged(plan),
  ];
  return fittedMarkdown(head(plan, info), sections, size);
}

/** Replaces what stays aside, has side effects, or is what a guard objects to. */
function isRisky(change: ChangeView, guarded: ReadonlySet<string>): boolean {
  return change.action === "replace" || change.consequences.length > 0 || guarded.has(change.address);
}

function head(plan: PlanView, info: RunInfo | undefined): string {
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
    ...table(plan),
  ]
    .map((part) => `${part}\n`)
    .join("\n");
}

function table({ changes }: PlanView): readonly string[] {
  const [titles, ...rows] = kindTable(changes, { changes: 1, kinds: 1 });
  if (titles === undefined) return [];
  const row = (cells: readonly string[]) => `| ${cells.map(printable).join(" | ")} |`;
  const summary = summaryOf(changes);
  const used = PLANNED_ACTIONS.filter((action) => summary[action] > 0);
  const total = ["**total**", ...used.map((action) => `**${grouped(summary[action])}**`)];
  const lines = [
    row(["kind", ...titles.slice(1)]),
    row(titles.map((_, at) => (at === 0 ? "---" : "--:"))),
    ...rows.map(row),
    ...(rows.length > 1 ? [row(total)] : []),
  ];
  return [lines.join("\n")];
}

function findings(plan: PlanView, severity: "error" | "warning"): Section {
  const all = [...plan.guards.map((guard) => guard.diagnostic), ...plan.diagnostics, ...plan.notes];
  const blocks = all.filter((diagnostic) => diagnostic.severity === severity).map(findingQuote);
  return { rank: severity === "error" ? 0 : 2, open: "", blocks };
}

function expanded(title: string, changes: readonly ChangeView[]): Section {
  return {
    rank: 1,
    open: `### ${title}: ${count(changes.length, "resource")}`,
    blocks: changes.map(changeBlock),
  };
}

function byKind(changes: readonly ChangeView[]): readonly Section[] {
  return [...Map.groupBy(changes, (change) => change.kind)].map(([kind, own]) => {
    const counts = plannedCounts(summaryOf(own)).join(", ");
    return collapsed(3, `<b>${markupText(kind)}</b>: ${counts}`, own.map(changeBlock));
  });
}

function resolved({ split }: PlanView): Section {
  const blocks = (split?.resolved ?? []).map(
    (resolvedItem): Block => ({
      what: "resolved change",
      text: `- ${markdownText(resolvedSentence(resolvedItem))}\n`,
    }),
  );
  return collapsed(3, `${ORIGIN_HEADS.resolved}: ${count(blocks.length, "resource")}`, blocks);
}

function drift(plan: PlanView): Section {
  // A change that reverts drift shows the diff of a string.
  const brief = plan.drift.map((driftItem) => ({ ...driftItem, content: [] }));
  const summary = `Drift since the last apply: ${count(brief.length, "resource")}`;
  return collapsed(4, summary, brief.map(driftBlock));
}

function unmanaged(plan: PlanView): Section {
  const blocks = plan.unmanaged.map(
    ({ address }): Block => ({ what: "unmanaged object", text: `- ${markdownCode(address)}\n` }),
  );
  return collapsed(5, `Unmanaged: ${count(blocks.length, "object")}`, blocks);
}

export function driftMarkdown(view: DriftView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const { title, drift, diagnostics, managed } = view;
  const verdict = drift.length === 0 && managed > 0 ? "No drift" : title;
  const sections: readonly Section[] = [
    { rank: 0, open: "", blocks: diagnostics.map(findingQuote) },
    { rank: 1, open: "", blocks: drift.map(driftBlock) },
  ];
  return fittedMarkdown(markdownHead(verdict, info), sections, size);
}

export function changeBlock(view: ChangeView): Block {
  const remarkTexts = [...severityNote(view), ...view.remarks];
  const remarks = remarkTexts.length === 0 ? "" : ` (${markdownText(remarkTexts.join("; "))})`;
  const head = `- **${view.verb}** ${markdownCode(view.address)}${remarks}`;
  const lines = [head];
  for (const sentence of view.consequences) lines.push(`  - ⚠ ${markdownSentence(sentence)}`);
  for (const reason of view.reasons) lines.push(`  - because ${markdownSentence(reason)}`);
  lines.push(...fence([...view.fields.flatMap(fieldDiff(view.action === "create")), ...view.content]));
  return block("change", head, lines);
}

/** The recorded value is on the left, the live one on the right. */
export function driftBlock(item: DriftItem): Block {
  const { address, verb, severity, fields, content, remark, origin } = item;
  const remarkTexts = [severity, remark, origin].filter((text) => text !== "").map(markdownText);
  const head = `- ${markdownCode(address)} ${verb} (${remarkTexts.join("; ")})`;
  return block("drifted resource", head, [head, ...fence([...fields.flatMap(fieldDiff(false)), ...content])]);
}

function block(what: string, head: string, lines: readonly string[]): Block {
  const text = `${lines.join("\n")}\n`;
  return lines.length === 1 ? { what, text } : { what, text, brief: `${head}\n` };
}

function fence(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", ...markdownBlock("diff", lines).map((line) => `  ${line}`), ""];
}

/** A longer pair of values takes two lines. */
const LONGEST_PAIR = 100;

/** Added lines have `+`, removed lines `-`, and changed lines `!`: these signs have colors in a `diff` block. */
function fieldDiff(isNew: boolean): (line: FieldLine) => readonly string[] {
  return ({ label, sign, was, text, note }) => {
    const name = label === "" ? "" : `${label}: `;
    const end = note === undefined ? "" : `  # ${note}`;
    if (sign !== undefined) return [`${sign} ${name}${text}${end}`];
    if (was === undefined) return [`${isNew ? "+" : " "} ${name}${text}${end}`];
    if (was.length + text.length <= LONGEST_PAIR) return [`! ${name}${was} → ${text}${end}`];
    return [`- ${name}${was}`, `+ ${name}${text}${end}`];
  };
}

/** More than this many applied changes are collapsed. */
const FEW = 20;

export function outcomeMarkdown(outcome: OutcomeView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const applied = outcome.changes.filter((outcomeItem) => outcomeItem.result === "applied");
  const others = outcome.changes.filter((outcomeItem) => outcomeItem.result !== "applied");
  const diagnostics = [...outcome.notes, ...outcome.diagnostics];
  const sections: readonly Section[] = [
    { rank: 0, open: "", blocks: diagnostics.map(findingQuote) },
    { rank: 1, open: "", blocks: others.map(otherBlock) },
    appliedSection(applied),
    planSection(outcome.plan),
  ];
  return fittedMarkdown(markdownHead(outcome.title, info), sections, size);
}

function appliedSection(applied: readonly OutcomeItem[]): Section {
  const blocks = applied.map(
    ({ word, address }): Block => ({ what: "change", text: `- ${word} ${markdownCode(address)}\n` }),
  );
  if (blocks.length <= FEW) return { rank: 2, open: "", blocks };
  return collapsed(2, `Applied: ${count(blocks.length, "change")}`, blocks);
}

function planSection(plan: PlanView | undefined): Section {
  const touching = (plan?.changes ?? []).filter((change) => change.touches);
  // Each of these changes is also in the list of results.
  const blocks = touching.map((change): Block => ({ ...changeBlock(change), what: "planned change" }));
  return collapsed(3, markupText(plan?.title ?? ""), blocks);
}

/** The line says what kept a change from being tried; a change's own failure has a code, a place, a cause, and a hint below. */
function otherBlock({ result, action, address, finding, tried }: OutcomeItem): Block {
  const head = `- **${result}** ${action} ${markdownCode(address)}`;
  if (finding === undefined) return { what: "change", text: `${head}\n` };
  const line = `${head}: ${markdownSentence(finding.message)}`;
  if (!tried) return { what: "change", text: `${line}\n`, brief: `${head}\n` };
  const code = `  - ${finding.severity} ${markdownCode(finding.code)}`;
  const text = [line, code, ...findingDetails(finding)].join("\n");
  return { what: "change", text: `${text}\n`, brief: `${head}\n` };
}
