// Sorts changes: dependencies first, ties by kind then address; deletes last, in reverse.

import type { Address } from "../../core/address.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import { type Change, isOfReplaced } from "./change.ts";
import { objectKey } from "./context.ts";

/** A change's key in a graph. Two changes may share an address: a replaced object and its replacement. */
export function changeKey(change: Change): string {
  return "id" in change && isOfReplaced(change) ? `${change.address}#${change.id}` : change.address;
}

/** The changes of live objects, by kind and ID. */
export function changesByObject(changes: readonly Change[]): ReadonlyMap<string, Change> {
  const found = new Map<string, Change>();
  for (const one of changes) if ("id" in one) found.set(objectKey(one.kind, one.id), one);
  return found;
}

export function inOrder(changes: readonly Change[], registry: PlanningRegistry): Change[] {
  const sorted = sortedByKind(changes, registry);
  // A plan without changes needs no search, which takes a twentieth of its time.
  if (!sorted.some((one) => one.dependsOn.length > 0 || "nameFrom" in one)) return sorted;
  const byAddress = new Map<Address, Change>();
  for (const change of sorted)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  const holders = changesByObject(sorted);
  return topologicalOrder(sorted, (change) => {
    const source = "nameFrom" in change ? change.nameFrom : undefined;
    // A temporary name depends on nothing, so it does not affect the order.
    const holder =
      source === undefined || source.once === "aside"
        ? undefined
        : holders.get(objectKey(change.kind, source.id));
    const needs = change.dependsOn.flatMap((address) => byAddress.get(address) ?? []);
    return [...needs, ...(holder === undefined ? [] : [holder])].filter((one) => one !== change);
  });
}

/** By kind and address, removals last and in reverse. */
function sortedByKind(changes: readonly Change[], registry: PlanningRegistry): Change[] {
  const rank = new Map(registry.kinds.map((provider, at) => [provider.kind, at]));
  const kinds: Change[][] = registry.kinds.map(() => []);
  const removals: Change[] = [];
  for (const change of changes)
    (isRemoval(change) ? removals : kinds[rank.get(change.kind) ?? 0])?.push(change);
  for (const kind of kinds) kind.sort(compareAddresses);
  removals.sort((a, b) => (rank.get(b.kind) ?? 0) - (rank.get(a.kind) ?? 0) || compareAddresses(b, a));
  return [...kinds, removals].flat();
}

function compareAddresses(a: Change, b: Change): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
}

function isRemoval(change: Change): boolean {
  return change.action === "delete" || change.action === "forget";
}

/** Iterative, because specs may chain thousands of resources. Throws on a cycle; cycles are reported before. */
export function topologicalOrder<T>(items: readonly T[], needsOf: (item: T) => readonly T[]): T[] {
  const out: T[] = [];
  const state = new Map<T, "open" | "done">();
  for (const start of items) {
    if (state.has(start)) continue;
    // Most items need no search, which takes 50 ms for 100,000.
    if (needsOf(start).every((one) => state.has(one))) {
      out.push(start);
      state.set(start, "done");
      continue;
    }
    const stack = [enter(start)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const needed = top.needs.next();
      if (needed.done === true) {
        out.push(top.item);
        state.set(top.item, "done");
        stack.pop();
      } else if (state.get(needed.value) === "open") {
        throw new Error("dependency cycle: cycles are reported before sorting");
      } else if (state.get(needed.value) === undefined) stack.push(enter(needed.value));
    }
  }
  return out;

  function enter(item: T): { item: T; needs: Iterator<T> } {
    state.set(item, "open");
    return { item, needs: needsOf(item)[Symbol.iterator]() };
  }
}

/** The items with everything that they need, near or far. */
export function transitiveClosure<T>(items: Iterable<T>, needsOf: (item: T) => Iterable<T>): ReadonlySet<T> {
  const found = new Set<T>();
  const queue = [...items];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...needsOf(next));
  }
  return found;
}
