// Drift that is meant to be accepted, and why it cannot be.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, type Failure, failureOf, type Location } from "../../core/diagnostic.ts";
import type { Drift } from "../../planner/model/plan.ts";

/** Drift to accept: of a whole resource, or of one field. */
export interface WantedDrift {
  readonly drift: Drift;
  readonly field?: string;
}

export function notAccepted(
  address: Address,
  message: string,
  details: { readonly hint?: string; readonly at?: Location } = {},
): Failure {
  return failureOf("DRIFT_NOT_ACCEPTED", message, { address, ...details });
}

/** A value that the files cannot take: the refusal names its resource. */
export function refusals({ diagnostics }: Failure, wanted: readonly WantedDrift[]): readonly Diagnostic[] {
  const [only, ...others] = new Set(wanted.map(({ drift }) => drift.address));
  const address = others.length === 0 ? only : undefined;
  return diagnostics.map((diagnostic) =>
    diagnostic.code !== "DRIFT_NOT_ACCEPTED" || diagnostic.address !== undefined || address === undefined
      ? diagnostic
      : { ...diagnostic, address, message: `${address}: ${diagnostic.message}` },
  );
}
