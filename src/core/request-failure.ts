// The failures of a request: refused (certainly no effect) or unknown (it may have been applied).

import type { Diagnostic } from "./diagnostic.ts";

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

/** The request left and no answer proves what became of it. */
export class UnknownOutcome extends Error {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}
