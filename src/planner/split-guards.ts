// Determines which guards only the caused changes of a plan raise. Pure.

import { hasErrors } from "../core/diagnostic.ts";
import { checkGuards } from "./check/guards.ts";
import { dropInvalidRecords } from "./decide/invalid-records.ts";
import { addressByObject, type PlanContext } from "./model/context.ts";
import type { PlanFacts } from "./model/facts.ts";
import type { PlanInput } from "./model/input.ts";
import { indexLive } from "./model/live-index.ts";
import { changeKey } from "./model/order.ts";
import type { Guard, Plan } from "./model/plan.ts";
import { createPlannedWorkspace } from "./model/planned-workspace.ts";
import type { PlanSplit } from "./model/split.ts";

/** The guards with their origins. A plan with errors has none, so errors of the base cannot hide a guard of the change. */
export function splitGuards(
  from: PlanInput & PlanFacts,
  plan: Plan,
  { changes }: Pick<PlanSplit, "changes">,
): readonly Guard[] {
  const { input, invalidRecords } = dropInvalidRecords(from);
  const liveIndex = indexLive(input.live, input.registry);
  const owners = addressByObject(input.state.records);
  const imports = new Map();
  const context: PlanContext = { input, liveIndex, decided: new Map(), invalidRecords, owners, imports };
  const caused = plan.changes.filter((change) => changes[changeKey(change)]?.origin === "caused");
  const workspace = createPlannedWorkspace(context, from, plan.changes);
  const found = checkGuards(context, caused, workspace);
  if (hasErrors(plan.diagnostics)) return found.map((guard) => ({ ...guard, origin: "caused" }));
  const addresses = new Set(caused.map(({ address }) => address));
  return plan.guards.map((guard) => {
    const own = guard.addresses.filter((address) => addresses.has(address));
    const isCaused =
      guard.diagnostic.code === "GUARD_DUPLICATE_NAME"
        ? own.length > 0
        : found.some((one) => isSameGuard(one, guard, own));
    return { ...guard, origin: isCaused ? "caused" : "pending" };
  });
}

function isSameGuard(one: Guard, other: Guard, addresses: Guard["addresses"]): boolean {
  if (one.diagnostic.code !== other.diagnostic.code) return false;
  return one.addresses.some((address) => addresses.includes(address));
}
