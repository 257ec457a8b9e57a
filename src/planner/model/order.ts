// The order of changes: what is needed first comes first, ties by kind then address; deletes last, in reverse.
// Sorting and gathering by need: what an item needs comes before it, and otherwise the given order stands.

import type { Address } from "../../core/address.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Change } from "./change.ts";

/** A change's key in a graph. Two changes may share an address: a replaced object and its replacement. */
export function changeKey(change: Change): string {
  return change.action === "delete" && change.deposed === true
    ? `${change.address}#${change.id}`
    : change.address;
}

export function inOrder(changes: readonly Change[], registry: PlanningRegistry): Change[] {
  const rank = new Map(registry.kinds.map((provider, at) => [provider.kind, at]));
  const sorted = [...changes].sort((a, b) => compare(a, b, rank));
  const byAddress = new Map<Address, Change>();
  for (const change of sorted)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  const byId = new Map(sorted.flatMap((one) => ("id" in one ? [[`${one.kind}\n${one.id}`, one]] : [])));
  return topologicalOrder(sorted, (change) => {
    const source = "nameFrom" in change ? change.nameFrom : undefined;
    // A temporary name needs nothing, so it orders nothing.
    const holder =
      source === undefined || source.once === "aside" ? undefined : byId.get(`${change.kind}\n${source.id}`);
    const needs = change.dependsOn.flatMap((address) => byAddress.get(address) ?? []);
    return [...needs, ...(holder === undefined ? [] : [holder])].filter((one) => one !== change);
  });
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

/** Iterative, because specs may chain thousands of resources. Throws on a cycle; cycles are reported before. */
export function topologicalOrder<T>(items: readonly T[], needsOf: (item: T) => readonly T[]): T[] {
  const out: T[] = [];
  const state = new Map<T, "open" | "done">();
  for (const start of items) {
    const stack = [enter(start)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const needed = top.needs.next();
      if (needed.done === true) {
        if (state.get(top.item) !== "done") out.push(top.item);
        state.set(top.item, "done");
        stack.pop();
      } else if (state.get(needed.value) === "open") {
        throw new Error("dependency cycle: cycles are reported before sorting");
      } else if (state.get(needed.value) === undefined) stack.push(enter(needed.value));
    }
  }
  return out;

  function enter(item: T): { item: T; needs: Iterator<T> } {
    const known = state.get(item) === "done";
    if (!known) state.set(item, "open");
    return { item, needs: (known ? [] : needsOf(item))[Symbol.iterator]() };
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
