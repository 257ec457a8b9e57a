// What follows from the dependencies of changes: their order in a plan, and the graph of an apply, with one node per change and
// two for a replacement. `decide/dependencies.ts` finds the dependencies.

import type { Address } from "../../core/address.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { type Change, isOfReplaced, type NameSource, nameSourceOf, type Replace } from "./change.ts";
import { objectKey, type PlanContext } from "./context.ts";

/** One piece of work of a plan. A replacement has two: it makes the new object, and removes the old one last. */
export interface WorkItem {
  readonly key: string;
  readonly change: Change;
  readonly phase: "whole" | "make" | "remove";
  readonly after: readonly string[];
}

const OLD = "#old";

/** The key of the part after which the name of an object is free. */
export function freeingKey(holder: Change, freedWhen: NameSource["freedWhen"]): string {
  const key = changeKey(holder);
  return freedWhen === "removed" ? key + OLD : key;
}

/** The parts in the plan's order. Changes that touch nothing have none; a comparison has one, since its result is reported. */
export function workGraph(changes: readonly Change[]): readonly WorkItem[] {
  const byAddress = currentChanges(changes);
  /** Dependencies of a creation: the new object exists. */
  const created = (addresses: readonly Address[]): readonly string[] =>
    addresses.filter((address) => byAddress.has(address));
  /** Dependencies of a deletion: the old object that used it was deleted too. */
  const gone = (address: Address): readonly string[] => {
    const change = byAddress.get(address);
    if (change === undefined) return [];
    return change.action === "replace" && change.replacing !== "delete-first"
      ? [address, address + OLD]
      : [address];
  };
  const holderOf = nameHolders(changes);
  return changes.flatMap((change) => {
    const parts = workOf(change, created, gone, byAddress);
    const [first, ...rest] = parts;
    if (first === undefined) return parts;
    const [holder, source] = [holderOf(change), nameSourceOf(change)];
    if (holder === undefined || source === undefined) return parts;
    const freed = freeingKey(holder, source.freedWhen);
    return [{ ...first, after: [...first.after, freed] }, ...rest];
  });
}

/** By address, without the changes of replaced objects. */
function currentChanges(changes: readonly Change[]): ReadonlyMap<Address, Change> {
  const byAddress = new Map<Address, Change>();
  for (const change of changes)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  return byAddress;
}

/** The change of the object whose name a change takes. */
function nameHolders(changes: readonly Change[]): (change: Change) => Change | undefined {
  const byObject = changesByObject(changes);
  return (change) => {
    const source = nameSourceOf(change);
    return source && byObject.get(objectKey(change.kind, source.id));
  };
}

function workOf(
  change: Change,
  created: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const key = changeKey(change);
  switch (change.action) {
    case "create":
    case "update":
    case "compare":
    case "adopt":
    case "import":
    case "move":
      return [{ key, change, phase: "whole", after: created(change.dependsOn) }];
    case "delete":
    case "forget":
      return [{ key, change, phase: "whole", after: change.dependsOn.flatMap(gone) }];
    case "replace":
      return phasesOf(change, created, gone, byAddress);
    case "noop":
      return change.compared === true ? [{ key, change, phase: "whole", after: [] }] : [];
    case "report":
      return [];
    default:
      return change satisfies never;
  }
}

type Before = (address: Address) => readonly string[];

function phasesOf(
  change: Replace,
  created: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const { address } = change;
  const after = created(change.dependsOn);
  if (change.replacing === "delete-first") {
    // Objects that are deleted themselves release it first; all others move to the replacement afterwards.
    const leaving = change.removeAfter.filter((address) => byAddress.get(address)?.action === "delete");
    return [{ key: address, change, phase: "whole", after: [...after, ...leaving.flatMap(gone)] }];
  }
  if (change.keepsOld === true) return [{ key: address, change, phase: "whole", after }];
  return [
    { key: address, change, phase: "make", after },
    { key: address + OLD, change, phase: "remove", after: [address, ...change.removeAfter.flatMap(gone)] },
  ];
}

/** A change's key in a graph. Two changes may share an address: a replaced object and its replacement. */
export function changeKey(change: Change): string {
  return "id" in change && isOfReplaced(change) ? `${change.address}#${change.id}` : change.address;
}

/** The changes of live objects, by kind and ID. */
export function changesByObject(changes: readonly Change[]): ReadonlyMap<string, Change> {
  const byObject = new Map<string, Change>();
  for (const change of changes) if ("id" in change) byObject.set(objectKey(change.kind, change.id), change);
  return byObject;
}

/** By kind and address, but what a change depends on or takes its name from comes first. */
export function inPlanOrder(
  { input: { registry } }: Pick<PlanContext, "input">,
  changes: readonly Change[],
): Change[] {
  const sorted = sortedByKind(changes, registry);
  // A plan without changes needs no search, which takes a twentieth of its time.
  if (!sorted.some((change) => change.dependsOn.length > 0 || "nameFrom" in change)) return sorted;
  const byAddress = currentChanges(sorted);
  const holderOf = nameHolders(sorted);
  return topologicalOrder(sorted, (change) => {
    const holder = holderOf(change);
    const needs = change.dependsOn.flatMap((address) => byAddress.get(address) ?? []);
    return [...needs, ...(holder === undefined ? [] : [holder])].filter((need) => need !== change);
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
    // Most items need no search.
    if (needsOf(start).every((need) => state.has(need))) {
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
  const closure = new Set<T>();
  const queue = [...items];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (closure.has(next)) continue;
    closure.add(next);
    queue.push(...needsOf(next));
  }
  return closure;
}

/** The change, which also depends on these addresses. */
export function withNeeds(change: Change, addresses: readonly Address[]): Change {
  return { ...change, dependsOn: [...new Set([...change.dependsOn, ...addresses])].sort() };
}

export function addDependent(dependents: Map<Address, Set<Address>>, from: Address, to: Address): void {
  const addresses = dependents.get(to);
  if (addresses === undefined) dependents.set(to, new Set([from]));
  else addresses.add(from);
}
