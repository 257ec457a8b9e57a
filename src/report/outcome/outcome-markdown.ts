// The outcome of an apply as Markdown for a comment or the summary page of a job: failures first, then the applied
// changes, collapsed.

import { count } from "../../core/sentences.ts";
import { changeBlock } from "../plan/plan-markdown.ts";
import type { PlanView } from "../plan/plan-view.ts";
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
import { markdownCode, markdownSentence, markupText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import type { OutcomeItem, OutcomeView } from "./outcome-view.ts";

/** More than this many applied changes are collapsed. */
const FEW = 20;

export function outcomeMarkdown(outcome: OutcomeView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const applied = outcome.changes.filter((one) => one.result === "applied");
  const others = outcome.changes.filter((one) => one.result !== "applied");
  const found = [...outcome.notes, ...outcome.diagnostics];
  const sections: readonly Section[] = [
    { rank: 0, open: "", blocks: found.map(findingQuote) },
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
