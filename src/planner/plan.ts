// A plan: every change in the order in which it happens, what the workspace did behind our back, and who objects.

import type { Address } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { FieldDiff, Want } from "../resource/provider.ts";
import type { Action, Change, ContentDiff } from "./change.ts";

/** Live moved away from what was recorded. `gone`: the object was deleted; `appeared`: a member of a list that is ours came from outside. */
export interface Drift {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
  readonly what: "changed" | "gone" | "appeared";
  readonly diffs: readonly FieldDiff[];
  /** From the recorded text to the live one, where both are known. */
  readonly content?: ContentDiff;
}

/** A live object of a managed kind that the spec does not know. */
export interface Unmanaged {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** An objection to the plan; a plan with guards is shown and not applied (exit 3). */
export interface Guard {
  readonly diagnostic: Diagnostic;
  readonly addresses: readonly Address[];
}

/** `offline`: live values are what the state recorded. `untrusted`: only what the state manages is in it. */
export type Mode = "offline" | "untrusted";

export interface Plan {
  readonly host: string;
  /** How the plan differs from one that looked at everything; absent where it does not. */
  readonly modes?: readonly Mode[];
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  readonly unmanaged: readonly Unmanaged[];
  readonly guards: readonly Guard[];
  /** Errors here forbid an apply (exit 1; a refused immutable change is exit 3). */
  readonly diagnostics: readonly Diagnostic[];
  /** Data that planning would like and did not have; the caller fetches it and plans again. */
  readonly wants: readonly Want[];
}

export type Summary = Readonly<Record<Action, number>>;
