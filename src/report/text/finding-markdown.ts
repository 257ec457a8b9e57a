// Findings as Markdown for a pull request: as one line of a quote, or as an item of a list with place, cause, and hint below.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { ruleText } from "./diagnostic-text.ts";
import type { Block } from "./markdown.ts";
import { markdownBlock, markdownCode, markdownSentence, printableLines } from "./printable.ts";

/** `> **error** CODE message at place (cause) — hint`. */
export function findingQuote(one: Diagnostic): string {
  const { severity, code, message, at, usedAt = [], rule, cause, hint } = one;
  const uses = usedAt.map((use) => `, used at ${placeCode(use)}`).join("");
  const place = at === undefined ? "" : ` at ${placeCode(at)}${uses}`;
  const from = rule === undefined ? "" : `, ${markdownSentence(ruleText(rule))}`;
  const beneath = cause === undefined ? "" : ` (${markdownSentence(cause)})`;
  const next = hint === undefined ? "" : ` — ${markdownSentence(hint)}`;
  return `> **${severity}** ${markdownCode(code)} ${markdownSentence(message)}${place}${from}${beneath}${next}\n\n`;
}

/** Lines of a nested list: the place, the cause, and the hint. */
export function findingDetails({ at, usedAt = [], rule, cause, hint }: Diagnostic): readonly string[] {
  return [
    ...(at === undefined ? [] : [`  - at ${placeCode(at)}`]),
    ...usedAt.map((use) => `  - used at ${placeCode(use)}`),
    ...(rule === undefined ? [] : [`  - ${markdownSentence(ruleText(rule))}`]),
    ...(cause === undefined ? [] : [`  - cause: ${markdownSentence(cause)}`]),
    ...(hint === undefined ? [] : [`  - hint: ${markdownSentence(hint)}`]),
  ];
}

export function placeCode({ file, line, column }: NonNullable<Diagnostic["at"]>): string {
  return markdownCode(`${file}:${line}:${column}`);
}

export function findingItem(one: Diagnostic): Block {
  const { severity, code, message, at } = one;
  const head = `- **${severity}** ${markdownCode(code)} ${markdownSentence(message)}`;
  const lines = [head, ...findingDetails(one)];
  if (at?.frame !== undefined)
    lines.push("", ...markdownBlock("", printableLines(at.frame)).map((line) => `  ${line}`), "");
  return { what: "finding", text: `${lines.join("\n")}\n`, brief: `${head}\n` };
}
