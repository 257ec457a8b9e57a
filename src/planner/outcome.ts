// What an apply did: one result for each change, and the events that tell it while it happens.

import type { Address } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Action } from "./change.ts";

/** `applied` and `failed` are certain; `unknown` is left to the next run; `blocked` waits for a failed one; `skipped`: live moved, or the run was stopped. */
export type Result = "applied" | "failed" | "unknown" | "blocked" | "skipped";

export interface ChangeOutcome {
  readonly address: Address;
  readonly kind: string;
  readonly action: Action;
  readonly result: Result;
  readonly id?: string;
  readonly diagnostic?: Diagnostic;
  /** For blocked changes: what they wait for. */
  readonly because?: Address;
  readonly elapsedMs: number;
}

export interface Outcome {
  readonly changes: readonly ChangeOutcome[];
  /** Findings that belong to no change: interrupted, state not written, verification. */
  readonly diagnostics: readonly Diagnostic[];
  readonly interrupted: boolean;
  readonly elapsedMs: number;
}

export type ApplyEvent =
  | { readonly type: "apply_begin"; readonly totals: Readonly<Record<string, number>> }
  | {
      readonly type: "apply_start";
      readonly address: Address;
      readonly kind: string;
      readonly action: Action;
    }
  | {
      readonly type: "apply_waiting";
      readonly address: Address;
      readonly kind: string;
      readonly what: string;
    }
  | { readonly type: "apply_complete"; readonly outcome: ChangeOutcome }
  | { readonly type: "apply_errored"; readonly outcome: ChangeOutcome };

/** Reading and planning report which kind they have read, out of how many. */
export type ReadEvent = {
  readonly type: "read";
  readonly kind: string;
  /** Absent where the kind could not be read. */
  readonly objects?: number;
  readonly done: number;
  readonly total: number;
};
