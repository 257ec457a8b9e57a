// The help of the program, of a group, and of a command: summary, usage, arguments and options by group, notes, examples, see also.

import type { Parser } from "../command/parser.ts";
import { HELP_TEXTS, type HelpTexts } from "./help-texts.ts";

const WIDEST = 110;

export function helpText(parser: Parser, columns: number): string {
  const notes = parser.definition === undefined ? EXIT_CODES : parser.definition.notes;
  const { examples = [], seeAlso = [] } = HELP_TEXTS[parser.title] ?? {};
  const width = Math.min(columns, WIDEST);
  parser.configureOutput({ getOutHelpWidth: () => width, getOutHasColors: () => false });
  return [
    `${sentence(parser.summary())}\n`,
    parser.helpInformation(),
    ...(notes === undefined ? [] : [`${wrapped(parser, notes, width)}\n`]),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map(exampleText).join("")}`]),
    ...(seeAlso.length === 0 ? [] : [`See also: ${seeAlso.join(", ")}\n`]),
  ].join("\n");
}

/** Joins the lines of a paragraph and wraps them. Indented lines are tables. */
function wrapped(parser: Parser, notes: string, width: number): string {
  const lines = notes.replace(/(?<=^\S.*[^:])\n(?=[^\s])/gm, " ").split("\n");
  const help = parser.createHelp();
  return lines.map((line) => (line.startsWith(" ") ? line : help.boxWrap(line, width))).join("\n");
}

function sentence(summary: string): string {
  return `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
}

function exampleText([command, meaning]: HelpTexts["examples"][number]): string {
  return `  # ${meaning}\n  ${command}\n`;
}

const EXIT_CODES = `Exit codes:
  0  success                          4  stale plan
  1  error                            5  state locked
  2  changes or drift                 130, 143  interrupted
  3  blocked by a guard or a policy`;
