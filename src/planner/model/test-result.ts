// Results of spec tests: one for each test, with every unexpected result.

import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";

/** A step with an unexpected result. */
export interface TestProblem {
  /** The step's number, from 1, and its name; absent for the setup of the test. */
  readonly step?: { readonly number: number; readonly name: string };
  readonly at: Location;
  /** The expectation that differs; absent if the step could not run. */
  readonly differs?: { readonly what: string; readonly expected: Json | undefined; readonly actual: Json };
  /** Errors that the test does not expect. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface TestResult {
  /** The path in messages. */
  readonly file: string;
  readonly name: string;
  readonly at: Location;
  /** `updated`: the test failed, and its expectations were rewritten. */
  readonly status: "passed" | "failed" | "updated";
  readonly durationMs: number;
  readonly problems: readonly TestProblem[];
}
