// The results of spec tests as text: one line for each test, and below it what differs.

import type { Colors } from "../text/color.ts";
import { diagnosticsText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import {
  differenceLines,
  problemSentence,
  type ShownProblem,
  type ShownTest,
  type TestsView,
  testsSentence,
} from "./tests-view.ts";

export function testsText(view: TestsView, colors: Colors): string {
  const invalid = view.diagnostics.length === 0 ? "" : diagnosticsText(view.diagnostics, colors);
  const tests = view.results.flatMap((test) => [
    testLine(test, colors),
    ...(test.status === "failed" ? test.problems.flatMap((problem) => problemLines(problem, colors)) : []),
  ]);
  return `${invalid}${[...tests, testsSentence(view)].join("\n")}\n`;
}

function testLine({ status, file, name }: ShownTest, colors: Colors): string {
  const paint = { passed: colors.green, updated: colors.yellow, failed: colors.red }[status];
  return `${paint(status.padEnd(7))}  ${printable(file)}: ${printable(name)}`;
}

const MOST_DIAGNOSTICS = 20;

function problemLines(problem: ShownProblem, colors: Colors): readonly string[] {
  const { at, differs, diagnostics } = problem;
  const legend = differs?.expected === undefined ? "" : " (- expected, + found)";
  const place = `${printable(at.file)}:${at.line}:${at.column}`;
  const text = diagnosticsText(diagnostics, colors, MOST_DIAGNOSTICS).trimEnd();
  const found = text === "" ? [] : text.split("\n");
  // A step that could not run has nothing to say but its errors.
  if (differs === undefined)
    return [
      `  ${problem.step === undefined ? "" : `step ${problem.step.number} (${problem.step.name}) `}at ${place}`,
      ...found.map((line) => `    ${line}`),
    ];
  return [
    `  ${printable(problemSentence(problem))}${legend}`,
    `    at ${place}`,
    ...differenceLines(problem).map((line) => `    ${painted(line, colors)}`),
    ...found.map((line) => `    ${line}`),
  ];
}

function painted(line: string, colors: Colors): string {
  if (line.startsWith("-")) return colors.red(line);
  return line.startsWith("+") ? colors.green(line) : line;
}
