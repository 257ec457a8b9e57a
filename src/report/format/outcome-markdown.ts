// The outcome of an apply as Markdown for a comment: what failed or was not tried, what was applied, and the plan.

import { count } from "../../core/sentences.ts";
import { findingDetails } from "../text/findings-markdown.ts";
import { markdownCode, markdownSentence, markupText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  type Section,
} from "../text/shorten-markdown.ts";
import type { OutcomeItem, OutcomeView } from "../view/outcome-view.ts";
import type { PlanView } from "../view/plan-view.ts";

import { changeBlock, findingSections, RANK } from "./plan-markdown.ts";

/** More than this many applied changes are collapsed. */
const FEW = 20;

export function outcomeMarkdown(outcome: OutcomeView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const applied = outcome.changes.filter((item) => item.result === "applied");
  const others = outcome.changes.filter((item) => item.result !== "applied");
  const diagnostics = [...outcome.notes, ...outcome.diagnostics];
  const sections: readonly Section[] = [
    ...findingSections(diagnostics, "error", info),
    ...findingSections(diagnostics, "warning", info),
    { rank: RANK.open, open: "", blocks: others.map((item) => otherBlock(item, info)) },
    appliedSection(applied),
    planSection(outcome.plan),
  ];
  return fittedMarkdown(markdownHead(outcome.title, info), sections, size);
}

function appliedSection(applied: readonly OutcomeItem[]): Section {
  const blocks = applied.map(
    ({ word, address }): Block => ({ what: "change", text: `- ${word} ${markdownCode(address)}\n` }),
  );
  if (blocks.length <= FEW) return { rank: RANK.complete, open: "", blocks };
  return collapsed(RANK.complete, `Applied: ${count(blocks.length, "change")}`, blocks);
}

function planSection(plan: PlanView | undefined): Section {
  // Each of these changes is also in the list of results.
  const blocks = (plan?.touching ?? []).map(
    (change): Block => ({ ...changeBlock(change), what: "planned change" }),
  );
  return collapsed(RANK.closed, markupText(plan?.title ?? ""), blocks);
}

/** The line says what kept a change from being tried; a change's own failure has a code, a place, a cause, and a hint below. */
function otherBlock(
  { result, action, address, finding, tried }: OutcomeItem,
  info: RunInfo | undefined,
): Block {
  const head = `- **${result}** ${action} ${markdownCode(address)}`;
  if (finding === undefined) return { what: "change", text: `${head}\n` };
  const line = `${head}: ${markdownSentence(finding.message)}`;
  if (!tried) return { what: "change", text: `${line}\n`, brief: `${head}\n` };
  const code = `  - ${finding.severity} ${markdownCode(finding.code)}`;
  const text = [line, code, ...findingDetails(finding, info)].join("\n");
  return { what: "change", text: `${text}\n`, brief: `${head}\n` };
}
