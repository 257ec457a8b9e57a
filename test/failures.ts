// The diagnostics of a call that throws or of a promise that is rejected. Errors other than a Failure are thrown on.

import { type Diagnostic, Failure } from "../src/core/diagnostic.ts";

function diagnosticsIn(failure: unknown): readonly Diagnostic[] {
  if (failure instanceof Failure) return failure.diagnostics;
  throw failure;
}

/** Returns an empty list if the call succeeds. */
export function thrownDiagnostics(work: () => unknown): readonly Diagnostic[] {
  try {
    work();
  } catch (failure) {
    return diagnosticsIn(failure);
  }
  return [];
}

/** "fine" if the call succeeds. */
export const thrownCode = (work: () => unknown): string => thrownDiagnostics(work)[0]?.code ?? "fine";

export const thrownMessage = (work: () => unknown): string | undefined => thrownDiagnostics(work)[0]?.message;

/** "fine" if the promise is fulfilled. */
export async function rejectedCode(work: Promise<unknown>): Promise<string> {
  return (await rejectedDiagnostics(work))[0]?.code ?? "fine";
}

export const rejectedDiagnostics = (work: Promise<unknown>): Promise<readonly Diagnostic[]> =>
  work.then(() => [], diagnosticsIn);
