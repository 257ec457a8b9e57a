// Converts expected failures of the network, the state, or a deadline to diagnostics; rethrows bugs.

import type { Address } from "../core/address.ts";
import { type Diagnostic, error, Failure } from "../core/diagnostic.ts";
import { diagnosticsOf, isOutOfFiles, Refused, UnknownOutcome } from "../core/request-failure.ts";

/** A write that was held back on this side: it is certain to have had no effect. */
export class NotSent extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super("not sent");
    this.reason = reason;
  }
}

export function diagnosticOf(failure: unknown): Diagnostic | undefined {
  if (failure instanceof NotSent) return diagnosticOf(failure.reason);
  if (failure instanceof Refused || failure instanceof UnknownOutcome) return failure.diagnostic;
  return failure instanceof Failure || isOutOfFiles(failure) ? diagnosticsOf(failure)[0] : undefined;
}

export function failureDiagnostic(failure: unknown): Diagnostic {
  const diagnostic = diagnosticOf(failure);
  if (diagnostic === undefined) throw failure;
  return diagnostic;
}

export function rethrowBug(failure: unknown): void {
  if (diagnosticOf(failure) === undefined) throw failure;
}

/** The service made something and did not say which: the intent stays open, and the next run looks. */
export function withoutId(address: Address, answered: "no ID" | "the ID of another object"): UnknownOutcome {
  return new UnknownOutcome(
    error("API_PROTOCOL", `the service created ${address} but answered with ${answered}`, {
      address,
      hint: "apply again; the next run searches for it first",
    }),
  );
}
