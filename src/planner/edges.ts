// Which change waits for which: what a resource needs comes before it; what held an id lets go before the object does.

import type { Address } from "../core/address.ts";
import type { Change } from "./change.ts";
import type { Context } from "./context.ts";

/** The changes with `dependsOn` and `removeAfter` completed and reduced to addresses that the plan acts on. */
export function withEdges(context: Context, changes: readonly Change[]): Change[] {
  const acting = new Set(changes.filter((change) => acts(change)).map((change) => change.address));
  const dependents = dependentsOf(context);
  const holders = (address: Address): readonly Address[] =>
    [...(dependents.get(address) ?? [])].filter((one) => acting.has(one) && one !== address).sort();
  return changes.map((change) => {
    const needs = change.dependsOn.filter((one) => acting.has(one));
    switch (change.action) {
      case "delete":
        return { ...change, dependsOn: [...new Set([...needs, ...holders(change.address)])].sort() };
      case "replace":
        return { ...change, dependsOn: needs, removeAfter: holders(change.address) };
      case "create":
      case "update":
      case "adopt":
      case "forget":
      case "noop":
      case "report":
        return { ...change, dependsOn: needs };
      default:
        return change satisfies never;
    }
  });
}

/** Whether a change does anything that another change can wait for. A forgotten resource holds nothing back. */
function acts(change: Change): boolean {
  return change.action !== "noop" && change.action !== "report" && change.action !== "forget";
}

/** Who holds, or held at the last apply, what. */
function dependentsOf(context: Context): ReadonlyMap<Address, ReadonlySet<Address>> {
  const dependents = new Map<Address, Set<Address>>();
  const add = (from: Address, to: Address): void => {
    const known = dependents.get(to);
    if (known === undefined) dependents.set(to, new Set([from]));
    else known.add(from);
  };
  for (const record of context.input.state.records.values())
    for (const one of record.depends_on) add(record.address, one);
  for (const resource of context.input.spec.resources.values())
    for (const one of resource.dependsOn) add(resource.address, one);
  return dependents;
}

/** Keeps the changes that `only` names and everything that those need. */
export function restricted(changes: readonly Change[], only: (address: Address) => boolean): Change[] {
  const byAddress = new Map<Address, Change[]>();
  for (const change of changes)
    byAddress.set(change.address, [...(byAddress.get(change.address) ?? []), change]);
  const kept = new Set<Address>();
  const queue = changes.filter((change) => only(change.address)).map((change) => change.address);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (kept.has(next)) continue;
    kept.add(next);
    for (const change of byAddress.get(next) ?? []) queue.push(...change.dependsOn);
  }
  return changes.filter((change) => kept.has(change.address));
}
