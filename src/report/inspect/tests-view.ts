// The results of spec tests as a view, as text, as JSON, and as JUnit cases.

import { structuredPatch } from "diff/lib/patch/create.js";
import { stringify } from "yaml";
import { type Diagnostic, placeText, withoutSourceLines } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import type { TestProblem, TestResult } from "../../planner/model/test-result.ts";
import { type JunitCase, junitSuite } from "../format/junit.ts";
import { diagnosticJson, diagnosticsText, diagnosticText } from "../text/diagnostic-text.ts";
import { printable, printableLines } from "../text/printable.ts";
import { type Colors, colorsFor, diffPaint } from "../text/terminal.ts";

export interface TestsView {
  readonly results: readonly TestResult[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `step 2 (plan): actions are not as expected`. */
function problemSentence({ step, differs, diagnostics }: TestProblem): string {
  const where = step === undefined ? "" : `step ${step.number} (${step.name}): `;
  if (differs === undefined) return `${where}${diagnostics[0]?.message ?? "the step did not complete"}`;
  const { what, expected } = differs;
  return `${where}${expected === undefined ? `unexpected ${what}` : `${what} are not as expected`}`
    .replace("summary are", "summary is")
    .replace(/(live|drift) are/, "$1 objects are");
}

const CONTEXT = 3;
const MOST_LINES = 200;

/** `- ` expected, `+ ` found; printable. */
export function differenceLines({ differs }: Pick<TestProblem, "differs">): readonly string[] {
  if (differs === undefined) return [];
  const { expected, actual } = differs;
  const before = expected === undefined ? "" : yamlLines(expected);
  const { hunks } = structuredPatch("", "", before, yamlLines(actual), "", "", { context: CONTEXT });
  const lines = hunks.flatMap((hunk, at) => [...(at === 0 ? [] : ["  …"]), ...hunk.lines.map(signed)]);
  const shown = lines.filter((line) => !line.startsWith("\\"));
  if (shown.length <= MOST_LINES) return shown;
  return [...shown.slice(0, MOST_LINES), `  … (${count(shown.length - MOST_LINES, "more line")})`];
}

function signed(line: string): string {
  const [text = ""] = printableLines(line.slice(1));
  return line.startsWith("\\") ? line : `${line.slice(0, 1)} ${text}`;
}

function yamlLines(value: Json): string {
  return stringify(value, { lineWidth: 0 });
}

/** `3 tests in 2 files: 2 passed, 1 failed.` */
function testsSentence({ results, diagnostics }: TestsView): string {
  const files = new Set(results.map(({ file }) => file)).size;
  const counts = statusCounts(results);
  const parts = Object.entries(counts).flatMap(([status, number]) =>
    number > 0 ? [`${number} ${status}`] : [],
  );
  const unread = new Set(diagnostics.map(({ at }) => at?.file)).size;
  const invalid = unread === 0 ? "" : ` ${count(unread, "test file")} cannot be used.`;
  const ended = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `${count(results.length, "test")} in ${count(files, "file")}${ended}.${invalid}`;
}

function statusCounts(results: readonly TestResult[]): Readonly<Record<TestResult["status"], number>> {
  const number = (status: TestResult["status"]) =>
    results.filter((testResult) => testResult.status === status).length;
  return { passed: number("passed"), updated: number("updated"), failed: number("failed") };
}

export function testsText(view: TestsView, colors: Colors): string {
  const invalid = view.diagnostics.length === 0 ? "" : diagnosticsText(view.diagnostics, colors);
  const tests = view.results.flatMap((test) => [
    testLine(test, colors),
    ...(test.status === "failed" ? test.problems.flatMap((problem) => problemLines(problem, colors)) : []),
  ]);
  return `${invalid}${[...tests, testsSentence(view)].join("\n")}\n`;
}

function testLine({ status, file, name }: TestResult, colors: Colors): string {
  const paint = { passed: colors.green, updated: colors.yellow, failed: colors.red }[status];
  return `${paint(status.padEnd(7))}  ${printable(file)}: ${printable(name)}`;
}

const MOST_DIAGNOSTICS = 20;

function problemLines(problem: TestProblem, colors: Colors): readonly string[] {
  const { at, differs, diagnostics } = problem;
  const legend = differs?.expected === undefined ? "" : " (- expected, + found)";
  const place = `${printable(at.file)}:${at.line}:${at.column}`;
  const text = diagnosticsText(diagnostics, colors, { most: MOST_DIAGNOSTICS }).trimEnd();
  const diagnosticLines = text === "" ? [] : text.split("\n");
  // A step that could not run has only errors.
  const step = problem.step === undefined ? "" : `step ${problem.step.number} (${problem.step.name}) `;
  if (differs === undefined) return [`  ${step}at ${place}`, ...diagnosticLines.map((line) => `    ${line}`)];
  return [
    `  ${printable(problemSentence(problem))}${legend}`,
    `    at ${place}`,
    ...differenceLines(problem).map((line) => `    ${diffPaint(line, colors)(line)}`),
    ...diagnosticLines.map((line) => `    ${line}`),
  ];
}

export function testsJson({ results, diagnostics }: TestsView): Record<string, unknown> {
  return {
    summary: statusCounts(results),
    tests: results.map(({ file, name, at, status, problems }) => ({
      file,
      name,
      line: at.line,
      status,
      problems: problems.map(problemJson),
    })),
    diagnostics: diagnostics.map(diagnosticJson),
  };
}

function problemJson(problem: TestProblem): Record<string, unknown> {
  const { step, at, differs, diagnostics } = problem;
  return {
    message: problemSentence(problem),
    step: step?.number,
    step_name: step?.name,
    at: withoutSourceLines(at),
    ...(differs && {
      expectation: differs.what,
      expected: differs.expected ?? null,
      actual: differs.actual,
    }),
    diagnostics: diagnostics.map(diagnosticJson),
  };
}

const PLAIN = colorsFor(false);

export function testsJunit(view: TestsView): string {
  const invalid = view.diagnostics.map((diagnostic): JunitCase => {
    const { code, message } = diagnostic;
    const place = diagnostic.at === undefined ? "" : `${placeText(diagnostic.at)} `;
    return {
      group: diagnostic.at?.file ?? "workspace test",
      name: `${place}${message}`,
      trouble: { what: "failure", type: code, message },
      text: diagnosticText(diagnostic, PLAIN),
    };
  });
  return junitSuite("workspace test", testsSentence(view), [...invalid, ...view.results.map(testCase)]);
}

function testCase({ file, name, durationMs: ms, status, problems }: TestResult): JunitCase {
  const [first] = problems;
  if (status !== "failed" || first === undefined) return { group: file, name, ms };
  const text = problems.flatMap((problem) => [
    `${placeText(problem.at)} ${problemSentence(problem)}`,
    ...differenceLines(problem).map((line) => `  ${line}`),
    ...problem.diagnostics.map((diagnostic) => diagnosticText(diagnostic, PLAIN).trimEnd()),
  ]);
  const type = first.differs === undefined ? (first.diagnostics[0]?.code ?? "TEST_FAILED") : "TEST_FAILED";
  return {
    group: file,
    name,
    ms,
    trouble: { what: "failure", type, message: problemSentence(first) },
    text: text.join("\n"),
  };
}
