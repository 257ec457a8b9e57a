// The failures of a request, refused (certainly no effect) or unknown (it may have been applied), and the findings in any failure.

import type { Code } from "./codes.ts";
import { type Diagnostic, error, errorCode, Failure, thrownText } from "./diagnostic.ts";

/** The service answered that the request had no effect, or it never left this machine. */
export class Refused extends Error {
  /** HTTP status; 0 when the request never left. */
  readonly status: number;
  /** The service's `error_code`, a SCIM `scimType`, or the empty text. */
  readonly code: string;
  readonly diagnostic: Diagnostic;
  constructor(status: number, code: string, diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.status = status;
    this.code = code;
    this.diagnostic = diagnostic;
  }
}

/** A refusal without a code of the service. `status`: 0 when the request never left. */
export function refusedWith(
  status: number,
  code: Code,
  message: string,
  details: { readonly hint?: string; readonly cause?: string },
): Refused {
  return new Refused(status, "", error(code, message, details));
}

/** The request left and no answer proves what became of it. */
export class UnknownOutcome extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

/** Any file can be the one too many, so no caller expects these. */
const OUT_OF_FILES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
export const TOO_MANY_FILES = [
  "CLI_FILE",
  "too many open files",
  "raise the limit, for example with `ulimit -n 1024`",
] as const;

export const isOutOfFiles = (problem: unknown): boolean => OUT_OF_FILES.has(errorCode(problem) ?? "");

/** The findings in what ended a run. What nothing expects is a bug; `report` says what a report of it should contain. */
export function diagnosticsOf(
  problem: unknown,
  report = "with the command, and with the output of the same run under WORKSPACE_DEBUG=1",
): readonly Diagnostic[] {
  if (problem instanceof Failure) return problem.diagnostics;
  if (problem instanceof Refused || problem instanceof UnknownOutcome) return [problem.diagnostic];
  if (isOutOfFiles(problem)) {
    const [code, what, hint] = TOO_MANY_FILES;
    return [error(code, what, { cause: thrownText(problem), hint })];
  }
  return [
    error("CLI_INTERNAL", "internal error", {
      cause: problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem),
      hint: `this is a bug: please report it ${report}`,
    }),
  ];
}
