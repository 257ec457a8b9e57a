// Which guards the caused changes of a plan raise by themselves. Pure.

import { hasErrors } from "../core/diagnostic.ts";
import { guardsOf } from "./check/guards.ts";
import { believed } from "./decide/invalid-records.ts";
import { type Context, ownersOf } from "./model/context.ts";
import type { PlanInput } from "./model/input.ts";
import { worldOf } from "./model/live-index.ts";
import { changeKey } from "./model/order.ts";
import type { Guard, Plan } from "./model/plan.ts";
import { lookOf } from "./model/plan-view.ts";
import type { PlanSplit } from "./model/split.ts";

/**
 * The guards of a plan with their origins. A plan with errors has no guards of its own: then those of the caused changes
 * are the result, since errors of the base hide no guard of the change.
 */
export function splitGuards(
  from: PlanInput,
  plan: Plan,
  { changes }: Pick<PlanSplit, "changes">,
): readonly Guard[] {
  const { input, misfits } = believed(from);
  const world = worldOf(input.live, input.registry);
  const owners = ownersOf(input.state.records);
  const context: Context = { input, world, decided: new Map(), misfits, owners };
  const caused = plan.changes.filter((change) => changes[changeKey(change)]?.origin === "caused");
  const look = lookOf(input, world, () => plan.changes);
  const found = guardsOf(context, caused, look);
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
