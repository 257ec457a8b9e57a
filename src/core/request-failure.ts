// The failures of a request, refused (certainly no effect) or unknown (it may have been applied), the refusals that callers handle, and the findings in any failure.

import type { Code } from "./codes.ts";
import { type Diagnostic, error, errorCode, Failure, thrownText } from "./diagnostic.ts";
import type { SensitiveTexts } from "./sensitive/texts.ts";

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

/** A write that was held back on this side: it is certain to have had no effect. */
export class NotSent extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super("not sent");
    this.reason = reason;
  }
}

/** The request left and no answer proves what became of it. */
export class UnknownOutcome extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

/**
 * Whether a read or delete was refused because the object no longer exists. Clusters, jobs, and runs answer 400 for
 * that. An unknown route, a proxy's page, or another API's 404 does not count: an unreadable object is never treated
 * as missing.
 */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Refused)) return false;
  const { status, code, diagnostic } = error;
  if (diagnostic.code !== "API_REFUSED") return false;
  if (code === "RESOURCE_DOES_NOT_EXIST") return true;
  if (status === 404) return code === "" || code === "NOT_FOUND" || code === "404";
  const words = `${diagnostic.message}\n${diagnostic.cause ?? ""}`;
  if (code === "INVALID_PARAMETER_VALUE") return /do(es)?( not|n.t) exist/i.test(words);
  return code === "INVALID_STATE" && /days ago/i.test(words);
}

/** Whether a create was refused because the name is taken. Decided by the code alone, because the wording of messages changes. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof Refused &&
    (error.code === "RESOURCE_ALREADY_EXISTS" || error.status === 409 || error.code === "uniqueness")
  );
}

/** `clusters/create was refused (400 INVALID_PARAMETER_VALUE)`: only the code comes from the service. */
const CODE_OF_SERVICE = /\((\d{3}) (.+)\)/gs;

/**
 * The same failure without sensitive values: its cause can be a sentence of the service, and its message has the code that the service sent.
 * Words of this program stay: `an(sensitive)` would show a value that is a part of one. Who quotes an answer in a message masks it there.
 */
export function maskedFailure(problem: unknown, texts: SensitiveTexts): unknown {
  if (texts.size === 0) return problem;
  const masked = (diagnostic: Diagnostic): Diagnostic => ({
    ...diagnostic,
    message: diagnostic.message.replace(
      CODE_OF_SERVICE,
      (_, status, code) => `(${status} ${texts.masked(code)})`,
    ),
    cause: diagnostic.cause && texts.maskedMessages(diagnostic.cause),
  });
  if (problem instanceof Failure) return new Failure(...problem.diagnostics.map(masked));
  if (problem instanceof Refused)
    return new Refused(problem.status, problem.code, masked(problem.diagnostic));
  return problem instanceof UnknownOutcome ? new UnknownOutcome(masked(problem.diagnostic)) : problem;
}

/** Runs `work`, whose failure has no sensitive values. */
export async function maskingFailures<T>(
  texts: SensitiveTexts | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (problem) {
    throw texts === undefined ? problem : maskedFailure(problem, texts);
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
  const expected = expectedFindings(problem);
  if (expected !== undefined) return expected;
  return [
    error("CLI_INTERNAL", "internal error", {
      cause: problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem),
      hint: `this is a bug: please report it ${report}`,
    }),
  ];
}

/** The finding in an expected failure: of the network, the state, or a deadline. Undefined for a bug. */
export function diagnosticOf(failure: unknown): Diagnostic | undefined {
  return failure instanceof NotSent ? diagnosticOf(failure.reason) : expectedFindings(failure)?.[0];
}

/** The same; rethrows a bug. */
export function failureDiagnostic(failure: unknown): Diagnostic {
  const diagnostic = diagnosticOf(failure);
  if (diagnostic === undefined) throw failure;
  return diagnostic;
}

export function rethrowBug(failure: unknown): void {
  failureDiagnostic(failure);
}

function expectedFindings(problem: unknown): readonly Diagnostic[] | undefined {
  if (problem instanceof Failure) return problem.diagnostics;
  if (problem instanceof Refused || problem instanceof UnknownOutcome) return [problem.diagnostic];
  if (!isOutOfFiles(problem)) return undefined;
  const [code, what, hint] = TOO_MANY_FILES;
  return [error(code, what, { cause: thrownText(problem), hint })];
}
