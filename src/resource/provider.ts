// A kind in three parts: its definition, its planning rules, and its operations.

import type { Kind } from "./kind.ts";
import type { ProviderOperations } from "./operations.ts";
import type { PlanningRules } from "./planning.ts";

/** A kind as planning needs it. Of the operations it asks only whether an object can be renamed. */
export interface PlannedKind extends Kind {
  readonly planning: PlanningRules;
  readonly operations: { readonly rename?: unknown };
}

export interface Provider extends PlannedKind {
  readonly operations: ProviderOperations;
}
