// A plan as Markdown for a pull request: what goes first, then the rest; cut where a comment would be, and said so.

import { count } from "../core/words.ts";
import type { Change } from "../planner/change.ts";
import type { Plan } from "../planner/plan.ts";
import type { Registry } from "../resource/registry.ts";
import { type ChangeView, changeView } from "./change-view.ts";
import { colorsFor } from "./color.ts";
import { driftText } from "./drift-text.ts";
import type { FieldLine } from "./field-lines.ts";
import { keptWithin, type Part } from "./markdown-fit.ts";
import { markdownBlock, markdownCode, markdownText, printable } from "./printable.ts";
import { destroys, kindTable, refusalLine, summaryLine } from "./summary.ts";

/** Comments of the large forges end at 65,536 characters. */
export const MARKDOWN_LIMIT = 65_000;

export function planMarkdown(plan: Plan, registry: Registry, limit = MARKDOWN_LIMIT): string {
  const shown = plan.changes.filter((change) => change.action !== "noop" && change.action !== "report");
  const losing = shown.filter(destroys);
  const rest = shown.filter((change) => !destroys(change));
  const parts: Part[] = [
    { what: "heading", text: heading(plan) },
    ...refusals(plan).map((text): Part => ({ what: "finding", text })),
    ...section("Destroys", losing, registry),
    { what: "table", text: table(plan) },
    ...section("Changes", rest, registry),
    ...drift(plan, registry),
    ...unmanaged(plan),
  ];
  return keptWithin(
    parts.filter((part) => part.text !== ""),
    limit,
  );
}

function heading(plan: Plan): string {
  const refusal = refusalLine(plan);
  const refused = refusal === undefined ? "" : `**${markdownText(refusal)}**\n\n`;
  return `## ${markdownText(summaryLine(plan))}\n\n${refused}Workspace ${markdownCode(plan.host)}\n`;
}

function refusals(plan: Plan): readonly string[] {
  return [...plan.guards.map((guard) => guard.diagnostic), ...plan.diagnostics].map((one) => {
    const hint = one.hint === undefined ? "" : ` — ${markdownText(one.hint)}`;
    const cause =
      one.code === "PLAN_IMMUTABLE" && one.cause !== undefined ? ` (${markdownText(one.cause)})` : "";
    return `> **${one.severity}** ${markdownCode(one.code)} ${markdownText(one.message)}${cause}${hint}\n`;
  });
}

function section(title: string, changes: readonly Change[], registry: Registry): readonly Part[] {
  if (changes.length === 0) return [];
  const head: Part = { what: "heading", text: `### ${title}: ${count(changes.length, "resource")}\n` };
  return [
    head,
    ...changes.map((change): Part => ({ what: "change", text: changeText(changeView(change, registry)) })),
  ];
}

function changeText(view: ChangeView): string {
  const remarks = view.remarks.length === 0 ? "" : ` (${markdownText(view.remarks.join("; "))})`;
  const lines = [`- **${view.verb}** ${markdownCode(view.address)}${remarks}`];
  for (const sentence of view.consequences) lines.push(`  - ⚠ ${markdownText(sentence)}`);
  for (const reason of view.reasons) lines.push(`  - because ${markdownText(reason)}`);
  const fields = [...view.fields.flatMap(diffLine), ...view.content];
  if (fields.length > 0) lines.push("", ...markdownBlock("diff", fields).map((line) => `  ${line}`), "");
  return `${lines.join("\n")}\n`;
}

/** In a `diff` block lines that begin with `-` and `+` are coloured. */
function diffLine(line: FieldLine): readonly string[] {
  const label = line.label === "" ? "" : `${line.label}: `;
  const note = line.note === undefined ? "" : `  # ${line.note}`;
  if (line.sign !== undefined) return [`${line.sign} ${label}${line.text}${note}`];
  if (line.was === undefined) return [`  ${label}${line.text}${note}`];
  return [`- ${label}${line.was}`, `+ ${label}${line.text}${note}`];
}

function table(plan: Plan): string {
  const [head, ...rows] = kindTable(plan.changes, 2);
  if (head === undefined) return "";
  const row = (cells: readonly string[]) => `| ${cells.map(printable).join(" | ")} |`;
  return `${[row(["kind", ...head.slice(1)]), row(head.map((_, at) => (at === 0 ? "---" : "--:"))), ...rows.map(row)].join("\n")}\n`;
}

function drift(plan: Plan, registry: Registry): readonly Part[] {
  if (plan.drift.length === 0) return [];
  // What changed in a text stands at the change that puts it right.
  const brief = plan.drift.map(({ content: _, ...one }) => one);
  const lines = driftText(brief, registry, colorsFor(false)).trimEnd().split("\n");
  return [
    {
      what: "drift",
      text: `### Changed outside since the last apply\n\n${markdownBlock("", lines).join("\n")}\n`,
    },
  ];
}

function unmanaged(plan: Plan): readonly Part[] {
  if (plan.unmanaged.length === 0) return [];
  const names = plan.unmanaged.map((one) => markdownCode(`${one.kind}.${one.name}`));
  const more = names.length > 50 ? `, and ${names.length - 50} more` : "";
  return [
    {
      what: "list of what is not managed",
      text: `Not in the spec and left alone: ${names.slice(0, 50).join(", ")}${more}.\n`,
    },
  ];
}
