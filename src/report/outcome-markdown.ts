// What an apply did, as Markdown for a job's summary page.

import type { Outcome } from "../planner/outcome.ts";
import { keptWithin, type Part } from "./markdown-fit.ts";
import { outcomeLine } from "./outcome-text.ts";
import { MARKDOWN_LIMIT } from "./plan-markdown.ts";
import { markdownCode, markdownText } from "./printable.ts";
import { DONE } from "./words.ts";

export function outcomeMarkdown(outcome: Outcome, limit = MARKDOWN_LIMIT): string {
  const trouble = outcome.changes.filter((one) => one.result !== "applied");
  const applied = outcome.changes.filter((one) => one.result === "applied");
  const parts: Part[] = [{ what: "heading", text: `## ${markdownText(outcomeLine(outcome))}\n` }];
  for (const one of outcome.diagnostics)
    parts.push({ what: "finding", text: `> ${markdownCode(one.code)} ${markdownText(one.message)}\n` });
  for (const one of trouble) {
    const why = one.diagnostic === undefined ? "" : `: ${markdownText(one.diagnostic.message)}`;
    parts.push({
      what: "change",
      text: `- **${one.result}** ${one.action} ${markdownCode(one.address)}${why}`,
    });
  }
  for (const one of applied)
    parts.push({ what: "change", text: `- ${DONE[one.action]} ${markdownCode(one.address)}` });
  return `${keptWithin(parts, limit).trimEnd()}\n`;
}
