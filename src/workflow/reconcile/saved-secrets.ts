// Secrets of a saved plan that was made without their values: written knowingly with the value that apply has, or refused as stale.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { secretField } from "../../resource/content.ts";
import type { Spec } from "../../spec/model/spec.ts";

/** The plan with the values of secrets that were not set when it was made. What it writes without one, it writes now. */
export function withSecrets(plan: Plan, spec: Spec): Plan {
  const changes = plan.changes.map((change) => {
    const field = secretField(registry.get(change.kind));
    const digest = spec.resources.get(change.address)?.payload?.digest;
    const writes = change.action === "create" || change.action === "update";
    if (field === undefined || digest === undefined || !writes || change.payload !== undefined) return change;
    return { ...change, payload: digest, after: { ...change.after, [field]: digest } };
  });
  return { ...plan, changes };
}

/** A secret that the plan keeps, because its value was not set, has another value now: the plan would skip that. */
export function otherSecrets(plan: Plan, spec: Spec): readonly Diagnostic[] {
  return plan.changes.flatMap((change) => {
    const field = change.action === "noop" ? secretField(registry.get(change.kind)) : undefined;
    const digest = spec.resources.get(change.address)?.payload?.digest;
    if (field === undefined || change.action !== "noop" || change.payload !== undefined) return [];
    if (digest === undefined || change.after[field] === digest) return [];
    return [
      error("PLAN_STALE", `the plan was made without the value of ${change.address}, which changes`, {
        address: change.address,
        hint: "make a new plan with its variable set, or apply without a plan file",
      }),
    ];
  });
}
