// What a check of the spec found, as Markdown for a pull request: each finding with its place and the lines around it.

import type { Diagnostic } from "../core/diagnostic.ts";
import { tally } from "./diagnostic-text.ts";
import { keptWithin, type Part } from "./markdown-fit.ts";
import { MARKDOWN_LIMIT } from "./plan-markdown.ts";
import { markdownBlock, markdownCode, markdownText, printableLines } from "./printable.ts";

/** `valid`: the sentence about a spec that is; undefined where it is not. */
export function validationMarkdown(
  valid: string | undefined,
  found: readonly Diagnostic[],
  limit = MARKDOWN_LIMIT,
): string {
  const heading = valid ?? `The spec is not valid: ${tally(found)}`;
  const parts: readonly Part[] = [
    { what: "heading", text: `## ${markdownText(heading)}\n` },
    ...found.map((one): Part => ({ what: "finding", text: findingText(one) })),
  ];
  return keptWithin(parts, limit);
}

function findingText(one: Diagnostic): string {
  const { severity, code, message, at, cause, hint } = one;
  const lines = [`- **${severity}** ${markdownCode(code)} ${markdownText(message)}`];
  if (at !== undefined) lines.push(`  - at ${markdownCode(`${at.file}:${at.line}:${at.column}`)}`);
  if (cause !== undefined) lines.push(`  - cause: ${markdownText(cause)}`);
  if (hint !== undefined) lines.push(`  - hint: ${markdownText(hint)}`);
  if (at?.frame !== undefined)
    lines.push("", ...markdownBlock("", printableLines(at.frame)).map((line) => `  ${line}`));
  return `${lines.join("\n")}\n`;
}
