// The help of the program, of a group, and of a command: summary, usage, arguments and options by group, notes, examples, see also.

import type { Example } from "./command.ts";
import type { Parser } from "./parser.ts";

const WIDEST = 110;

export function helpText(parser: Parser, columns: number): string {
  const { definition } = parser;
  parser.configureOutput({ getOutHelpWidth: () => Math.min(columns, WIDEST), getOutHasColors: () => false });
  const { notes, examples = [], seeAlso = [] } = definition ?? {};
  const parts = [
    `${sentence(parser.summary())}\n`,
    parser.helpInformation(),
    ...(notes === undefined ? [] : [`${notes}\n`]),
    ...(examples.length === 0 ? [] : [`Examples:\n${examplesText(examples)}`]),
    ...(seeAlso.length === 0 ? [] : [`See also: ${seeAlso.join(", ")}\n`]),
  ];
  return parts.join("\n");
}

function sentence(summary: string): string {
  return `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
}

function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([command]) => command.length));
  return examples.map(([command, meaning]) => `  ${command.padEnd(width)}  # ${meaning}\n`).join("");
}
