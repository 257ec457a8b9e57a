// The order of changes: what is needed first comes first, ties by kind then address; deletes last, in reverse.

import type { Address } from "../core/address.ts";
import type { Registry } from "../resource/registry.ts";
import type { Change } from "./change.ts";
import { byNeed } from "./topology.ts";

/** A change's place in a graph: two changes may share an address (a deposed object beside its successor). */
export function changeKey(change: Change): string {
  return change.action === "delete" && change.deposed === true
    ? `${change.address}#${change.id}`
    : change.address;
}

export function inOrder(changes: readonly Change[], registry: Registry): Change[] {
  const rank = new Map(registry.kinds.map((provider, at) => [provider.kind, at]));
  const sorted = [...changes].sort((a, b) => compare(a, b, rank));
  const byAddress = new Map<Address, Change>();
  for (const change of sorted)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  return byNeed(sorted, (change) =>
    change.dependsOn.flatMap((address) => byAddress.get(address) ?? []).filter((one) => one !== change),
  );
}

function compare(a: Change, b: Change, rank: ReadonlyMap<string, number>): number {
  const last = Number(isRemoval(a)) - Number(isRemoval(b));
  if (last !== 0) return last;
  const kinds = (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0);
  const order = kinds !== 0 ? kinds : a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
  return isRemoval(a) ? -order : order;
}

function isRemoval(change: Change): boolean {
  return change.action === "delete" || change.action === "forget";
}
