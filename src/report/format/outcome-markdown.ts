// The outcome of an apply as Markdown for a comment: what failed or was not tried, what was applied, and the plan.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, firstFew } from "../../core/sentences.ts";
import { findingDetails, findingQuote, findingSections, nextLines } from "../text/findings-markdown.ts";
import { markdownCode, markdownSentence, markdownText, markupText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  RANK,
  type Section,
} from "../text/shorten-markdown.ts";
import type { ChangeView } from "../view/change-view.ts";
import { isAccessChange, kindCounts } from "../view/fold.ts";
import { nextOfOutcome } from "../view/next-step.ts";
import { type OutcomeItem, type OutcomeView, sharedCauses } from "../view/outcome-view.ts";
import type { PlanView } from "../view/plan-view.ts";
import { changeBlock, names } from "./change-markdown.ts";

/** A cause names so many changes. */
const MOST_NAMED = 5;

/** More than this many applied changes are collapsed. */
const FEW = 20;

export function outcomeMarkdown(outcome: OutcomeView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const applied = outcome.changes.filter((item) => item.result === "applied");
  const others = outcome.changes.filter((item) => item.result !== "applied");
  const diagnostics = [...outcome.notes, ...outcome.diagnostics];
  const causes = sharedCauses(others);
  const explained = [...causes.values()].flat();
  const isExplained = new Set(explained);
  const alone = others.filter((item) => !isExplained.has(item));
  const sections: readonly Section[] = [
    { rank: RANK.open, open: "", blocks: [...causes].map(([cause, own]) => causeBlock(cause, own)) },
    ...findingSections(diagnostics, "error", info),
    ...findingSections(diagnostics, "warning", info),
    { rank: RANK.open, open: "", blocks: alone.map((item) => otherBlock(item, info)) },
    appliedRows(applied, outcome.plan),
    explainedSection(explained),
    appliedSection(applied),
    planSection(outcome.plan),
  ];
  const next = nextLines(nextOfOutcome(outcome, info)).map((line) => `${line}\n`);
  const head = [markdownHead(outcome.heading, info), ...next].join("\n");
  return fittedMarkdown(head, sections, size);
}

/** The cause of several failures, once. */
function causeBlock(cause: Diagnostic, items: readonly OutcomeItem[]): Block {
  const { text } = findingQuote(cause);
  const names = firstFew(items, MOST_NAMED, ({ address }) => markdownCode(address));
  return { what: "finding", text: `${text.trimEnd()}\n>\n> Changes: ${names}\n\n` };
}

function explainedSection(items: readonly OutcomeItem[]): Section {
  const blocks = items.map(
    ({ result, action, address }): Block => ({
      what: "change",
      text: `- **${result}** ${action} ${markdownCode(address)}\n`,
    }),
  );
  return collapsed(RANK.complete, `Not applied for these causes: ${count(blocks.length, "change")}`, blocks);
}

/** The destroyed objects and the changes of access of an apply are in no closed block. */
function appliedRows(applied: readonly OutcomeItem[], plan: PlanView | undefined): Section {
  const done = new Set(applied.map(({ action, address }) => `${action} ${address}`));
  const changes = (plan?.touching ?? []).filter(({ action, address }) => done.has(`${action} ${address}`));
  const row = (label: string, own: readonly ChangeView[]): readonly Block[] =>
    own.length === 0
      ? []
      : [
          {
            what: "line of the summary",
            text: `- **${label}**: ${markdownText(kindCounts(own))} (${names(own, MOST_NAMED)})\n`,
          },
        ];
  const blocks = [
    ...row(
      "Destroyed",
      changes.filter((change) => change.destroys),
    ),
    ...row(
      "Access",
      changes.filter((change) => !change.destroys && isAccessChange(change)),
    ),
  ];
  return { rank: RANK.open, open: "", blocks };
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
