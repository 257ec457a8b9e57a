// Findings in Markdown: each as a quote or an item, and a report of findings alone.

import { type Diagnostic, type Location, placeText } from "../../core/diagnostic.ts";
import { ruleText, severityCounts } from "./diagnostic-text.ts";
import { markdownBlock, markdownCode, markdownSentence, markdownText, printableLines } from "./printable.ts";
import { markdownHead, markdownLink, type RunInfo } from "./run-info.ts";
import { type Block, COMMENT_SIZE, type FittedReport, fittedMarkdown } from "./shorten-markdown.ts";
import { filePage } from "./source-link.ts";

/** `> **error** CODE message at place (cause) — hint`. */
export function findingQuote(diagnostic: Diagnostic, info?: RunInfo): Block {
  const { severity, code, message, at, usedAt = [], rule, cause, hint } = diagnostic;
  const uses = usedAt.map((use) => `, used at ${placeCode(use, info)}`).join("");
  const place = at === undefined ? "" : ` at ${placeCode(at, info)}${uses}`;
  const from = rule === undefined ? "" : `, ${markdownSentence(ruleText(rule))}`;
  const beneath = cause === undefined ? "" : ` (${markdownSentence(cause)})`;
  const next = hint === undefined ? "" : ` — ${markdownSentence(hint)}`;
  const text = `> **${severity}** ${markdownCode(code)} ${markdownSentence(message)}${place}${from}${beneath}${next}\n\n`;
  return { what: "finding", text };
}

/** Lines of a nested list: the place, the cause, and the hint. */
export function findingDetails(
  { at, usedAt = [], rule, cause, hint }: Diagnostic,
  info?: RunInfo,
): readonly string[] {
  return [
    ...(at === undefined ? [] : [`  - at ${placeCode(at, info)}`]),
    ...usedAt.map((use) => `  - used at ${placeCode(use, info)}`),
    ...(rule === undefined ? [] : [`  - ${markdownSentence(ruleText(rule))}`]),
    ...(cause === undefined ? [] : [`  - cause: ${markdownSentence(cause)}`]),
    ...(hint === undefined ? [] : [`  - hint: ${markdownSentence(hint)}`]),
  ];
}

function placeCode(at: Location, info: RunInfo | undefined): string {
  return markdownLink(markdownCode(placeText(at)), filePage(at, info));
}

function findingItem(diagnostic: Diagnostic, info: RunInfo | undefined): Block {
  const { severity, code, message, at } = diagnostic;
  const head = `- **${severity}** ${markdownCode(code)} ${markdownSentence(message)}`;
  const lines = [head, ...findingDetails(diagnostic, info)];
  if (at?.frame !== undefined)
    lines.push("", ...markdownBlock("", printableLines(at.frame)).map((line) => `  ${line}`), "");
  return { what: "finding", text: `${lines.join("\n")}\n`, brief: `${head}\n` };
}

/** The findings of `validate`. `sentence`: about a valid spec. */
export interface ValidationView {
  readonly sentence: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export function validationMarkdown(
  { sentence, diagnostics }: ValidationView,
  info?: RunInfo,
  size = COMMENT_SIZE,
): FittedReport {
  const heading = sentence ?? `The spec is not valid: ${severityCounts(diagnostics)}`;
  return findingsMarkdown(heading, diagnostics, info, size);
}

/** Errors are left out last. */
export function findingsMarkdown(
  heading: string,
  diagnostics: readonly Diagnostic[],
  info?: RunInfo,
  size = COMMENT_SIZE,
): FittedReport {
  const section = (rank: number, severity: Diagnostic["severity"]) => ({
    rank,
    open: "",
    blocks: diagnostics
      .filter((diagnostic) => diagnostic.severity === severity)
      .map((diagnostic) => findingItem(diagnostic, info)),
  });
  return fittedMarkdown(markdownHead(heading, info), [section(0, "error"), section(1, "warning")], size);
}

/** The next step of a reader; its commands are in backticks. */
export function nextLines(next: string | undefined): readonly string[] {
  if (next === undefined) return [];
  const parts = next.split("`").map((part, at) => (at % 2 === 1 ? markdownCode(part) : markdownText(part)));
  return [`- **Next**: ${parts.join("")}`];
}
