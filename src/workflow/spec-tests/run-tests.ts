// Finds the test files of a spec, and runs their tests.

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { symbolicLinkBelow, writeWholeFile } from "../../config/write-file.ts";
import { type Address, kindOf } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { mapMembers } from "../../planner/model/planned-workspace.ts";
import type { TestProblem, TestResult } from "../../planner/model/test-result.ts";
import { registry } from "../../providers/index.ts";
import { matching, type PathObserver } from "../../spec/files/spec-folder.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import { locationOf } from "../../spec/model/source.ts";
import { readTests, type SpecTest, type SpecTestFile, type TestStep } from "../../spec/testing/read-tests.ts";
import { BYTE_ORDER_MARK, hasByteOrderMark } from "../../spec/yaml/read-yaml.ts";
import { shownPath } from "../invocation/checkout.ts";
import { differs, type ExpectationEdit, type StepComparison, updatedText } from "./expectations.ts";
import { initialObjects } from "./live-objects.ts";
import { failureDiagnostics, makeWorld, type RunningTest, runStep, type TestFiles } from "./run-step.ts";
import { openSandbox } from "./sandbox.ts";

interface TestRunOptions {
  readonly cwd: string;
  readonly parallelism: number;
  readonly update: boolean;
  readonly signal: AbortSignal;
  readonly onPathRead?: PathObserver;
}

/** Results in the order of the files and of the tests in them. */
export async function runTests(
  foundTests: FoundTests,
  options: TestRunOptions,
): Promise<readonly TestResult[]> {
  const { cwd, parallelism, update, signal, onPathRead } = options;
  const all = foundTests.files.flatMap(({ file, tests }) => tests.map((test) => ({ file, test })));
  const finished: FinishedTest[] = [];
  const waiting = [...all.entries()];
  const where = { cwd, boundary: foundTests.boundary, onPathRead };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, { file, test }] = next;
      finished[at] = await runTest(file, test, where, signal);
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
  readonly onPathRead?: PathObserver;
}

/** Throws Failure if no test is found. */
export function findTests(cwd: string, { folder = ".", filters, onPathRead }: TestSelection): FoundTests {
  const path = resolve(cwd, folder);
  if (!existsSync(path))
    throw failureOf("CLI_FILE", `${folder} does not exist`, { hint: "name a folder or a test file" });
  const isFolder = statSync(path).isDirectory();
  const paths = isFolder
    ? matching(path, () => true, [PATTERN], ".", []).map((text) => join(path, text))
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
  for (const path of paths) onPathRead?.(path);
  const files = paths.flatMap((path) => {
    try {
      return [readOne(cwd, path)];
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
      `no test matches ${filters.map((filter) => `--filter ${JSON.stringify(filter)}`).join(", ")}`,
      { hint: "a filter is text that `FILE: NAME` contains; * matches any text" },
    );
  return {
    files: selected.filter(({ tests }) => tests.length > 0),
    diagnostics,
    boundary: boundaryOf(cwd, path, isFolder),
  };
}

function readOne(cwd: string, path: string): SpecTestFile {
  const file = shownPath(cwd, path);
  try {
    return readTests({ file, path, bytes: readRegularFile(path, LIMITS.fileBytes) });
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw fileFailure(`the test file ${file} cannot be read`, problem);
  }
}

/** The current folder, or that of test files outside of it. */
function boundaryOf(cwd: string, path: string, isFolder: boolean): string {
  const fromCwd = relative(realpathSync(cwd), realpathSync(path));
  if (fromCwd !== ".." && !fromCwd.startsWith(`..${sep}`)) return cwd;
  return isFolder ? path : dirname(path);
}

/** Whether the text contains the parts of one of the patterns in order. */
function isSelected(text: string, patterns: readonly string[]): boolean {
  const lower = text.toLowerCase();
  const contains = (pattern: string): boolean => {
    let end = 0;
    return pattern
      .toLowerCase()
      .split("*")
      .every((part) => {
        const at = lower.indexOf(part, end);
        end = at + part.length;
        return at >= 0;
      });
  };
  return patterns.length === 0 || patterns.some(contains);
}

interface FinishedTest {
  readonly result: TestResult;
  readonly edits: readonly ExpectationEdit[];
  /** Whether new expectations alone make it pass. */
  readonly updatable: boolean;
}

const BETWEEN_STEPS_MS = 60_000;

interface Ran {
  readonly problems: TestProblem[];
  readonly edits: ExpectationEdit[];
  complete: boolean;
  updatable: boolean;
}

/** Never throws for a failure of the test. `interrupted` ends it early. */
async function runTest(
  file: SpecTestFile,
  test: SpecTest,
  files: Omit<TestFiles, "file">,
  interrupted: AbortSignal,
): Promise<FinishedTest> {
  const began = performance.now();
  const ran: Ran = { problems: [], edits: [], complete: false, updatable: true };
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  interrupted.addEventListener("abort", onInterrupt, { once: true });
  const late = new Promise<void>((resolve) =>
    stop.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  const timer = setTimeout(() => stop.abort(), test.setup.timeoutMs);
  try {
    await Promise.race([stepByStep(test, { ...files, file }, stop.signal, ran), late]);
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener("abort", onInterrupt);
  }
  const problems = [...ran.problems];
  const stopped = stop.signal.aborted;
  if (stopped) problems.push({ at: locationOf(test.at), diagnostics: [timedOut(test, interrupted.aborted)] });
  const status = problems.length === 0 ? "passed" : "failed";
  return {
    result: {
      file: file.file,
      name: test.name,
      at: locationOf(test.at),
      status,
      durationMs: Math.round(performance.now() - began),
      problems,
    },
    edits: stopped ? [] : [...ran.edits],
    updatable: ran.complete && ran.updatable && !stopped && ran.edits.length > 0,
  };
}

/** Expectations that differ do not end a test, so that one run shows all of them. */
async function stepByStep(test: SpecTest, files: TestFiles, signal: AbortSignal, ran: Ran): Promise<void> {
  const sandbox = await openSandbox(test.setup, files.cwd, signal);
  const sensitive: SensitiveValues[] = [];
  let current: TestStep | undefined;
  try {
    const initial = await initialObjects(sandbox);
    const starting = { sandbox, test, files, sensitive, sensitiveFields: new Map() };
    const world = await makeWorld(starting);
    const ids = new Map<string, string>();
    for (const [id, address] of test.setup.ids) {
      const live = world.get(address);
      if (live !== undefined) ids.set(id, live);
    }
    const running: RunningTest = { ...starting, ids, initial };
    for (const [at, step] of test.steps.entries()) {
      current = step;
      const different = (await runStep(running, step)).filter(differs);
      if (signal.aborted) return;
      for (const comparison of different)
        noteDifference(ran, step, at, masked(running, comparison), comparison);
      // After an unexpected error, further steps would only repeat it.
      if (different.some(({ expected, because = [] }) => expected === undefined && hasErrors(because)))
        return;
      // The service finishes what a step began. Other tests, and the timer of this one, run meanwhile.
      await sandbox.clock.sleep(BETWEEN_STEPS_MS, signal);
      if (signal.aborted) return;
    }
    ran.complete = true;
  } catch (problem) {
    if (signal.aborted) return;
    const diagnostics = sensitive.reduce(
      (all, values) => values.maskedMessages(all),
      failureDiagnostics(problem),
    );
    const step =
      current === undefined ? undefined : { number: test.steps.indexOf(current) + 1, name: current.name };
    const at = locationOf(current?.at ?? test.setup.world?.at ?? test.at);
    ran.problems.push({ step, at, diagnostics });
  } finally {
    await sandbox.close();
  }
}

/** A comparison without sensitive values: in strings, and at their places in live objects. */
function masked({ sensitive }: RunningTest, comparison: StepComparison): StepComparison {
  return sensitive.reduce((value, values) => {
    const shown = values.masked(value);
    return shown.what === "live" ? { ...shown, actual: withoutPlaces(shown.actual, values) } : shown;
  }, comparison);
}

function withoutPlaces(objects: Json, sensitive: SensitiveValues): Json {
  if (!isObject(objects)) return objects;
  return mapMembers(objects, (value, address) => {
    const field = registry.find(kindOf(address as Address))?.nested?.shorthand;
    const path = isObject(value) || field === undefined ? [] : [field];
    return withoutDigests(sensitive.conceal(address as Address, value, "shown", path));
  });
}

/** `shown`: the comparison without sensitive values. */
function noteDifference(
  ran: Ran,
  step: TestStep,
  at: number,
  shown: StepComparison,
  { expected: written, actual: value }: StepComparison,
): void {
  const { what, expected, actual, because = [] } = shown;
  const node = step.node.kind === "map" && what !== "live" ? step.node.members.get(what)?.key : undefined;
  ran.problems.push({
    step: { number: at + 1, name: step.name },
    at: locationOf(node ?? step.at),
    differs: { what, expected, actual },
    diagnostics: because,
  });
  // An update changes expectations but adds none, and writes no sensitive value.
  if (written === undefined || canonicalJson(value) !== canonicalJson(actual)) ran.updatable = false;
  else ran.edits.push({ path: what === "live" ? step.path : [...step.path, what], value });
}

function timedOut({ at, setup }: SpecTest, interrupted: boolean): Diagnostic {
  const details = { at: locationOf(at) };
  if (interrupted) return error("APPLY_INTERRUPTED", "the test was interrupted", details);
  return error("TEST_TIMEOUT", `the test did not end within ${setup.timeoutMs / 1000} s`, {
    ...details,
    hint: "test a smaller spec or world, or raise timeout in the test file",
  });
}
