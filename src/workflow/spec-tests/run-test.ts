// Runs one test on a separate workspace, within its time limit.

import { type Diagnostic, error, hasErrors } from "../../core/diagnostic.ts";
import type { TestProblem, TestResult } from "../../planner/model/test-result.ts";
import { locationOf } from "../../spec/model/source.ts";
import type { SpecTest, SpecTestFile, TestStep } from "../../spec/testing/spec-test.ts";
import { differs, type StepComparison } from "./expectations.ts";
import { initialObjects } from "./live-objects.ts";
import type { TestPlace } from "./load-spec-of-test.ts";
import { failureDiagnostics, makeWorld, type RunningTest, runStep } from "./run-step.ts";
import { openSandbox } from "./sandbox.ts";
import type { ExpectationEdit } from "./update-expectations.ts";

export interface FinishedTest {
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
export async function runTest(
  file: SpecTestFile,
  test: SpecTest,
  place: Omit<TestPlace, "file">,
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
    await Promise.race([stepByStep(test, { ...place, file }, stop.signal, ran), late]);
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener("abort", onInterrupt);
  }
  const problems = [...ran.problems];
  const stopped = stop.signal.aborted;
  if (stopped)
    problems.push(problemOf(undefined, locationOf(test.at), [timedOut(test, interrupted.aborted)]));
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
async function stepByStep(test: SpecTest, place: TestPlace, signal: AbortSignal, ran: Ran): Promise<void> {
  const sandbox = await openSandbox(test.setup, place.cwd, signal);
  let current: TestStep | undefined;
  try {
    const initial = await initialObjects(sandbox);
    const made = await makeWorld({ sandbox, test, place });
    const ids = new Map([...test.setup.ids].flatMap(([id, address]) => idPair(id, made.get(address))));
    const running: RunningTest = { sandbox, test, place, ids, initial, sensitive: [] };
    for (const [at, step] of test.steps.entries()) {
      current = step;
      const different = (await runStep(running, step)).filter(differs);
      if (signal.aborted) return;
      for (const comparison of different)
        noteDifference(ran, step, at, masked(running, comparison), comparison);
      // After an unexpected error, further steps would only repeat it.
      if (different.some(isUnexpectedError)) return;
      // The service finishes what a step began. Other tests, and the timer of this one, run meanwhile.
      await sandbox.clock.sleep(BETWEEN_STEPS_MS, signal);
      if (signal.aborted) return;
    }
    ran.complete = true;
  } catch (problem) {
    if (signal.aborted) return;
    const found = failureDiagnostics(problem);
    const step =
      current === undefined ? undefined : { number: test.steps.indexOf(current) + 1, name: current.name };
    ran.problems.push(problemOf(step, locationOf(current?.at ?? test.setup.world?.at ?? test.at), found));
  } finally {
    await sandbox.close();
  }
}

const idPair = (id: string, live: string | undefined): readonly (readonly [string, string])[] =>
  live === undefined ? [] : [[id, live]];

function isUnexpectedError({ expected, because = [] }: StepComparison): boolean {
  return expected === undefined && hasErrors(because);
}

function masked({ sensitive }: RunningTest, comparison: StepComparison): StepComparison {
  return sensitive.reduce((value, texts) => texts.maskedDeep(value), comparison);
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
  // An update changes expectations but adds none.
  if (written === undefined) ran.updatable = false;
  else ran.edits.push({ path: what === "live" ? step.path : [...step.path, what], value });
}

function problemOf(
  step: TestProblem["step"],
  at: TestProblem["at"],
  diagnostics: readonly Diagnostic[],
): TestProblem {
  return { ...(step === undefined ? {} : { step }), at, diagnostics };
}

function timedOut({ at, setup }: SpecTest, interrupted: boolean): Diagnostic {
  const place = { at: locationOf(at) };
  if (interrupted) return error("APPLY_INTERRUPTED", "the test was interrupted", place);
  return error("TEST_TIMEOUT", `the test did not end within ${setup.timeoutMs / 1000} s`, {
    ...place,
    hint: "test a smaller spec or world, or raise timeout in the test file",
  });
}
