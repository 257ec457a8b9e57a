// Findings in Markdown: each as a quote or an item, and a report of findings alone.

import { type Diagnostic, type Location, placeText } from "../../core/diagnostic.ts";
import { count, firstFew, grouped, shortened } from "../../core/sentences.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { type Room, SPACIOUS } from "./comment-room.ts";
import { type DiagnosticGroup, foldDiagnostics, ruleText, severityCounts } from "./diagnostic-text.ts";
import {
  markdownBlock,
  markdownCode,
  markdownSentence,
  markdownText,
  markupText,
  printableLines,
} from "./printable.ts";
import { markdownHead, markdownLink, type RunInfo } from "./run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  RANK,
  type Section,
} from "./shorten-markdown.ts";
import { filePage } from "./source-link.ts";

/** The findings of one severity: the first groups open, as far as there is room, and a closed block with each finding that is not. */
export function findingSections(
  all: readonly Diagnostic[],
  severity: Diagnostic["severity"],
  info: RunInfo | undefined,
  room = SPACIOUS,
): readonly [open: Section, closed: Section] {
  const groups = foldDiagnostics(all.filter((diagnostic) => diagnostic.severity === severity)).toSorted(
    ([a], [b]) => rankOf(a) - rankOf(b),
  );
  const rank = severity === "error" ? RANK.errors : RANK.warnings;
  const shown = groups.slice(0, severity === "error" ? room.errors : room.warnings);
  const blocks = shown.map((group) => openFinding(group, info, room));
  const rest = groups.slice(shown.length);
  const number = rest.flat().length;
  const codes = [...new Set(rest.map(([{ code, rule }]) => markdownCode(rule?.name ?? code)))];
  const more = `> **${count(number, `more ${severity}`)}** ${firstFew(codes, NAMED)}\n\n`;
  const closed = groups.filter(
    (group, at) =>
      group.length > 1 || at >= shown.length || findingQuote(group[0], info).text !== blocks[at]?.text,
  );
  const [first] = closed;
  const code = closed.length === 1 && first !== undefined ? ` ${markupText(first[0].code)}` : "";
  return [
    { rank, open: "", blocks: number === 0 ? blocks : [...blocks, { what: "finding", text: more }] },
    collapsed(
      number === 0 ? RANK.closed : rank,
      `All ${count(closed.flat().length, severity)}${code}`,
      closed.flat().map((diagnostic) => findingQuote(diagnostic, info)),
    ),
  ];
}

/** Rules of security first; other findings are as serious. */
function rankOf({ rule }: Diagnostic): number {
  return rule === undefined ? 0 : (SEVERITIES as readonly string[]).indexOf(rule.severity);
}

/** A line names so many resources or codes. */
const NAMED = 3;

function openFinding(group: DiagnosticGroup, info: RunInfo | undefined, { characters, names }: Room): Block {
  const [first, ...others] = group;
  if (others.length === 0) return findingQuote(first, info, characters);
  const about = group.flatMap(({ address }) =>
    address === undefined ? [] : [markdownCode(shortened(address, characters))],
  );
  const which = about.length === 0 ? "" : `: ${firstFew(about, Math.min(NAMED, names))}`;
  const isSame = group.every(({ message }) => message === first.message);
  const message = shortened(first.message, characters);
  const rule =
    first.rule === undefined ? "" : ` (rule ${markdownCode(shortened(first.rule.name, characters))})`;
  const more = isSame ? "" : `, and ${grouped(others.length)} more`;
  const sentence = `${markdownSentence(message.replace(/\.$/, ""))}${rule}${more}`;
  const quote = `> **${count(group.length, first.severity)}** ${markdownCode(first.code)} ${sentence}${which}\n\n`;
  return { what: "finding", text: quote };
}

/** `> **error** CODE message at place (cause) — hint`. `most`: characters of the message, and of the rest together, which is left out if it has more. */
export function findingQuote(diagnostic: Diagnostic, info?: RunInfo, most = Number.POSITIVE_INFINITY): Block {
  const { severity, code, message, at, usedAt = [], rule, cause, hint } = diagnostic;
  const uses = usedAt.map((use) => `, used at ${placeCode(use, info)}`).join("");
  const place = at === undefined ? "" : ` at ${placeCode(at, info)}${uses}`;
  const from = rule === undefined ? "" : `, ${markdownSentence(ruleText(rule))}`;
  const beneath = cause === undefined ? "" : ` (${markdownSentence(cause)})`;
  const next = hint === undefined ? "" : ` — ${markdownSentence(hint)}`;
  const details = `${place}${from}${beneath}${next}`;
  const shown = details.length > most ? "" : details;
  const text = `> **${severity}** ${markdownCode(code)} ${markdownSentence(shortened(message, most))}${shown}\n\n`;
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
