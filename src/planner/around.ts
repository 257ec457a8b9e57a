// Who else uses what a plan takes away: kinds to look into, and what could not be seen of them.

import { type Address, kindOf, nameOf } from "../core/address.ts";
import { type Diagnostic, warning } from "../core/diagnostic.ts";
import type { LiveKind } from "../resource/live.ts";
import type { Provider } from "../resource/provider.ts";
import type { Change } from "./change.ts";
import type { PlanInput } from "./input.ts";

/** Kinds that use what goes and that the input tells nothing, or not all, about. Empty for a plan that takes nothing away. */
export function kindsAround(input: PlanInput, changes: readonly Change[]): ReadonlyMap<string, Address> {
  const kinds = new Map<string, Address>();
  for (const change of changes) {
    if (change.action !== "delete" && change.action !== "replace") continue;
    for (const kind of input.registry.get(change.kind).usedBy ?? [])
      if (!kinds.has(kind) && !isSeen(input, input.registry.get(kind), change))
        kinds.set(kind, change.address);
  }
  return kinds;
}

function isSeen({ live, spec, state }: PlanInput, { kind, nested }: Provider, change: Change): boolean {
  if (nested === undefined) return live.has(kind);
  const isManaged = (address: Address) => spec.resources.has(address) || state.records.has(address);
  if (nested.kind === change.kind) return isManaged(change.address);
  const parents = live.get(nested.kind);
  if (parents?.readable !== true) return false;
  // Members are read where the spec or the state has the parent.
  const known = new Set<string>();
  for (const one of spec.resources.values()) if (one.kind === nested.kind) known.add(one.name);
  for (const one of state.records.values()) if (kindOf(one.address) === nested.kind) known.add(one.name);
  return parents.objects.every(({ name }) => known.has(name));
}

/** Said where a plan takes something away and cannot tell what that does to others. */
export function unseen(input: PlanInput, changes: readonly Change[]): Diagnostic[] {
  const { around } = input;
  if (around === undefined) return [];
  return [...kindsAround(input, changes)].flatMap(([kind, address]) => {
    const found = around.get(kind);
    return found === undefined ? [] : untold(kind, address, found);
  });
}

function untold(kind: string, address: Address, found: LiveKind): Diagnostic[] {
  const reason = found.readable ? [...found.unreadableParents.values()][0] : found.diagnostic;
  if (reason === undefined) return [];
  const what = found.readable ? `the ${kind} of ${[...found.unreadableParents.keys()].join(", ")}` : kind;
  return [
    warning(
      "PLAN_UNSEEN",
      `${what} could not be read, so what uses ${kindOf(address)} such as ${nameOf(address)} is not known`,
      {
        address,
        cause: `${reason.code}: ${reason.message}`,
        hint: "the plan may do more to others than it says; look, or plan again",
      },
    ),
  ];
}
