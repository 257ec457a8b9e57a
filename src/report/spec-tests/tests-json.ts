// The results of spec tests for programs: JSON, and the cases of JUnit's XML.

import { type JunitCase, junitSuite } from "../outcome/junit.ts";
import { colorsFor } from "../text/color.ts";
import { diagnosticJson, diagnosticText } from "../text/diagnostic-text.ts";
import {
  differenceLines,
  problemSentence,
  type ShownProblem,
  type ShownTest,
  type TestsView,
  testsSentence,
} from "./tests-view.ts";

export function testsJson({ results, diagnostics }: TestsView): Record<string, unknown> {
  const counts = Map.groupBy(results, ({ status }) => status);
  const number = (status: ShownTest["status"]) => counts.get(status)?.length ?? 0;
  return {
    summary: { passed: number("passed"), updated: number("updated"), failed: number("failed") },
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

function problemJson(problem: ShownProblem): Record<string, unknown> {
  const { step, at, differs, diagnostics } = problem;
  return {
    message: problemSentence(problem),
    ...(step === undefined ? {} : { step: step.number, step_name: step.name }),
    at: { file: at.file, line: at.line, column: at.column },
    ...(differs === undefined
      ? {}
      : { expectation: differs.what, expected: differs.expected ?? null, actual: differs.actual }),
    diagnostics: diagnostics.map(diagnosticJson),
  };
}

const PLAIN = colorsFor(false);

export function testsJunit(view: TestsView): string {
  const invalid = view.diagnostics.map((one): JunitCase => {
    const { code, message } = one;
    const place = one.at === undefined ? "" : `${one.at.file}:${one.at.line}:${one.at.column} `;
    return {
      group: one.at?.file ?? "workspace test",
      name: `${place}${message}`,
      trouble: { what: "failure", type: code, message },
      text: diagnosticText(one, PLAIN),
    };
  });
  return junitSuite("workspace test", testsSentence(view), [...invalid, ...view.results.map(testCase)]);
}

function testCase({ file, name, durationMs: ms, status, problems }: ShownTest): JunitCase {
  const [first] = problems;
  if (status !== "failed" || first === undefined) return { group: file, name, ms };
  const text = problems.flatMap((problem) => [
    `${problem.at.file}:${problem.at.line}:${problem.at.column} ${problemSentence(problem)}`,
    ...differenceLines(problem).map((line) => `  ${line}`),
    ...problem.diagnostics.map((one) => diagnosticText(one, PLAIN).trimEnd()),
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
