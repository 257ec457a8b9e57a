// An answer as Markdown for a comment or an issue: facts, then sections, of which the long ones are collapsed.

import { count, sentenceCase } from "../../core/sentences.ts";
import { findingQuote } from "../text/findings-markdown.ts";
import { markdownCode, markdownSentence, markdownText, markupText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  type Section,
} from "../text/shorten-markdown.ts";
import {
  type AnswerFact,
  type AnswerItem,
  type AnswerSection,
  type AnswerView,
  headingOf,
  rightText,
} from "../view/answer-view.ts";
import { block, fence, fieldDiff } from "./change-markdown.ts";

/** A section with more items is collapsed. */
const FEW = 20;

export function answerMarkdown(
  { title, facts, sections }: AnswerView,
  info?: RunInfo,
  size = COMMENT_SIZE,
): FittedReport {
  const all = [{ rank: 0, open: "", blocks: facts.map(factBlock) }, ...sections.map(sectionOf)];
  return fittedMarkdown(markdownHead(title, info), all, size);
}

function factBlock({ label, values, isWarning }: AnswerFact): Block {
  const head = `- ${isWarning ? "⚠ " : ""}**${sentenceCase(label)}**`;
  const text = `${head}: ${values.map(markdownSentence).join(", ")}`;
  return { what: "fact", text: `${text}\n`, brief: `${head}: ${count(values.length, "entry", "entries")}\n` };
}

function sectionOf(section: AnswerSection): Section {
  const { what, items } = section;
  const heading = headingOf(section);
  const blocks = items.map((item) => itemBlock(what, item));
  return items.length > FEW
    ? collapsed(2, markupText(heading), blocks)
    : { rank: 1, open: `### ${markdownSentence(heading)}`, blocks };
}

function itemBlock(what: string, item: AnswerItem): Block {
  if ("finding" in item) return findingQuote(item.finding);
  if ("name" in item) return { what, text: `- ${markdownSentence(rightText(item))}\n` };
  const details = item.details.map((detail) => `  - ${markdownSentence(detail)}`);
  if ("line" in item) {
    const head = `- ${markdownSentence(item.line)}`;
    return block(what, head, [head, ...details]);
  }
  const diff = item.fields.flatMap(fieldDiff(item.change?.action === "create"));
  if (item.change !== undefined) {
    const head = `- **${markdownText(item.change.action)}** ${markdownCode(item.change.address)}`;
    return block(what, head, [head, ...details, ...fence(diff)]);
  }
  const label = item.fields.find((line) => line.label !== "")?.label ?? "";
  const [only = label] = diff.length === 1 ? item.fields.flatMap(fieldDiff(false, false)) : [];
  const head = `- ${markdownCode(only)}`;
  return block(what, head, [head, ...(diff.length === 1 ? [] : fence(diff)), ...details]);
}
