// Finds the test files of a spec, and runs their tests.

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { TestResult } from "../../planner/model/test-result.ts";
import { matching } from "../../spec/files/patterns.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import { BYTE_ORDER_MARK, hasByteOrderMark } from "../../spec/model/text.ts";
import { readTests } from "../../spec/testing/read-tests.ts";
import type { SpecTest, SpecTestFile } from "../../spec/testing/spec-test.ts";
import { symbolicLinkBelow, writeWholeFile } from "../transfer/write-file.ts";
import { type FinishedTest, runTest } from "./run-test.ts";
import { type ExpectationEdit, updatedText } from "./update-expectations.ts";

interface TestRunOptions {
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

const PATTERN = "**/*.test.yaml";
const MOST_FILES = 2000;

interface FoundTests {
  /** In the order of their paths, and of the tests in each. */
  readonly files: readonly { readonly file: SpecTestFile; readonly tests: readonly SpecTest[] }[];
  readonly diagnostics: readonly Diagnostic[];
  /** Specs outside of this folder are not read. */
  readonly boundary: string;
}

interface TestSelection {
  /** A folder or a test file, as the command line names it. */
  readonly folder: string | undefined;
  readonly filters: readonly string[];
  readonly seen?: PathObserver;
}

/** Throws Failure if no test is found. */
export function findTests(cwd: string, { folder = ".", filters, seen }: TestSelection): FoundTests {
  const path = resolve(cwd, folder);
  if (!existsSync(path))
    throw failureOf("CLI_FILE", `${folder} does not exist`, { hint: "name a folder or a test file" });
  const isFolder = statSync(path).isDirectory();
  const paths = isFolder
    ? matching(path, () => true, [PATTERN], ".", []).map((one) => join(path, one))
    : [path];
  if (paths.length === 0)
    throw failureOf("TEST_NOT_FOUND", `no file in ${folder} matches ${PATTERN}`, {
      hint: "name test files NAME.test.yaml; `workspace schema --test` prints their JSON Schema",
    });
  if (paths.length > MOST_FILES)
    throw failureOf("TEST_NOT_FOUND", `${folder} has ${paths.length} test files (limit: ${MOST_FILES})`, {
      hint: "name a folder with fewer test files",
    });
  const diagnostics: Diagnostic[] = [];
  for (const one of paths) seen?.(one);
  const files = paths.flatMap((one) => {
    try {
      return [readOne(cwd, one)];
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      diagnostics.push(...problem.diagnostics);
      return [];
    }
  });
  const selected = files.map((file) => ({
    file,
    tests: file.tests.filter(({ name }) => isSelected(`${file.file}: ${name}`, filters)),
  }));
  if (diagnostics.length === 0 && selected.every(({ tests }) => tests.length === 0))
    throw failureOf(
      "TEST_NOT_FOUND",
      `no test matches ${filters.map((one) => `--filter ${JSON.stringify(one)}`).join(", ")}`,
      { hint: "a filter is text that `FILE: NAME` contains; * matches any text" },
    );
  return {
    files: selected.filter(({ tests }) => tests.length > 0),
    diagnostics,
    boundary: boundaryOf(cwd, path, isFolder),
  };
}

function readOne(cwd: string, path: string): SpecTestFile {
  const near = relative(cwd, path);
  const file = near.startsWith("..") ? path : near;
  try {
    return readTests({ file, path, bytes: readRegularFile(path, LIMITS.fileBytes) });
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw fileFailure(`the test file ${file} cannot be read`, problem);
  }
}

/** The current folder, or that of test files outside of it. */
function boundaryOf(cwd: string, path: string, isFolder: boolean): string {
  const way = relative(realpathSync(cwd), realpathSync(path));
  if (way !== ".." && !way.startsWith(`..${sep}`)) return cwd;
  return isFolder ? path : dirname(path);
}

/** Whether the text contains the parts of one of the patterns in order. */
function isSelected(text: string, patterns: readonly string[]): boolean {
  const lower = text.toLowerCase();
  const has = (pattern: string): boolean => {
    let from = 0;
    return pattern
      .toLowerCase()
      .split("*")
      .every((part) => {
        const at = lower.indexOf(part, from);
        from = at + part.length;
        return at >= 0;
      });
  };
  return patterns.length === 0 || patterns.some(has);
}
