// The split of a plan that is compared with its base: caused, pending, and resolved changes.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Path } from "../../core/pointer.ts";
import type { Change } from "./change.ts";

/** `caused`: the base's plan does not have it. `pending`: it does, because of drift or of a spec that was not applied yet. */
export type ChangeOrigin = "caused" | "pending";

export interface FieldOrigin {
  readonly path: Path;
  readonly origin: ChangeOrigin;
}

export interface SplitChange {
  readonly origin: ChangeOrigin;
  /** The origin of each field of a change that the base contains in part; otherwise empty. */
  readonly fields: readonly FieldOrigin[];
}

export interface ResolvedChange {
  /** As the plan of the base has it. */
  readonly change: Change;
  /** The fields that no longer differ, where the plan still changes the same resource; absent where it does not. */
  readonly fields?: readonly Path[];
}

/** Plain data, so that a saved plan keeps it. */
export interface PlanSplit {
  /** The base of the comparison: a folder or a Git reference, as the user gave it. */
  readonly base: string;
  /** By `changeKey`: every change that touches the workspace or the state. */
  readonly changes: Readonly<Record<string, SplitChange>>;
  /** In the order of the base's plan. */
  readonly resolved: readonly ResolvedChange[];
  /** Errors of single resources that the plan of the base has, too. */
  readonly pendingErrors: readonly Diagnostic[];
}
