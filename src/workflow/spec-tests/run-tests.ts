// Runs the tests of many files in parallel, and reports them in the order of the files.

import { fileFailure } from "../../config/files.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { TestResult } from "../../planner/model/test-result.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { BYTE_ORDER_MARK, hasByteOrderMark } from "../../spec/model/text.ts";
import type { SpecTest, SpecTestFile } from "../../spec/testing/spec-test.ts";
import { symbolicLinkBelow, writeWholeFile } from "../transfer/write-file.ts";
import type { FoundTests } from "./find-tests.ts";
import { type FinishedTest, runTest } from "./run-test.ts";
import { type ExpectationEdit, updatedText } from "./update-expectations.ts";

export interface TestRunOptions {
  readonly cwd: string;
  readonly parallelism: number;
  readonly update: boolean;
  readonly signal: AbortSignal;
  readonly seen?: PathObserver;
}

/** Results in the order of the files and of the tests in them. */
export async function runTests(found: FoundTests, options: TestRunOptions): Promise<readonly TestResult[]> {
  const { cwd, parallelism, update, signal, seen } = options;
  const all = found.files.flatMap(({ file, tests }) => tests.map((test) => ({ file, test })));
  const finished: FinishedTest[] = [];
  const waiting = [...all.entries()];
  const place = { cwd, boundary: found.boundary, ...(seen === undefined ? {} : { seen }) };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, { file, test }] = next;
      finished[at] = await runTest(file, test, place, signal);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelism, all.length) }, work));
  if (signal.aborted)
    throw failureOf("APPLY_INTERRUPTED", "stopped before the last test ended", {
      hint: "run the command again",
    });
  return update ? updated(all, finished, cwd) : finished.map(({ result }) => result);
}

interface OneTest {
  readonly file: SpecTestFile;
  readonly test: SpecTest;
}

/** Writes each file once. Tests that fail for another reason than an expectation still fail. */
function updated(
  all: readonly OneTest[],
  finished: readonly FinishedTest[],
  cwd: string,
): readonly TestResult[] {
  const byFile = Map.groupBy(all.entries(), ([, { file }]) => file);
  const results = finished.map(({ result }) => result);
  for (const [file, tests] of byFile) {
    const changed = tests.flatMap(([at]) => (finished[at]?.updatable === true ? [at] : []));
    if (changed.length === 0) continue;
    const edits = changed.flatMap((at) => finished[at]?.edits ?? []);
    const problem = writeUpdate(file, edits, cwd);
    for (const at of changed) {
      const before = results[at];
      if (before === undefined) continue;
      results[at] =
        problem === undefined
          ? { ...before, status: "updated" }
          : { ...before, problems: [...before.problems, { at: before.at, diagnostics: problem }] };
    }
  }
  return results;
}

function writeUpdate(
  file: SpecTestFile,
  edits: readonly ExpectationEdit[],
  cwd: string,
): readonly Diagnostic[] | undefined {
  const link = symbolicLinkBelow(cwd, file.path);
  if (link !== undefined)
    return [
      error("CLI_FILE", `the expectations in ${file.file} are not updated: ${link} is a symbolic link`, {
        hint: "name the folder or file that the link points to",
      }),
    ];
  try {
    const now = readRegularFile(file.path);
    if (new TextDecoder().decode(now) !== file.text)
      return [
        error("CLI_FILE", `the expectations in ${file.file} are not updated: it changed during the run`, {
          hint: "run the command again",
        }),
      ];
    const mark = hasByteOrderMark(now) ? BYTE_ORDER_MARK : "";
    writeWholeFile(file.path, `${mark}${updatedText(file, edits)}`, { over: true });
    return undefined;
  } catch (problem) {
    if (problem instanceof Failure) return problem.diagnostics;
    return fileFailure(`the test file ${file.file} cannot be written`, problem).diagnostics;
  }
}
